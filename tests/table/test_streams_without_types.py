"""Tables of streams without a declared type: one column of pickled values, as recorded from PyFlink 2.3."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration, Row, RowKind, Types
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.errors import ArgumentTypeError, ScurryError, UnsupportedError, ValidationError
from scurry.table import DataTypes, Schema, StreamTableEnvironment, Table
from scurry.table.expressions import col
from scurry.table.types import RawType
from scurry.table.udf import udf

PAIRS = [("a", 1), ("b", 2)]


@pytest.fixture(params=["STREAMING", "BATCH"])
def t_env(request: pytest.FixtureRequest) -> StreamTableEnvironment:
    chosen = {"scurry.runner": "local", "execution.runtime-mode": request.param, "parallelism.default": "1"}
    return StreamTableEnvironment.create(StreamExecutionEnvironment(Configuration.from_dict(chosen)))


@pytest.fixture
def stream(t_env: StreamTableEnvironment) -> DataStream[Any]:
    stream: DataStream[Any] = t_env._stream_environment().from_collection(PAIRS)
    return stream


@pytest.fixture
def table(t_env: StreamTableEnvironment, stream: DataStream[Any]) -> Table:
    return t_env.from_data_stream(stream)


def collected(table: Table) -> list[Any]:
    """What is left when all changes are applied."""
    left: list[Any] = []
    with table.execute().collect() as rows:
        for row in rows:
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                left.append(tuple(row))
            else:
                left.remove(tuple(row))
    return sorted(left, key=repr)


def test_the_column_is_raw(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    table.print_schema()
    assert capsys.readouterr().out == "(\n  `f0` RAW('[B', '...')\n)\n"
    assert table.get_schema().get_field_names() == ["f0"]
    assert isinstance(table.get_schema().get_field_data_types()[0], RawType)


def test_results_of_maps_without_a_type_are_raw_too(t_env: StreamTableEnvironment, stream: DataStream[Any]) -> None:
    table = t_env.from_data_stream(stream.map(lambda pair: Row(*pair)))
    assert str(table.get_resolved_schema()) == "(\n  `f0` RAW('[B', '...')\n)"


def test_collected_values_are_those_of_the_stream(table: Table) -> None:
    assert collected(table) == [(("a", 1),), (("b", 2),)]


def test_null_is_told_from_values(table: Table) -> None:
    assert collected(table.where(col("f0").is_not_null).select(col("f0").is_null)) == [(False,), (False,)]


def test_values_are_counted(table: Table) -> None:
    assert collected(table.select(col("f0").count)) == [(2,)]


def test_values_are_keys_of_groups(table: Table) -> None:
    assert collected(table.group_by(col("f0")).select(col("f0").is_null, col("f0").count)) == [(False, 1), (False, 1)]


def test_as_bytes_they_are_pickles(table: Table) -> None:
    found = collected(table.select(col("f0").cast(DataTypes.BYTES())))
    assert found == [(bytearray(b"\x80\x03X\x01\x00\x00\x00aq\x00K\x01\x86q\x01."),),
                     (bytearray(b"\x80\x03X\x01\x00\x00\x00bq\x00K\x02\x86q\x01."),)]  # fmt: skip


def test_a_schema_may_declare_bytes(t_env: StreamTableEnvironment, stream: DataStream[Any]) -> None:
    schema = Schema.new_builder().column("f0", DataTypes.BYTES()).build()
    found = collected(t_env.from_data_stream(stream, schema))
    assert [pickle.loads(value) for (value,) in found] == PAIRS


def test_a_schema_may_add_columns(t_env: StreamTableEnvironment, stream: DataStream[Any]) -> None:
    schema = Schema.new_builder().column_by_expression("p", "PROCTIME()").build()
    text = "(\n  `f0` RAW('[B', '...'),\n  `p` TIMESTAMP_LTZ(3) NOT NULL *PROCTIME* AS PROCTIME()\n)"
    assert str(t_env.from_data_stream(stream, schema).get_resolved_schema()) == text


def test_a_changelog_without_a_type_is_raw() -> None:
    t_env = StreamTableEnvironment.create(StreamExecutionEnvironment())
    stream: DataStream[Any] = t_env._stream_environment().from_collection(PAIRS)
    text = str(t_env.from_changelog_stream(stream).get_resolved_schema())
    assert text == "(\n  `f0` RAW('[B', '...')\n)"


def test_they_can_be_printed(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    # PyFlink fails with a NegativeArraySizeException.
    table.execute().print()
    assert "('a', 1)" in capsys.readouterr().out


REFUSED: list[tuple[Callable[[StreamTableEnvironment, Table], Any], type[ScurryError], str]] = [
    (
        lambda t_env, table: t_env.to_data_stream(table),
        ArgumentTypeError,
        r"GenericType<byte\[\]> is not supported in PyFlink currently",
    ),
    (
        lambda t_env, table: t_env.to_changelog_stream(table),
        ArgumentTypeError,
        r"GenericType<byte\[\]> is not supported in PyFlink currently",
    ),
    (
        lambda t_env, table: table.to_pandas(),
        UnsupportedError,
        r"Python vectorized UDF doesn't support logical type RAW\('\[B', '\.\.\.'\)",
    ),
    (
        lambda t_env, table: collected(table.select(udf(repr, result_type=DataTypes.STRING())(col("f0")))),
        ScurryError,
        r"Python UDF doesn't support logical type RAW\('\[B', '\.\.\.'\)",
    ),
    (
        lambda t_env, table: table.where(col("f0") == col("f0")),
        ValidationError,
        r"RAW\('\[B', '\.\.\.'\)",
    ),
    (
        lambda t_env, table: t_env.to_append_stream(table, Types.STRING()),
        ValidationError,
        r"Incompatible types for sink column 'f0'",
    ),
]


@pytest.mark.parametrize(("use", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_pyflink_refuses_is_refused(
    t_env: StreamTableEnvironment, table: Table, use: Any, error: type[ScurryError], message: str
) -> None:
    with pytest.raises(error, match=message):
        use(t_env, table)


def test_a_schema_has_no_other_columns(t_env: StreamTableEnvironment, stream: DataStream[Any]) -> None:
    schema = Schema.new_builder().column("a", DataTypes.STRING()).build()
    with pytest.raises(ValidationError, match=r"Make sure that the type information is not a generic raw type.*\[f0\]"):
        t_env.from_data_stream(stream, schema)
