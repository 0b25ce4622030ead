"""Every public name and signature of the specification: Flink's development version of October 2026."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any

import pytest

import scurry.dataframe as pf

#: The functions of the module, as the specification has them.
FUNCTIONS = """
col(name)
lit(value, data_type=None)
from_table(table)
from_pandas(pdf, schema=None, watermark=None)
from_arrow(table, schema=None, watermark=None)
from_records(data, schema=None, watermark=None)
from_dict(data, schema=None, watermark=None)
range(start_or_end, end=None, step=1)
set_table_environment(t_env)
get_table_environment()
get_or_create_table_environment()
create_statement_set()
read_generic(connector, *, schema, options, computed_columns=None, watermark=None)
read_parquet(path, *, schema, partition_by=None, monitor_interval=None, path_regex_pattern=None, utc_timezone=None,
  connector_options=None, format_options=None, computed_columns=None, watermark=None)
read_json(path, *, schema, partition_by=None, monitor_interval=None, path_regex_pattern=None, ignore_parse_errors=None,
  fail_on_missing_field=None, timestamp_format=None, connector_options=None, format_options=None,
  computed_columns=None, watermark=None)
read_kafka(bootstrap_servers, *, schema, topic=None, topic_pattern=None, group_id=None, format='json',
  format_options=None, value_format=None, value_format_options=None, key_format=None, key_format_options=None,
  key_fields=None, key_fields_prefix=None, value_fields_include='ALL', startup_mode='group-offsets',
  startup_specific_offsets=None, startup_timestamp_millis=None, topic_partition_discovery_interval='5 min',
  bounded_mode='unbounded', bounded_timestamp_millis=None, bounded_specific_offsets=None, properties=None, options=None,
  computed_columns=None, watermark=None)
read_catalog_table(path, *, computed_columns=None, watermark=None)
create_catalog(name, options)
get_catalog(name)
use_catalog(name)
get_current_catalog()
list_catalogs()
use_database(name)
get_current_database()
list_databases()
sql(query, *, auto_bind=True, **bindings)
udf(func=None, *, return_dtype=None, deterministic=True, name=None, func_type=None)
udtf(func=None, *, return_dtype=None, deterministic=True, name=None)
udaf(func=None, *, return_dtype=None, accumulator_type=None, func_type='general', deterministic=True, name=None)
proctime()
preceding(value)
following(value)
set_model_provider(*args, **kwargs)
set_default_model_provider(name)
list_model_providers()
"""

_FILE_SINK = """sink_parallelism=None, sink_shuffle_by_partition=None, auto_compaction=None,
  compaction_file_size=None, rolling_policy_file_size=None, rolling_policy_rollover_interval=None,
  rolling_policy_inactivity_interval=None, rolling_policy_check_interval=None, partition_commit_trigger=None,
  partition_commit_delay=None, partition_commit_policy_kind=None, connector_options=None, format_options=None,
  statement_set=None"""

METHODS = f"""
filter(self, *predicates, **constraints)
where(self, *predicates, **constraints)
with_column(self, name, expr)
with_columns(self, *exprs, **named_exprs)
drop_columns(self, *columns, strict=True)
drop(self, *columns, strict=True)
rename_columns(self, *args, mapping=None)
rename(self, *args, mapping=None)
select(self, *columns, **projections)
drop_duplicates(self, subset=None, *, keep='first', order_by=None, nulls_first=None)
distinct(self, subset=None, *, keep='first', order_by=None, nulls_first=None)
unique(self, subset=None, *, keep='first', order_by=None, nulls_first=None)
top_n(self, n, *, partition_by=None, order_by=None, descending=False, nulls_first=None)
flat_map(self, func, *, return_dtype=None)
map(self, func, *, return_dtype=None, concurrency=None)
map_batches(self, func, *, return_dtype=None, batch_format='pandas', concurrency=None, batch_size=None)
explode(self, column, *, output_column=None, ignore_empty_and_null=False)
join(self, other, *, on=None, how='inner', left_on=None, right_on=None)
join_lateral(self, table_function_call, *, how='inner')
join_asof(self, other, *, how='inner', on=None, by=None, left_by=None, right_by=None)
sort(self, by, *, descending=False, nulls_first=None)
union(self, other)
union_all(self, other)
intersect(self, other)
intersect_all(self, other)
minus(self, other)
minus_all(self, other)
tumble(self, *, on, size)
hop(self, *, on, slide, size)
cumulate(self, *, on, step, size)
session(self, *, on, gap, partition_by=None)
limit(self, n)
offset(self, n)
head(self, n)
group_by(self, *columns)
agg(self, *aggs, **named_aggs)
pipe(self, func, *args, **kwargs)
drop_null(self, subset=None)
drop_nan(self, subset=None)
fill_null(self, value, subset=None)
fill_nan(self, value, subset=None)
collect(self)
iter_rows(self, *, include_row_kind=False, row_kind_field='__row_kind__')
iter_batches(self, *, batch_size=1000, batch_format='pandas', include_row_kind=False, row_kind_field='__row_kind__')
take(self, n, *, timeout=None, include_row_kind=False, row_kind_field='__row_kind__')
take_batch(self, n, *, timeout=None, batch_format='pandas', include_row_kind=False, row_kind_field='__row_kind__')
to_table(self)
to_pandas(self)
write_parquet(self, path, *, mode='append', partition_by=None, compression=None, utc_timezone=None, {_FILE_SINK})
write_json(self, path, *, mode='append', partition_by=None, timestamp_format=None, ignore_null_fields=None,
  decimal_as_plain_number=None, {_FILE_SINK})
