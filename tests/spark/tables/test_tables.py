"""Plans on Spark give the rows of the in-process executor, whatever runs as Spark columns and what in Python."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from scurry.errors import EvaluationError
from scurry.graph.settings import JobSettings
from scurry.spark.tables.execution import execute_on_spark
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan, Scan
from scurry.sql.planner.rules import optimized
from scurry.sql.syntax.nodes import Query
from scurry.sql.syntax.parser import parse
from scurry.sql.types import BigIntType, DataType, DateType, DecimalType, DoubleType, IntType, VarCharType
from scurry.sql.types.values import from_values
from scurry.sql.validator import CatalogColumn, CatalogTable, validate_query
from scurry.sql.validator.catalog import CatalogReader

pytestmark = pytest.mark.spark

SESSION = EvaluationContext(query_start=0)
SETTINGS = JobSettings("tables", 2, mode="BATCH")

_random = random.Random(7)
ROWS = [
    (
        _random.choice([None, 1, 2, 3, 2_147_483_647]),
        _random.randrange(100),
        _random.choice([None, "", "a", "ab", "b%", "ä"]),
        _random.choice([None, Decimal("1.50"), Decimal("-99999999.99"), Decimal("0.01")]),
        _random.choice([None, 0.5, -0.25, 3.0]),
        _random.choice([None, 0, 18_000, 19_000]),
    )
    for _ in range(60)
]
COLUMNS: dict[str, DataType] = {
    "i": IntType(),
    "b": BigIntType(False),
    "s": VarCharType(2_147_483_647),
    "d": DecimalType(10, 2),
    "f": DoubleType(),
    "dt": DateType(),
}
TABLE = CatalogTable(
    ("default_catalog", "default_database", "t"),
    tuple(CatalogColumn(name, kind) for name, kind in COLUMNS.items()),
    None,
)


class OneTable(CatalogReader):
    def find(self, names: tuple[str, ...]) -> CatalogTable | None:
        return TABLE if names == ("t",) else None

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return 1, f"Object '{names[0]}' not found"


class Rows:
    """A source of the rows in three splits."""

    bounded = True

    def splits(self) -> list[Any]:
        return [0, 1, 2]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        rows = ROWS[split * 20 : split * 20 + 20]
        columns_of_rows = zip(zip(*rows, strict=True), COLUMNS.values(), strict=True)
        arrays = [from_values(list(values), kind) for values, kind in columns_of_rows]
        yield Changes(pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS)).select(list(columns)))


def planned(query: str) -> Plan:
    statement = parse(query)
    assert isinstance(statement, Query)
    return optimized(validate_query(statement, OneTable(), SESSION), SESSION)


def in_process(plan: Plan) -> list[tuple[Any, ...]]:
    def read(scan: Scan) -> Iterator[pa.RecordBatch]:
        for split in Rows().splits():
            yield from (rows.batch for rows in Rows().read(split, list(scan.schema.names)))

    return [row for batch in execute_batch(plan, SESSION, read) for row in rows_of(batch)]


def on_spark(plan: Plan) -> list[tuple[Any, ...]]:
    source: Any = Rows()
    return [row for batch in execute_on_spark(plan, SESSION, SETTINGS, lambda scan: source) for row in rows_of(batch)]


def rows_of(batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


QUERIES = [
    "SELECT i, b * 2, s, d, f, dt FROM t",
    "SELECT i + 1, i - b, i * i, -i, b + i FROM t",
    "SELECT d + d, d * d, d - b, d * 3 FROM t",
    "SELECT i, CASE WHEN i > 1 THEN s WHEN d > 1 THEN 'x' ELSE 'other' END FROM t WHERE b < 50 AND s <> 'a'",
    "SELECT b FROM t WHERE NOT (i = 2) OR f > 0.1",
    "SELECT CAST(d AS DECIMAL(12, 1)), CAST(i AS BIGINT), CAST(i AS DECIMAL(12, 2)), COALESCE(d, 0) FROM t",
    "SELECT i, COUNT(*), COUNT(s), SUM(b), SUM(d), AVG(d), AVG(b), MIN(s), MAX(dt), MIN(d) FROM t GROUP BY i",
    "SELECT n, i FROM (SELECT s, i, COUNT(*) AS n FROM t GROUP BY s, i) AS g WHERE n > 1",
    "SELECT SUM(i), COUNT(DISTINCT s), AVG(f), MAX(f) FROM t",
    "SELECT COUNT(*), SUM(b) FROM t WHERE b > 1000",
    "SELECT s, COUNT(*) FILTER (WHERE i > 1), MAX(f) FROM t GROUP BY s HAVING COUNT(*) > 2",
    "SELECT i, s, COUNT(*), SUM(b) FROM t GROUP BY GROUPING SETS ((i), (s), (i, s), ())",
    "SELECT DISTINCT i, s FROM t",
    "SELECT x.b, y.b FROM t AS x JOIN t AS y ON x.b = y.i",
    "SELECT x.b, y.i FROM t AS x LEFT JOIN t AS y ON x.b = y.i AND y.f > 0.1",
    "SELECT x.b, y.i FROM t AS x FULL JOIN t AS y ON x.b = y.i AND x.s = y.s",
    "SELECT x.b, y.b FROM t AS x JOIN t AS y ON x.b + 1 = y.b AND x.f < y.f",
    "SELECT COUNT(*) FROM t AS x, t AS y WHERE x.b < y.b",
    "SELECT b FROM t WHERE b IN (SELECT i FROM t WHERE i IS NOT NULL)",
    "SELECT b FROM t WHERE b NOT IN (SELECT i FROM t)",
    "SELECT b FROM t AS x WHERE EXISTS (SELECT 1 FROM t AS y WHERE y.i = x.b)",
    "SELECT b, (SELECT MAX(b) FROM t) FROM t",
    "SELECT i FROM t UNION SELECT CAST(b AS INT) FROM t",
    "SELECT s FROM t UNION ALL SELECT s FROM t WHERE b > 50",
    "SELECT s FROM t INTERSECT SELECT s FROM t WHERE b > 50",
    "SELECT i FROM t EXCEPT SELECT i FROM t WHERE b > 50",
    "SELECT b, ROW_NUMBER() OVER (PARTITION BY s ORDER BY b, f, d, i, dt), SUM(b) OVER (PARTITION BY s) FROM t",
    "SELECT * FROM (VALUES (1, 'a'), (2, CAST(NULL AS STRING))) AS v (x, y)",
    "SELECT b, v FROM t CROSS JOIN UNNEST(ARRAY[1, 2]) AS u (v)",
    "SELECT ARRAY[i, 1], MAP['a', b], ROW(s, d) FROM t",
]


@pytest.mark.parametrize("query", QUERIES)
def test_spark_and_the_in_process_executor_agree(query: str) -> None:
    plan = planned(query)
    assert sorted(map(repr, on_spark(plan))) == sorted(map(repr, in_process(plan)))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT b, s FROM t ORDER BY s DESC, b, i, d, f, dt",
        "SELECT b, i FROM t ORDER BY i NULLS LAST, b, s, d, f, dt LIMIT 7 OFFSET 2",
    ],
)
def test_rows_come_in_the_order_of_the_query(query: str) -> None:
    plan = planned(query)
    assert on_spark(plan) == in_process(plan)


def test_an_error_of_a_function_is_what_the_user_sees() -> None:
    with pytest.raises(EvaluationError, match="Division by zero"):
        on_spark(planned("SELECT d / (b - b) FROM t"))
