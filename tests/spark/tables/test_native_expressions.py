"""Expressions that Spark computes itself have the values of the expression compiler, for every kind of edge."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from scurry.graph.plan import JobPlan
from scurry.graph.settings import JobSettings
from scurry.spark.session.session import session_for
from scurry.spark.tables.columns import spark_expression
from scurry.spark.tables.execution import _CONFIGURATION
from scurry.spark.tables.types import from_spark, to_spark
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes import Project
from scurry.sql.syntax.nodes import Query
from scurry.sql.syntax.parser import parse
from scurry.sql.types import BigIntType, DataType, DateType, DecimalType, IntType, SmallIntType, VarCharType
from scurry.sql.types.values import from_values
from scurry.sql.validator import CatalogColumn, CatalogTable, validate_query
from scurry.sql.validator.catalog import CatalogReader

pytestmark = pytest.mark.spark

SESSION = EvaluationContext(query_start=0)
COLUMNS: dict[str, DataType] = {
    "h": SmallIntType(),
    "i": IntType(),
    "j": IntType(),
    "b": BigIntType(),
    "s": VarCharType(2_147_483_647),
    "u": VarCharType(2_147_483_647),
    "d": DecimalType(10, 2),
    "e": DecimalType(38, 10),
    "dt": DateType(),
    "du": DateType(),
}
_INTEGERS = [None, 0, 1, -1, 7, -2_147_483_648, 2_147_483_647]
_TEXTS = [None, "", "a", "ab", "A", "a%b", "it's", "ä", "x\ny", "$a", "\\", "${a}", "a ", "13-29"]
_DATES = [None, 0, -1, 18_000, 18_321, -141_428, -719_162, 2_932_896, 11_016]  # from the year 1 to the year 9999
_VALUES: dict[str, Sequence[Any]] = {
    "h": [None, 0, 3, -32_768, 32_767],
    "i": _INTEGERS,
    "j": _INTEGERS,
    "b": [None, 0, 5, -(2**63), 2**63 - 1],
    "s": _TEXTS,
    "u": _TEXTS,
    "d": [None, Decimal("0.00"), Decimal("1.50"), Decimal("-99999999.99"), Decimal("99999999.99"), Decimal("0.01")],
    "e": [None, Decimal(0), Decimal("1e27"), Decimal("-0.0000000001"), Decimal("3.3333333333")],
    "dt": _DATES,
    "du": _DATES,
}
EXPRESSIONS = [
    *(f"i {operator} j" for operator in ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*")),
    *(f"s {operator} u" for operator in ("=", "<>", "<", "<=", ">", ">=")),
    *(f"dt {operator} du" for operator in ("=", "<>", "<", ">=")),
    *(f"d {operator} e" for operator in ("=", "<", "+", "-", "*")),
    "i IS DISTINCT FROM j",
    "s IS NOT DISTINCT FROM u",
    *(f"(i = j) IS {test}" for test in ("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "NULL", "NOT NULL")),
    "i = 1 OR j = 2 OR h = 3",
    "i = 1 OR i = 7 OR i = -1",
    "i = 1 OR i = CAST(NULL AS INT)",
    "s IN ('a', 'it''s', '$a', '\\', '${a}', U&'x\\000ay')",
    "s NOT IN ('a', 'ab')",
    "i IN (0, 1, 7) AND s <> 'a' AND d > 0",
    "NOT (i = j AND s = u)",
    "h + h",
    "h * i",
    "b + i",
    "b * b",
    "d * d",
    "d * (1 - d)",
    "e * e",
    "d + 1",
    "d * 0.2",
    "d / 7",
    "d / 0.07",
    "CAST(d AS DECIMAL(38, 10)) / 3",
    "CASE WHEN i > 1 THEN d WHEN s = 'a' THEN 0 ELSE e END",
    "CASE WHEN i > j THEN s END",
    "COALESCE(i, j, 5)",
    "COALESCE(s, u)",
    "CAST(d AS DECIMAL(5, 1))",
    "CAST(e AS DECIMAL(10, 2))",
    "CAST(i AS DECIMAL(3, 1))",
    "CAST(b AS INT)",
    "CAST(i AS SMALLINT)",
    "CAST(b AS DOUBLE)",
    "CAST(s AS STRING)",
    *(f"s LIKE '{pattern}'" for pattern in ("", "%", "a%", "%b", "_", "a_b", "%a%b%", "x%y", "$%", "it''s", "a.")),
    "s NOT LIKE 'a%'",
    "s NOT LIKE '%a%b%'",
    "SUBSTRING(s, 1, 2)",
    "SUBSTRING(s, 2)",
    "SUBSTRING(s FROM 2 FOR 0)",
    "SUBSTRING(s FROM 3 FOR 2147483647)",
    *(f"EXTRACT({unit} FROM dt)" for unit in ("YEAR", "QUARTER", "MONTH", "DAY")),
    "YEAR(dt)",
    "QUARTER(dt)",
    "MONTH(dt)",
    "DAYOFMONTH(dt)",
    "dt >= DATE '1994-01-01' AND dt < DATE '1994-01-01' + INTERVAL '1' YEAR",
    "'it''s ${a} \\ and more'",
    "CAST(-9223372036854775807 AS BIGINT) - 1 + b",
]


class OneTable(CatalogReader):
    def find(self, names: tuple[str, ...]) -> CatalogTable | None:
        columns = tuple(CatalogColumn(name, kind) for name, kind in COLUMNS.items())
        return CatalogTable(("default_catalog", "default_database", "t"), columns, None)

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return 1, f"Object '{names[0]}' not found"


def rows() -> pa.RecordBatch:
    """Return rows in which any two neighbouring columns of a kind meet with all pairs of their values."""
    pairs = [("i", "j"), ("s", "u"), ("d", "e"), ("dt", "du"), ("h", "i"), ("b", "i")]
    found = []
    for one, other in pairs:
        for number, (left, right) in enumerate(itertools.product(_VALUES[one], _VALUES[other])):
            row = {name: values[number % len(values)] for name, values in _VALUES.items()}
            found.append({**row, one: left, other: right})
    arrays = [from_values([row[name] for row in found], kind) for name, kind in COLUMNS.items()]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def validated() -> Project:
    statement = parse(f"SELECT {', '.join(EXPRESSIONS)} FROM t")
    assert isinstance(statement, Query)
    plan = validate_query(statement, OneTable(), SESSION)
    assert isinstance(plan, Project)
    return plan


def texts(expressions: Sequence[Expression]) -> list[str | None]:
    return [spark_expression(each, SESSION) for each in expressions]


def test_all_of_them_run_in_spark() -> None:
    found = zip(EXPRESSIONS, texts(validated().expressions), strict=True)
    assert [expression for expression, text in found if text is None] == []


def test_spark_has_the_values_of_the_expression_compiler() -> None:
    plan, batch = validated(), rows()
    spark = session_for(JobPlan(JobSettings("expressions", 2, mode="BATCH")))
    for key, value in _CONFIGURATION.items():
        spark.conf.set(key, value)
    named = [f"{text} AS c{index}" for index, text in enumerate(texts(plan.expressions))]
    frame = spark.createDataFrame(pa.Table.from_batches([to_spark(batch, plan.input.schema)]))
    found = from_spark(frame.coalesce(1).selectExpr(*named).toArrow().combine_chunks().to_batches()[0], plan.schema)
    expected = compile_expressions(plan.expressions, SESSION)(batch)
    for expression, column, reference in zip(EXPRESSIONS, found.columns, expected, strict=True):
        differences = [
            (row, given, wanted)
            for row, given, wanted in zip(batch.to_pylist(), column.to_pylist(), list_of(reference, batch), strict=True)
            if given != wanted
        ]
        assert differences == [], expression


def list_of(column: Any, batch: pa.RecordBatch) -> list[Any]:
    """Return the values of a column of an expression; a constant stands for all rows."""
    return [column.as_py()] * batch.num_rows if isinstance(column, pa.Scalar) else column.to_pylist()
