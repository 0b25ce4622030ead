"""Keys and aggregates of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.dataframe._frame.base import FrameBase, as_expression, column_of
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.table.expression import Expression


def checked_keys(keys: Sequence[Any]) -> list[Expression]:
    """Return the expressions of grouping keys.

    Raises:
        TypeError: One is neither a name nor an expression.
        ValueError: No one is given.
    """
    if not keys:
        raise ArgumentError("group_by() requires at least one grouping key")
    if not all(isinstance(each, str | Expression) for each in keys):
        raise ArgumentTypeError("group_by() grouping keys must be strings or expressions")
    return list(map(as_expression, keys))


def checked_aggregates(aggs: Sequence[Any], named: dict[str, Any]) -> list[Expression]:
    """Return aggregates, those by name with their alias.

    Raises:
        TypeError: One is no expression.
        ValueError: No one is given.
    """
    if not aggs and not named:
        raise ArgumentError("agg() requires at least one aggregation")
    if not all(isinstance(each, Expression) for each in (*aggs, *named.values())):
        raise ArgumentTypeError("agg() aggregations must be expressions")
    return [*aggs, *(each.alias(name) for name, each in named.items())]


def aggregated(frame: FrameBase, keys: Sequence[Expression], aggregates: Sequence[Expression]) -> Any:
    """Return the table with a row for each group: its keys, then aggregates.

    Args:
        frame: The rows.
        keys: The keys; those that are neither columns nor named are named by their place.
        aggregates: The aggregates.
    """
    named = [
        each if each._names or column_of(each) is not None else each.alias(f"_c{place}")
        for place, each in enumerate(keys)
    ]
    chosen = [as_expression(each._names[0]) if each._names else each for each in named]
    return frame._table.group_by(*named).select(*chosen, *aggregates)
