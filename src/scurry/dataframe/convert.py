"""DataFrames of Python values, pandas, Arrow and tables."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scurry.dataframe._frame.in_memory import arrow_of_rows, table_with_watermark
from scurry.dataframe.context import get_or_create_table_environment
from scurry.dataframe.dataframe import DataFrame
from scurry.dataframe.validation import are_texts
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.values.elements import without_dataclasses
from scurry.table.table import Table

__all__ = ["from_arrow", "from_dict", "from_pandas", "from_records", "from_table", "range"]

Watermark = tuple[str, str] | None
_NO_SEQUENCES = (str, bytes, bytearray, memoryview)


def from_table(table: Table) -> DataFrame:
    """Return the DataFrame of a table.

    Args:
        table: The table, of any environment; `to_table` gives it back.

    Raises:
        TypeError: It is no table.
    """
    if not isinstance(table, Table):
        raise ArgumentTypeError("table must be a pyflink.table.Table")
    return DataFrame(table)


def from_pandas(pdf: Any, schema: list[str] | None = None, watermark: Watermark = None) -> DataFrame:
    """Return the DataFrame of one of pandas.

    Args:
        pdf: The pandas.DataFrame.
        schema: Names for the columns; None for their labels.
        watermark: A column of timestamps, which becomes the event time, and the SQL of its watermark.

    Raises:
        TypeError: It is no DataFrame of pandas, or a column has no SQL type.
        ValueError: The names do not fit the columns.
    """
    import pandas as pd
    import pyarrow as pa

    if not isinstance(pdf, pd.DataFrame):
        raise ArgumentTypeError(f"data must be a pandas.DataFrame, but was {type(pdf)}")
    names = _names(schema)
    labels = [str(label) for label in pdf.columns] if names is None else names
    if len(labels) != len(pdf.columns):
        raise ArgumentError(f"schema has {len(labels)} fields but data has {len(pdf.columns)} columns")
    # Labels may repeat: the columns are renamed in a copy that shares their values.
    table = pa.Table.from_pandas(pdf.set_axis(labels, axis="columns"), preserve_index=False)
    return _of_arrow(table, None, watermark)


def from_arrow(table: Any, schema: list[str] | None = None, watermark: Watermark = None) -> DataFrame:
    """Return the DataFrame of columns of Arrow, which are not copied.

    Args:
        table: A `pyarrow.Table`. Beyond Flink: a RecordBatch or its reader, a DataFrame of Polars, a result of DuckDB,
            and whatever else has Arrow's C stream interface.
        schema: Names for the columns, in their order; None for their own.
        watermark: A column of timestamps, which becomes the event time, and the SQL of its watermark.

    Raises:
        TypeError: It is none of these, or a column has no SQL type.
        ValueError: The names do not fit the columns.
    """
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    elif not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise ArgumentTypeError(f"data must be a pyarrow.Table, but was {type(table)}")
        table = pa.table(table)
    return _of_arrow(table, _names(schema), watermark)


def from_records(
    data: Sequence[Sequence[Any] | Mapping[str, Any]],
    schema: list[str] | None = None,
    watermark: Watermark = None,
) -> DataFrame:
    """Return the DataFrame of records: mappings, named tuples, or sequences.

    Args:
        data: The records, all of the kind of the first one. The types of the columns are those that all values have in
            common.
        schema: Names of the columns; those that are picked of mappings and named tuples, which may have others. None
            for the names that mappings and named tuples have.
        watermark: A column of timestamps, which becomes the event time, and the SQL of its watermark.

    Raises:
        TypeError: It is no sequence of records, or a value has no type.
        ValueError: There are no records, or one does not fit.
    """
    if not isinstance(data, Sequence) or isinstance(data, _NO_SEQUENCES):
        raise ArgumentTypeError("data must be a sequence of records, such as a list or tuple")
    names = _names(schema)
    if not len(data):
        raise ArgumentError("data must not be empty")
    names, values = _records(data, names)
    return _of_rows(values, names, watermark)


def from_dict(
    data: Mapping[str, Sequence[Any]], schema: list[str] | None = None, watermark: Watermark = None
) -> DataFrame:
    """Return the DataFrame of columns by name.

    Args:
        data: The values of each column, all equally many. The type of a column is that which its values have in common.
        schema: The columns to take, in this order; None for all.
        watermark: A column of timestamps, which becomes the event time, and the SQL of its watermark.

    Raises:
        TypeError: It is no mapping of sequences, or a value has no type.
        ValueError: There are no rows, a column is missing, or the columns have different lengths.
    """
    if not isinstance(data, Mapping):
        raise ArgumentTypeError("data must be a mapping")
    if not data:
        raise ArgumentError("data must not be empty")
    names = _names(schema)
    if names is None:
        names = _names(list(data))
        assert names is not None, "there are columns"
    for name in names:
        if name not in data:
            raise ArgumentError(f"column '{name}' is not present in data")
        if not isinstance(data[name], Sequence) or isinstance(data[name], _NO_SEQUENCES):
            raise ArgumentTypeError(f"column '{name}' values must be a sequence, such as a list or tuple")
    lengths = {len(data[name]) for name in names}
    if len(lengths) > 1:
        raise ArgumentError("columns must have equal lengths")
    if lengths == {0}:
        raise ArgumentError("data must contain at least one row")
    rows = list(zip(*(data[name] for name in names), strict=True))
    return _of_rows(rows, names, watermark)


def range(start_or_end: int, end: int | None = None, step: int = 1) -> DataFrame:
    """Return the DataFrame of the numbers of Python's `range`, in a column `id` of BIGINT.

    Args:
        start_or_end: The first number; the end if there is no other one.
        end: The number before which it ends; None to count from 0.
        step: The distance of the numbers.

    Raises:
        TypeError: One is no integer.
        ValueError: The step is 0.
    """
    import pyarrow as pa

    for name, value in (("start_or_end", start_or_end), ("end", end), ("step", step)):
        if not isinstance(value, int) and not (name == "end" and value is None):
            raise ArgumentTypeError(f"{name} must be an integer")
    if step == 0:
        raise ArgumentError("step must not be zero")
    start, stop = (0, start_or_end) if end is None else (start_or_end, end)
    numbers = pa.array(builtins.range(start, stop, step), pa.int64())
    return _of_arrow(pa.table({"id": numbers}), None, None)


def _of_arrow(table: Any, names: list[str] | None, watermark: Any) -> DataFrame:
    """Return the DataFrame of a table of Arrow; zones of timestamps count as those of the session, as in Flink."""
    if names is not None:
        if len(names) != table.num_columns:
            raise ArgumentError(f"schema has {len(names)} fields but data has {table.num_columns} columns")
        table = table.rename_columns(names)
    environment = get_or_create_table_environment()
    table = _in_session_zone(table, environment.get_config().get_local_timezone())
    if watermark is None:
        return DataFrame(environment.from_arrow(table))
    from scurry.sql.statements.dataframes import types_of_arrow

    return DataFrame(table_with_watermark(environment, table, types_of_arrow(table.schema), watermark))


def _in_session_zone(table: Any, zone: str) -> Any:
    """Return a table of Arrow whose timestamps with a zone are on the clocks of the session's zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from scurry.sql.functions.time_zones import zone as known_zone

    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz is not None:
            instants = table.column(place).cast(pa.timestamp(field.type.unit, "UTC"))
            local = pc.local_timestamp(instants.cast(pa.timestamp(field.type.unit, str(known_zone(zone)))))
            table = table.set_column(place, pa.field(field.name, local.type, field.nullable), local)
    return table


