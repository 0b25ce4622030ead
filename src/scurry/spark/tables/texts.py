"""Texts of Spark's SQL that several nodes have: lists of columns, conditions of joins, orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scurry.spark.tables.columns import Names
from scurry.spark.tables.types import column_name
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.join_keys import EqualColumns
from scurry.sql.types import DoubleType, FloatType

FLOATS: Final = (FloatType, DoubleType)
#: Spark's tables have at least one column.
NO_COLUMN = "CAST(NULL AS BOOLEAN) AS `rows`"


def equal_keys(one: str, other: str, keys: EqualColumns) -> str:
    """Return the condition of a join by keys; NaN, which Spark takes for equal to itself, equals nothing."""
    is_floating = isinstance(keys.left.type, FLOATS)
    if keys.null_equals_null:
        return f"{one} <=> {other} AND NOT isnan({one})" if is_floating else f"{one} <=> {other}"
    return f"{f'CASE WHEN isnan({one}) THEN NULL ELSE {one} END' if is_floating else one} = {other}"


def named(texts: Sequence[str]) -> str:
    """Return the list of a SELECT: texts named by position."""
    return ", ".join(f"{text} AS {column_name(index)}" for index, text in enumerate(texts)) or NO_COLUMN


def names_of_sides(width: int) -> Names:
    """Return names of the columns of a join whose left side has a width."""
    return lambda index: f"l.{column_name(index)}" if index < width else f"r.{column_name(index - width)}"


def order(key: nodes.SortKey) -> str:
    """Return one key of an ORDER BY."""
    direction, nulls = "DESC" if key.descending else "ASC", "FIRST" if key.nulls_first else "LAST"
    return f"{column_name(key.index)} {direction} NULLS {nulls}"
