"""Operations of tables that call a function with whole rows, and table aggregates, as PyFlink 2.3 answers them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scurry.common.types import Row
from scurry.errors import ArgumentError, JobError, OperatorError, ValidationError
from scurry.table import AggregateFunction, DataTypes, EnvironmentSettings, Table, TableEnvironment
from scurry.table.expressions import call, col, lit
from scurry.table.udf import RetractableCollector, TableAggregateFunction, udaf, udf, udtaf, udtf
from scurry.table.window import Tumble

PAIR = "ROW<a BIGINT, b STRING>"


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    return environment(request.param)


@pytest.fixture
def streaming() -> TableEnvironment:
    return environment("streaming")


def environment(mode: str) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    return made


def letters(env: TableEnvironment) -> Table:
    return env.from_elements([(1, "a", 10), (2, "b", 20), (3, "a", 30), (4, None, 40)], ["i", "k", "v"])


def rows(table: Table) -> list[tuple[Any, ...]]:
    """Return the rows that are left when all changes are applied."""
    found: list[tuple[Any, ...]] = []
    with table.execute().collect() as changes:
        for row in changes:
            if row.get_row_kind().value in (1, 3):
                found.remove(tuple(row))
            else:
                found.append(tuple(row))
    return found


def names(table: Table) -> list[str]:
    return table.get_resolved_schema().get_column_names()


class Summed(AggregateFunction[Row, Any]):
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] += 1
        accumulator[1] += args[0][2]

    def get_value(self, accumulator: list[int]) -> Row:
        return Row(*accumulator)

    def get_result_type(self) -> str:
        return "ROW<c BIGINT, s BIGINT>"


class Total(AggregateFunction[int, Any]):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator[0] += args[0]

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Top2(TableAggregateFunction[Row, Any]):
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator.append(args[0][2] if isinstance(args[0], Row) else args[0])

    def retract(self, accumulator: list[int], *args: Any) -> None:
        accumulator.remove(args[0])

    def emit_value(self, accumulator: list[int]) -> Iterator[Row]:
        for place, value in enumerate(sorted(accumulator, reverse=True)[:2]):
            yield Row(value, place)

    def get_result_type(self) -> str:
        return "ROW<v BIGINT, place INT>"


class UpdatedTop1(TableAggregateFunction[int, Any]):
    """Says itself how the rows of a group change."""

    def create_accumulator(self) -> list[int | None]:
        return [None, None]

    def accumulate(self, accumulator: list[int | None], *args: Any) -> None:
        accumulator[0] = args[0] if accumulator[0] is None else max(accumulator[0], args[0])

    def emit_update_with_retract(self, accumulator: list[int | None], out: RetractableCollector[int]) -> None:
        value, old = accumulator
        if value == old or value is None:
            return
        if old is not None:
            out.retract(old)
        out.collect(value)
        accumulator[1] = value


def test_map_takes_rows_or_columns(env: TableEnvironment) -> None:
    table = letters(env)
    by_row = table.map(udf(lambda r: Row(r.i * 2, r[1]), result_type=PAIR))
    assert rows(by_row) == [(2, "a"), (4, "b"), (6, "a"), (8, None)]
    assert names(by_row) == ["a", "b"]
    assert names(by_row.alias("x", "y")) == ["x", "y"]
    by_column = table.map(udf(lambda i, k: Row(i, k), result_type=PAIR)(col("i"), col("k")))
    assert rows(by_column)[0] == (1, "a")


def test_map_of_a_single_value_has_one_column(env: TableEnvironment) -> None:
    found = letters(env).map(col("i") + 1)
    assert (names(found), rows(found)) == (["f0"], [(2,), (3,), (4,), (5,)])


def test_map_gives_pandas_functions_a_data_frame(env: TableEnvironment) -> None:
    doubled = udf(lambda df: pd.concat([df.i, df.v * 2], axis=1), result_type="ROW<a BIGINT, b BIGINT>",
                  func_type="pandas")  # fmt: skip
    assert rows(letters(env).map(doubled)) == [(1, 20), (2, 40), (3, 60), (4, 80)]


def test_names_of_a_function_itself_name_no_columns_of_map_and_flat_map(env: TableEnvironment) -> None:
    table = letters(env)
    assert names(
        table.map(udf(lambda row: Row(row[0], row[1]), result_type="ROW<x INT, y STRING>").alias("p", "q"))
    ) == [
        "x",
        "y",
    ]
    assert names(table.flat_map(udtf(lambda row: [(1, 2)], result_types=["INT", "INT"]).alias("p", "q"))) == [
        "f0",
        "f1",
    ]


def test_map_gives_pandas_functions_the_fields_of_rows_as_columns(env: TableEnvironment) -> None:
    table = env.sql_query(
        "SELECT a, CAST(ROW(a + 1, 'x') AS ROW<c INT, d STRING>) AS b, TO_TIMESTAMP_LTZ(a, 3) AS t FROM (VALUES 1) v(a)"
    )

    def described(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"names": ",".join(frame.columns), "kinds": ",".join(map(str, frame.dtypes))}, frame.index)

    function = udf(described, result_type="ROW<names STRING, kinds STRING>", func_type="pandas")
    env.get_config().set_local_timezone("Europe/Berlin")
    assert rows(table.map(function)) == [("a,c,d,t", "int32,int32,object,datetime64[ms, Europe/Berlin]")]


def test_flat_map_has_the_rows_of_a_table_function_only(env: TableEnvironment) -> None:
    table = letters(env)
    twice = udtf(lambda r: [(r.i, c) for c in "xy"], result_types=["BIGINT", "STRING"])
    assert names(table.flat_map(twice)) == ["f0", "f1"]
    assert rows(table.flat_map(twice))[:3] == [(1, "x"), (1, "y"), (2, "x")]
    columns = udtf(lambda i: [(i, c) for c in "xy"], result_types=["BIGINT", "STRING"])
    assert names(table.flat_map(columns(col("i")).alias("i", "k"))) == ["i", "k"]


def test_join_lateral_gives_a_function_with_an_alias_each_row(env: TableEnvironment) -> None:
    letters = udtf(lambda row: list(row.name), result_types=[DataTypes.STRING()])
    table = env.from_elements([(1, "ab"), (2, "")], ["id", "name"])
    for joined, rows in (
        (table.join_lateral(letters.alias("letter")), [(1, "ab", "a"), (1, "ab", "b")]),
        (table.left_outer_join_lateral(letters.alias("letter")), [(1, "ab", "a"), (1, "ab", "b"), (2, "", None)]),
    ):
        assert joined.get_schema().get_field_names() == ["id", "name", "letter"]
        with joined.execute().collect() as found:
            assert sorted(map(tuple, found)) == rows
    with pytest.raises(ArgumentError, match="must be followed by a alias function"):
        table.join_lateral(letters)


def test_aggregate_makes_columns_of_the_fields_of_a_row(env: TableEnvironment) -> None:
    table = letters(env)
    assert rows(table.aggregate(udaf(Summed()).alias("x", "y")).select(col("x"), col("y"))) == [(4, 100)]
    groups = table.group_by(col("k")).aggregate(udaf(Summed())).select(col("k"), col("TMP_0$s") + col("TMP_0$c"))
    assert sorted(rows(groups), key=str) == [("a", 42), ("b", 21), (None, 41)]


def test_without_an_alias_the_results_of_aggregate_have_generated_names(env: TableEnvironment) -> None:
    groups = letters(env).group_by(col("k"), (col("i") % 2).alias("odd"))
    assert names(groups.aggregate(udaf(Summed())).select(col("*"))) == ["k", "odd", "TMP_0$c", "TMP_0$s"]
    assert names(groups.aggregate(udaf(Total(), result_type="BIGINT")(col("v"))).select(col("*")))[2:] == ["TMP_0"]


def test_aggregate_takes_pandas_functions(env: TableEnvironment) -> None:
    described = udaf(lambda df: (df.v.mean(), df.v.max()), result_type="ROW<a DOUBLE, b BIGINT>", func_type="pandas")
    assert rows(letters(env).aggregate(described.alias("x", "y")).select(col("x"), col("y"))) == [(25.0, 40)]


def test_aggregate_in_windows_has_the_bounds_of_the_window(env: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,1,2024-01-01 00:00:01\na,2,2024-01-01 00:00:02\na,4,2024-01-01 00:00:11\n")
    env.execute_sql(
        "CREATE TABLE events (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    windows = env.from_path("events").window(Tumble.over(lit(10).seconds).on(col("ts")).alias("w"))
    summed = udaf(Total(), result_type="BIGINT")(col("v")).alias("x")
    found = windows.group_by(col("k"), col("w")).aggregate(summed).select(col("k"), col("w").start, col("x"))
    assert names(found) == ["k", "EXPR$0", "x"]
    assert rows(found) == [("a", datetime(2024, 1, 1), 3), ("a", datetime(2024, 1, 1, 0, 0, 10), 4)]


def test_flat_aggregate_makes_rows_of_groups(env: TableEnvironment) -> None:
    table = letters(env)
    assert rows(table.flat_aggregate(udtaf(Top2()).alias("x", "n")).select(col("x"), col("n"))) == [(40, 0), (30, 1)]
    groups = table.group_by(col("k")).flat_aggregate(udtaf(Top2())(col("v"))).select(col("k"), col("v"))
    assert sorted(rows(groups), key=str) == [("a", 10), ("a", 30), ("b", 20), (None, 40)]


def test_flat_aggregate_takes_rows_back(streaming: TableEnvironment) -> None:
    sums = letters(streaming).group_by(col("k")).select(col("k"), col("v").sum.alias("s"))
    assert rows(sums.flat_aggregate(udtaf(Top2())(col("s"))).select(col("v"))) == [(40,), (40,)]


def test_a_function_may_say_how_its_rows_change(env: TableEnvironment) -> None:
    table = letters(env)
    top = udtaf(UpdatedTop1(), result_type="BIGINT")
    assert rows(table.flat_aggregate(top(col("v")).alias("x")).select(col("x"))) == [(40,)]


def test_a_changed_group_is_taken_back_and_made_again(streaming: TableEnvironment) -> None:
    streaming.get_config().set("execution.checkpointing.interval", "1 h")
    table = letters(streaming).union_all(letters(streaming))
    found = table.group_by(col("k")).flat_aggregate(udtaf(Top2())(col("v"))).select(col("k"), col("v"))
    assert sorted(rows(found), key=str) == [("a", 30), ("a", 30), ("b", 20), ("b", 20), (None, 40), (None, 40)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda t, s, f: t.map(f), "Only a scalar function can be used in the map operator"),
        (lambda t, s, f: t.map(s(col("i")).alias("x")), "Only a scalar function can be used in the map operator"),
        (lambda t, s, f: t.flat_map(s), "Only a table function can be used in the flatMap operator"),
        (lambda t, s, f: t.aggregate(f).select(col("x")), "Only an aggregate function can be used in the aggregate"),
        (lambda t, s, f: t.flat_aggregate(s).select(col("x")), "Only a table aggregate function can be used"),
        (
            lambda t, s, f: t.aggregate(udaf(Summed()).alias("x", "y", "z")).select(col("x")),
            "alias list has 3",
        ),
        (
            lambda t, s, f: t.aggregate(udaf(Summed()).alias("x")).select(col("x")),
            "alias list has 1",
        ),
        (lambda t, s, f: t.aggregate(udaf(Summed())).select(col("i").sum), "Aggregate functions are not supported in"),
        (lambda t, s, f: t.map(len), "expected a function or the call of one"),
    ],
)
def test_a_function_of_another_kind_is_refused(streaming: TableEnvironment, wrong: Any, message: str) -> None:
    scalar = udf(lambda x: x, result_type="BIGINT")
    table_function = udtf(lambda x: [x], result_types="ROW<x BIGINT>")
    with pytest.raises(ValidationError, match=message):
        wrong(letters(streaming), scalar, table_function)


def test_in_sql_a_table_aggregate_is_refused(streaming: TableEnvironment) -> None:
    streaming.create_temporary_function("top", udtaf(Top2()))
    with pytest.raises(ValidationError, match="flat_aggregate"):
        streaming.sql_query("SELECT top(v) FROM (VALUES (1)) t(v)")


def test_functions_are_called_by_the_names_that_they_are_registered_with(streaming: TableEnvironment) -> None:
    streaming.create_temporary_function("top", udtaf(Top2()))
    streaming.create_temporary_system_function("top_of_all", udtaf(Top2()))
    for name in ("top", "top_of_all"):
        of_name, of_function = (
            letters(streaming).group_by(col("k")).flat_aggregate(each).select(col("k"))
            for each in (call(name, col("v")), udtaf(Top2())(col("v")))
        )
        assert rows(of_name) == rows(of_function)


def test_what_a_table_aggregate_raises_names_its_line(env: TableEnvironment) -> None:
    class Broken(Top2):
        def emit_value(self, accumulator: list[int]) -> Iterator[Row]:
            yield Row(1 // 0, 1)  # cause

    with pytest.raises((OperatorError, JobError)) as caught:
        rows(letters(env).flat_aggregate(udtaf(Broken())(col("v"))).select(col("v")))
    assert "# cause" in str(caught.value) and "in function 'Broken'" in str(caught.value)


def test_the_result_has_the_declared_width(env: TableEnvironment) -> None:
    class Wide(Top2):
        def emit_value(self, accumulator: list[int]) -> Iterator[Row]:
            yield Row(1, 2, 3)

    with pytest.raises((OperatorError, JobError), match="2 columns are declared, got 3"):
        rows(letters(env).flat_aggregate(udtaf(Wide(), result_type=DataTypes.ROW([
            DataTypes.FIELD("v", DataTypes.BIGINT()), DataTypes.FIELD("p", DataTypes.INT())]))(col("v")))
            .select(col("v")))  # fmt: skip
