"""Windows of a number of rows: the rows and words that PyFlink 2.3.0 recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import ValidationError
from scurry.table import AggregateFunction, EnvironmentSettings, Table, TableEnvironment
from scurry.table.expressions import col, lit, row_interval
from scurry.table.udf import udaf
from scurry.table.window import Over, Session, Slide, Tumble

VALUES = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5), ("a", 6)]


def events(mode: str, directory: Path) -> Table:
    """Return rows with a column `p` of processing time and one `ts` of event time."""
    settings = EnvironmentSettings.in_batch_mode() if mode == "batch" else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    file = directory / "events.csv"
    file.write_text("".join(f"{k},{v},2024-01-01 00:0{place}:00\n" for place, (k, v) in enumerate(VALUES)))
    env.execute_sql(
        "CREATE TABLE events (k STRING, v INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'csv')"
    )
    return env.from_path("events")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return events("streaming", tmp_path)


def changes(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as found:
        return [(row.get_row_kind().name, *row) for row in found]


def windowed(table: Table, window: Any, *keys: str) -> Any:
    return table.window(window.alias("o")).group_by(col("o"), *map(col, keys))


def test_a_window_of_each_key_is_emitted_when_it_is_full(table: Table) -> None:
    tumbling = windowed(table, Tumble.over(row_interval(2)).on(col("p")), "k")
    found = tumbling.select(col("k"), col("v").sum, col("v").count.alias("n"))
    assert found.get_schema().get_field_names() == ["k", "EXPR$0", "n"]
    assert changes(found) == [("INSERT", "a", 4, 2), ("INSERT", "b", 7, 2), ("INSERT", "a", 10, 2)]


@pytest.mark.parametrize(("size", "slide", "sums"), [(3, 2, [6, 12]), (2, 3, [3, 9]), (1, 1, [1, 2, 3, 4, 5, 6])])
def test_windows_overlap_or_leave_rows_out(table: Table, size: int, slide: int, sums: list[int]) -> None:
    sliding = windowed(table, Slide.over(row_interval(size)).every(row_interval(slide)).on(col("p")))
    assert changes(sliding.select(col("v").sum)) == [("INSERT", each) for each in sums]


def test_aggregates_may_be_parts_of_expressions(table: Table) -> None:
    tumbling = windowed(table, Tumble.over(row_interval(3)).on(col("p")))
    chosen = tumbling.select((col("v").max - col("v").min).alias("range"), col("k").count.distinct.alias("keys"))
    assert changes(chosen) == [("INSERT", 2, 2), ("INSERT", 2, 2)]


def test_a_key_may_be_an_expression(table: Table) -> None:
    window = Tumble.over(row_interval(3)).on(col("p")).alias("o")
    grouped = table.window(window).group_by(col("o"), (col("v") % 2).alias("odd"))
    assert sorted(changes(grouped.select(col("odd"), col("v").sum))) == [("INSERT", 0, 12), ("INSERT", 1, 9)]


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            lambda t: windowed(t, Tumble.over(row_interval(2)).on(col("p"))).select(col("o").start, col("v").sum),
            "Window start and Window end cannot be selected for a row-count tumble window.",
        ),
        (
            lambda t: windowed(t, Tumble.over(row_interval(2)).on(col("ts"))).select(col("v").sum),
            "Event-time grouping windows on row intervals are currently not supported",
        ),
        (
            lambda t: windowed(t, Slide.over(row_interval(2)).every(lit(1).minutes).on(col("p"))).select(col("v").sum),
            "A sliding window expects the same type of size and slide.",
        ),
        (
            lambda t: windowed(t, Session.with_gap(row_interval(2)).on(col("p"))).select(col("v").sum),
            "A session window expects a gap literal of a day-time interval type.",
        ),
        (
            lambda t: windowed(t, Tumble.over(row_interval(0)).on(col("p"))).select(col("v").sum),
            "A window needs a positive number of rows, not 0.",
        ),
        (
            lambda t: windowed(t, Tumble.over(row_interval(2)).on(col("p"))).select(col("k")),
            "Cannot resolve field [k], input field list:[].",
        ),
    ],
)
def test_what_flink_refuses_is_refused(table: Table, select: Callable[[Table], Table], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        select(table)
    assert message in str(refused.value)


def test_batch_has_none(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="not supported in BATCH"):
        windowed(events("batch", tmp_path), Tumble.over(row_interval(2)).on(col("p"))).select(col("v").sum)


class Joined(AggregateFunction[str, list[str]]):
    def create_accumulator(self) -> list[str]:
        return []

    def accumulate(self, accumulator: list[str], *args: Any) -> None:
        accumulator.append(str(args[0]))

    def get_value(self, accumulator: list[str]) -> str:
        return "-".join(accumulator)


def test_windows_take_general_functions_of_users(table: Table) -> None:
    joined = udaf(Joined(), result_type="STRING", accumulator_type="ARRAY<STRING>")
    sliding = windowed(table, Slide.over(row_interval(2)).every(row_interval(1)).on(col("p")), "k")
    assert changes(sliding.select(col("k"), joined(col("v")))) == [
        ("INSERT", "a", "1-3"),
        ("INSERT", "a", "3-4"),
        ("INSERT", "b", "2-5"),
        ("INSERT", "a", "4-6"),
    ]


def test_over_windows_of_tables_refuse_general_functions_of_users(table: Table) -> None:
    joined = udaf(Joined(), result_type="STRING", accumulator_type="ARRAY<STRING>")
    over = table.over_window(Over.partition_by(col("k")).order_by(col("p")).alias("o"))
    with pytest.raises(ValidationError, match="only those of func_type 'pandas' can have OVER"):
        over.select(joined(col("v")).over(col("o")))
