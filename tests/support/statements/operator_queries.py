"""A query for each operator of STREAMING.

Tables are `t` and `u` (id, k, v and times), `rates` (versions by k), `c` (changes of id, k, v), `normalized` (the same,
by key), `timed` (the same, with times) and `d` (names by k, which can be looked up). `smallest` is a view of `t`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from scurry.common.types import Row
from scurry.table import DataTypes, Table
from scurry.table.expressions import call, col
from scurry.table.types import DataType
from scurry.table.udf import (
    ArgumentHint,
    ArgumentTrait,
    Context,
    ProcessTableFunction,
    StateHint,
    TableAggregateFunction,
    udtaf,
)

__all__ = ["BY_ANOTHER_KEY", "FUNCTIONS", "OF_TWO_TABLES", "QUERIES", "SETTINGS", "TIME", "changed_table", "smallest"]


@dataclass
class Count:
    rows: int = 0


class Counting(ProcessTableFunction):
    """Counts the rows of a key, and says 20 seconds later that it has counted each of them."""

    def eval(
        self,
        ctx: Context,
        seen: Annotated[Count, StateHint()],
        counted: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE, ArgumentTrait.REQUIRE_ON_TIME)],
    ) -> Iterator[tuple[int, int]]:
        seen.rows += 1
        yield counted.id, seen.rows
        time = ctx.time_context()
        time.register_on_time(time.time() + datetime.timedelta(seconds=20))

    def on_timer(self, seen: Count) -> Iterator[tuple[int, int]]:
        yield -1, -1


class Smallest(TableAggregateFunction[Row, list[int]]):
    """The two smallest values of a group."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[:] = sorted([*accumulator, value])[:2]

    def emit_value(self, accumulator: list[int]) -> Iterator[Row]:
        for value in accumulator:
            yield Row(value)

    def get_accumulator_type(self) -> DataType:
        return DataTypes.ARRAY(DataTypes.INT())

    def get_result_type(self) -> DataType:
        return DataTypes.ROW([DataTypes.FIELD("smallest", DataTypes.INT())])


def smallest(table: Table) -> Table:
    """Return the two smallest values of each key of a table."""
    return table.group_by(col("k")).flat_aggregate(call("two_smallest", col("v"))).select(col("k"), col("smallest"))


#: Functions of the queries, by name.
FUNCTIONS = {"counting": Counting(), "two_smallest": udtaf(Smallest())}

TIME = "ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
NUMBERED = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS n FROM {})"
SUMS = "(SELECT k, v, COUNT(*) AS s FROM c GROUP BY k, v)"
GROUPED = "SELECT {} window_start AS a, COUNT(*) AS b FROM TABLE({}) GROUP BY {} window_start, window_end"
TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
WINDOWED = "(SELECT * FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)))"
PAIRED = "SELECT l.id, r.id FROM {} AS l {} {} AS r ON l.k = r.k"
OVER = "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY {}) FROM t"

OF_CHANGES = "COUNT(*), SUM(v), MIN(v), COUNT(DISTINCT v)"