write_kafka(self, bootstrap_servers, *, topic, format='json', format_options=None, key_format=None,
  key_format_options=None, key_fields=None, value_format=None, value_format_options=None, value_fields_include='ALL',
  delivery_guarantee='at-least-once', transactional_id_prefix=None, partitioner=None, properties=None,
  sink_parallelism=None, options=None, statement_set=None)
write_generic(self, connector, *, options, statement_set=None)
write_catalog_table(self, path, *, overwrite=False, statement_set=None)
"""
#: Methods that scurry has beside those of the specification.
OWN = {"explain", "to_arrow", "to_polars"}
TYPES = {
    "int8", "int16", "int32", "int64", "float32", "float64", "bool", "string", "binary", "null", "date", "decimal",
    "fixed_size_string", "fixed_size_binary", "time", "timestamp", "timestamp_ltz", "list", "map", "struct", "not_null",
    "nullable",
}  # fmt: skip
#: Names of the specification that are no functions.
OTHERS = {
    "CloseableIterator", "DataFrame", "DataType", "GroupedDataFrame", "config", "UNBOUNDED", "UNBOUNDED_PRECEDING",
    "UNBOUNDED_FOLLOWING", "CURRENT_ROW", "ModelProvider", "OpenAIProvider", "TritonProvider", "GenericProvider",
}  # fmt: skip


def declared(text: str) -> dict[str, str]:
    """The signatures of a text by name; lines that are indented continue the line before."""
    lines = text.strip().replace("\n  ", " ").splitlines()
    return {line.partition("(")[0]: "(" + line.partition("(")[2] for line in lines}


def plain(function: Any) -> str:
    """The signature of a function without annotations."""
    parameters = inspect.signature(function).parameters.values()
    return str(inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters]))


@pytest.mark.parametrize(("name", "signature"), declared(FUNCTIONS).items())
def test_functions(name: str, signature: str) -> None:
    assert plain(getattr(pf, name)) == signature


@pytest.mark.parametrize(("name", "signature"), declared(METHODS).items())
def test_methods(name: str, signature: str) -> None:
    assert plain(getattr(pf.DataFrame, name)) == signature


def test_there_are_no_other_names() -> None:
    assert set(pf.__all__) == set(declared(FUNCTIONS)) | OTHERS
    public = {name for name in dir(pf.DataFrame) if not name.startswith("_")}
    assert public == set(declared(METHODS)) | {"schema", "columns"} | OWN
    assert {name for name in dir(pf.DataType) if not name.startswith("_")} == TYPES
    assert {name for name in dir(pf.GroupedDataFrame) if not name.startswith("_")} == {"agg"}
    assert not hasattr(pf, "DataFrameUDFWrapper")


def test_types_are_told_by_all_hints() -> None:
    functions = [getattr(pf, name) for name in declared(FUNCTIONS)]
    methods = [getattr(pf.DataFrame, name) for name in (*declared(METHODS), *OWN)]
    factories = [getattr(pf.DataType, name) for name in TYPES]
    for function in (*functions, *methods, *factories, pf.GroupedDataFrame.agg, pf.config.set, pf.config.get):
        assert "return" in typing.get_type_hints(function), function


def test_the_configuration_is_no_module() -> None:
    assert not isinstance(pf.config, types.ModuleType)
    with pytest.raises(ModuleNotFoundError):
        __import__("scurry.dataframe.config")


def test_functions_stay_when_their_modules_are_imported_under_another_name() -> None:
    import subprocess
    import sys

    program = (
        "import scurry.pyflink_alias, pyflink.dataframe as pf\n"
        "import pyflink.dataframe.sql, pyflink.dataframe.udf, pyflink.dataframe.udtf, pyflink.dataframe.udaf\n"
        "from pyflink.dataframe.sql import sql\n"
        "import scurry.dataframe\n"
        "assert pf is scurry.dataframe and pf.sql is sql, pf.sql\n"
        "assert all(callable(each) for each in (pf.sql, pf.udf, pf.udtf, pf.udaf))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
