"""Queries of SQL over the simulated source, whose rows go to the simulated sink."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from scurry.common import RowKind, Types
from scurry.table import DataTypes, Schema, StreamTableEnvironment
from scurry.testing.simulation import Program
from support.simulated.records import Given, records, stream

WIDTH = 3


def table(env: Any, source: Any) -> Any:
    """Return an environment with the table `given`."""
    tables = StreamTableEnvironment.create(env)
    schema = (
        Schema.new_builder()
        .column("f0", DataTypes.STRING())
        .column("f1", DataTypes.INT())
        .column("f2", DataTypes.BIGINT())
        .column_by_metadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime", True)
        .watermark("ts", "SOURCE_WATERMARK()")
        .build()
    )
    tables.create_temporary_view("given", stream(env, source), schema)
    return tables


def text(row: Any) -> str:
    return " ".join(map(str, row))


def tumbling() -> Program:
    """Return a program that aggregates windows of a table."""

    def build(env: Any, source: Any, sink: Any) -> None:
        tables = table(env, source)
        query = (
            "SELECT f0, CAST(UNIX_TIMESTAMP(CAST(window_start AS STRING)) AS STRING), COUNT(*), SUM(f1), MAX(f1) "
            f"FROM TABLE(TUMBLE(TABLE given, DESCRIPTOR(ts), INTERVAL '{WIDTH}' SECOND)) "
            "GROUP BY f0, window_start, window_end"
        )
        rows = tables.to_data_stream(tables.sql_query(query))
        rows.map(text, Types.STRING()).uid("text").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        windows: dict[Any, list[int]] = defaultdict(list)
        for key, record, time in given:
            windows[key, time // 1000 // WIDTH * WIDTH].append(record[1])
        return [f"{key} {start} {len(of)} {sum(of)} {max(of)}" for (key, start), of in windows.items()]

    return Program("tumbling", records, build, expected, settings={"table.local-time-zone": "UTC"})


def change(row: Any) -> Any:
    return row.get_row_kind().value, tuple(row)


def changes() -> Program:
    """Return a program whose aggregates change: what its changes lead to is the result of the query."""

    def build(env: Any, source: Any, sink: Any) -> None:
        tables = table(env, source)
        query = "SELECT f0, COUNT(*), SUM(f1), MIN(f1) FROM given GROUP BY f0"
        rows = tables.to_changelog_stream(tables.sql_query(query))
        rows.map(change, Types.PICKLED_BYTE_ARRAY()).uid("changes").sink_to(sink).uid("sink")

    def check(given: Given, output: list[Any]) -> None:
        """Changes of a key are in order; with retractions, their sum is the result."""
        found: Counter[Any] = Counter()
        for kind, row in output:
            found[row] += 1 if kind in (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value) else -1
        numbers: dict[str, list[int]] = defaultdict(list)
        for key, record, _ in given:
            numbers[key].append(record[1])
        expected = Counter((key, len(of), sum(of), min(of)) for key, of in numbers.items())
        found = Counter({row: count for row, count in found.items() if count})
        assert found == expected, f"{found} instead of {expected}"

    return Program("changes", records, build, lambda given: [], check)
