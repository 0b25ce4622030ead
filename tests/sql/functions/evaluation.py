"""Evaluating expressions of SQL without tables."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax.parser import parse
from scurry.sql.types import DataType
from scurry.sql.types.values import to_value, to_values
from scurry.sql.validator import validate_expression
from scurry.sql.validator.catalog import CatalogReader

ONE_ROW = pa.record_batch({"one": pa.array([1])})


class NoTables(CatalogReader):
    """A catalog without tables and functions."""

    def find(self, names: tuple[str, ...]) -> None:
        return None

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return 1, f"Object '{names[0]}' not found"


def typed(text: str, schema: Schema | None = None, session: EvaluationContext | None = None) -> Expression:
    """Return the typed expression of a text."""
    query: Any = parse(f"SELECT {text}")
    return validate_expression(
        query.items[0].expression, schema or Schema(), NoTables(), session or EvaluationContext()
    )


def value(text: str, time_zone: str = "UTC") -> Any:
    """Return the value of an expression without columns, as `scurry.sql.types.values` describes it."""
    session = EvaluationContext(time_zone=time_zone)
    return to_value(compile_expressions([typed(text, session=session)], session)(ONE_ROW)[0][0])


def values(text: str, **columns: tuple[DataType, pa.Array]) -> list[Any]:
    """Return the values of an expression over columns."""
    schema = Schema(tuple(Column(name, data_type) for name, (data_type, _) in columns.items()))
    batch = pa.record_batch({name: array for name, (_, array) in columns.items()})
    return to_values(compile_expressions([typed(text, schema)], EvaluationContext())(batch)[0])