def _of_rows(rows: Sequence[Any], names: list[str], watermark: Any) -> DataFrame:
    from scurry.sql.statements.dataframes import plan_of_arrow

    environment = get_or_create_table_environment()
    columns, types = arrow_of_rows([tuple(map(without_dataclasses, row)) for row in rows], names)
    if watermark is not None:
        return DataFrame(table_with_watermark(environment, columns, types, watermark))
    plan = plan_of_arrow(environment._session, columns, types, environment._frame_name("arrow"), 1)
    return DataFrame(Table(environment, plan))


def _names(schema: Any) -> list[str] | None:
    """Return a copy of the names of columns, which are checked."""
    if schema is None:
        return None
    if not are_texts(schema):
        raise ArgumentTypeError("schema must be a list of strings")
    if not schema:
        raise ArgumentError("schema must not be empty")
    if not all(schema):
        raise ArgumentError("schema field names must not be empty")
    if len(set(schema)) != len(schema):
        raise ArgumentError("schema field names must be unique")
    return list(schema)


# ------------------------------------------------------------------ records


def _kind(record: Any) -> str | None:
    if isinstance(record, tuple) and hasattr(record, "_fields"):
        return "named tuple"
    if isinstance(record, Mapping):
        return "mapping"
    if isinstance(record, Sequence) and not isinstance(record, _NO_SEQUENCES):
        return "sequence"
    return None


def _records(data: Sequence[Any], names: list[str] | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return names of the columns, and the values of the records in their order."""
    kind, exact = _kind(data[0]), names is None
    if kind == "sequence" and names is None:
        raise ArgumentError("schema is required for sequence records")
    if names is None and kind is not None:
        names = _names(list(data[0]._fields if kind == "named tuple" else data[0]))
    values: list[tuple[Any, ...]] = []
    for place, record in enumerate(data):
        try:
            values.append(_values(record, kind, names or [], exact))
        except (ArgumentError, ArgumentTypeError) as error:
            raise type(error)(f"invalid record at index {place}") from error
    assert names is not None, "the first record would have been refused"
    return names, values


def _values(record: Any, kind: str | None, names: list[str], exact: bool) -> tuple[Any, ...]:
    own = _kind(record)
    if own is None:
        raise ArgumentTypeError("record must be a mapping or a sequence of values, such as a list or tuple")
    if own != kind and not (kind == "sequence" and own == "named tuple"):
        raise ArgumentTypeError(f"record must be a {kind}")
    if kind == "sequence":
        if len(record) != len(names):
            raise ArgumentError(f"record has {len(record)} values but schema has {len(names)} fields")
        return tuple(record)
    fields: Sequence[str] = record._fields if own == "named tuple" else list(record)
    for name in names:
        if name not in fields:
            raise ArgumentError(f"record is missing schema field '{name}'")
    if exact and (others := [name for name in fields if name not in names]):
        raise ArgumentError(f"record has fields not present in schema: {others}")
    value: Callable[[str], Any] = (lambda name: getattr(record, name)) if own == "named tuple" else record.__getitem__
    return tuple(map(value, names))