QUERIES = {
    "groups": "SELECT k, SUM(v), MIN(v), COUNT(DISTINCT v) FROM c GROUP BY k",
    "groups in bundles": "SELECT k, MAX(v), SUM(v), COUNT(DISTINCT v) FROM c GROUP BY k",
    "groups of states in bundles": "SELECT k, SUM(v), COUNT(*), AVG(v) FROM c GROUP BY k",
    "grouping sets": "SELECT k, v, COUNT(*) FROM c GROUP BY CUBE (k, v)",
    "distinct": "SELECT DISTINCT k FROM c",
    "changes as rows, and back": "SELECT k, n FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => "
    "(SELECT k, COUNT(*) AS n FROM c GROUP BY k))))",
    "tumbling windows": GROUPED.format("k,", TUMBLE, "k,"),
    "sliding windows": GROUPED.format(
        "k,", "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)", "k,"
    ),
    "cumulating windows": GROUPED.format(
        "", "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE)", ""
    ),
    "sessions": GROUPED.format("k,", "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '8' SECOND)", "k,"),
    "windows of GROUP BY": "SELECT k, TUMBLE_START(ts, INTERVAL '1' MINUTE), SUM(v) FROM t "
    "GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)",
    "sessions as rows": "SELECT id, window_start FROM "
    "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '8' SECOND))",
    "first rows of windows": "SELECT k, id FROM "
    f"{NUMBERED.format('window_start, window_end, k', 'v, id', f'TABLE({TUMBLE})')} WHERE n <= 2",
    "last row of windows": "SELECT k, id FROM "
    f"{NUMBERED.format('window_start, window_end, k', 'ts DESC', f'TABLE({TUMBLE})')} WHERE n = 1",
    "different values of windows": f"SELECT k, COUNT(DISTINCT v) FROM TABLE({TUMBLE}) "
    "GROUP BY k, window_start, window_end",
    "windows of changes": f"SELECT k, {OF_CHANGES} FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY k, window_start, window_end",
    "sessions of changes": f"SELECT k, {OF_CHANGES} FROM "
    "TABLE(SESSION(TABLE timed PARTITION BY k, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY k, window_start, window_end",
    "window join": PAIRED.format(WINDOWED.format("t"), "FULL JOIN", WINDOWED.format("u"))
    + " AND l.window_start = r.window_start AND l.window_end = r.window_end",
    "interval join": PAIRED.format("t", "LEFT JOIN", "u")
    + " AND l.ts BETWEEN r.ts - INTERVAL '9' SECOND AND r.ts + INTERVAL '9' SECOND",
    "interval join of processing times": PAIRED.format("t", "JOIN", "u")
    + " AND l.p BETWEEN r.p - INTERVAL '1' HOUR AND r.p + INTERVAL '1' HOUR",
    "inner join": PAIRED.format("c", "JOIN", "t") + " AND l.v < r.v",
    "join of added rows": PAIRED.format("t", "JOIN", "u") + " AND l.v < r.v",
    "outer join": PAIRED.format("c", "FULL JOIN", "t") + " AND l.v < r.v",
    "join without keys": "SELECT l.id, r.id FROM c AS l JOIN t AS r ON l.v + 7 < r.v",
    "semi join": "SELECT id FROM c WHERE k IN (SELECT k FROM t WHERE v > 7)",
    "anti join": "SELECT id FROM t WHERE NOT EXISTS (SELECT * FROM c WHERE c.k = t.k AND c.v > t.v)",
    "NOT IN": "SELECT id FROM t WHERE k NOT IN (SELECT k FROM c WHERE v > 8 AND k IS NOT NULL)",
    "temporal join": "SELECT t.id, r.rate FROM t LEFT JOIN rates FOR SYSTEM_TIME AS OF t.ts AS r ON t.k = r.k",
    "lookup join": "SELECT t.id, d.name FROM t JOIN d FOR SYSTEM_TIME AS OF t.p AS d ON t.k = d.k",
    "top of added rows": f"SELECT k, id, n FROM {NUMBERED.format('k', 'v DESC, id', 't')} WHERE n <= 3",
    "top of counts": "SELECT k, s FROM "
    f"{NUMBERED.format('k', 's DESC', '(SELECT k, v, COUNT(*) AS s FROM t GROUP BY k, v)')} WHERE n <= 2",
    "top of changes": f"SELECT k, v, s FROM {NUMBERED.format('k', 's DESC, v', SUMS)} WHERE n <= 2",
    "sorted and limited": "SELECT id, v FROM c ORDER BY v DESC, id LIMIT 5",
    "limited": "SELECT COUNT(*) FROM (SELECT * FROM t LIMIT 7)",
    "first row by event time": f"SELECT k, id FROM {NUMBERED.format('k', 'ts', 't')} WHERE n = 1",
    "last row by event time": f"SELECT k, id FROM {NUMBERED.format('k', 'ts DESC', 't')} WHERE n = 1",
    "first row by processing time": f"SELECT k FROM {NUMBERED.format('k', 'p', 't')} WHERE n = 1",
    "first row by processing time with a time to live": f"SELECT k FROM {NUMBERED.format('k', 'p', 't')} WHERE n = 1",
    "last row by processing time": f"SELECT k, id FROM {NUMBERED.format('k', 'p DESC', 't')} WHERE n = 1",
    "last row with a time to live": f"SELECT k, id FROM {NUMBERED.format('k', 'ts DESC', 't')} WHERE n = 1",
    "top with a time to live": f"SELECT k, id, n FROM {NUMBERED.format('k', 'v DESC, id', 't')} WHERE n <= 3",
    "over all rows before": OVER.format("ts"),
    "over some rows before": OVER.format("ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    "over some time before": OVER.format("ts RANGE BETWEEN INTERVAL '9' SECOND PRECEDING AND CURRENT ROW"),
    "over processing time": OVER.format("p ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    "over some rows of processing time": OVER.format("p ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    "over a column": "SELECT id, SUM(v) OVER (PARTITION BY k ORDER BY v) FROM c",
    "union": "SELECT k FROM c UNION SELECT k FROM t WHERE v > 3",
    "intersection": "SELECT k FROM c INTERSECT SELECT k FROM t WHERE v > 3",
    "difference": "SELECT k, v FROM t EXCEPT ALL SELECT k, v FROM c",
    "sorted by time": "SELECT id FROM t ORDER BY ts, id",
    "changes by key": "SELECT id, k, v FROM normalized",
    "match recognize": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS f, "
    "B.id AS l ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v > 3, B AS B.v <= 3)",
    "match recognize by processing time": "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY p MEASURES "
    "A.id AS f, B.id AS l ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v > 3)",
    "table aggregate": "SELECT * FROM smallest",
    "process table function": "SELECT * FROM counting(counted => TABLE t PARTITION BY k, on_time => DESCRIPTOR(ts))",
    "rows by another key": "SELECT COALESCE(k, '') || '!' AS k, v, s FROM "
    f"{NUMBERED.format('k', 's DESC, v', SUMS)} WHERE n = 1",
    "scalar subquery": "SELECT id FROM c WHERE v > (SELECT AVG(v) FROM t)",
}
SETTINGS = {
    "groups in bundles": {"table.exec.mini-batch.enabled": "true"},
    "groups of states in bundles": {"table.exec.mini-batch.enabled": "true"},
    "changes by key": {"table.exec.source.cdc-events-duplicate": "true"},
    "first row by processing time with a time to live": {"table.exec.state.ttl": "1 h"},
    "last row with a time to live": {"table.exec.state.ttl": "1 h"},
    "top with a time to live": {"table.exec.state.ttl": "1 h"},
}
#: What compares the times of two tables, one of which would be late if it were idle.
OF_TWO_TABLES = ("window join", "interval join", "temporal join")
#: What a table with its first column as key takes from a SinkUpsertMaterializer.
BY_ANOTHER_KEY = "rows by another key"


def changed_table(query: str) -> str:
    """Return by which of its names a query reads the table of changes."""
    return next((name for name in ("normalized", "timed") if name in query), "c")
