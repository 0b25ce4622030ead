"""Columns, several of them, and the bounds of windows of `Over`."""

from __future__ import annotations

from typing import Any

from scurry.sql.syntax import nodes
from scurry.table._expression.syntax import here
from scurry.table.expression import Expression, call_of, expression_of

#: Bounds of the windows of `Over`.
UNBOUNDED_ROW = Expression(nodes.Identifier(("UNBOUNDED_ROW",)))

UNBOUNDED_RANGE = Expression(nodes.Identifier(("UNBOUNDED_RANGE",)))

CURRENT_ROW = Expression(nodes.Identifier(("CURRENT_ROW",)))

CURRENT_RANGE = Expression(nodes.Identifier(("CURRENT_RANGE",)))


def col(name: str) -> Expression:
    """Return a column.

    Args:
        name: Its name; `*` stands for all columns.
    """
    if name == "*":
        return with_all_columns()
    return Expression(nodes.Identifier((name,), span=here()))


def with_all_columns() -> Expression:
    """Select all columns."""
    return Expression(nodes.Star(span=here()))


def with_columns(head: Any, *tails: Any) -> Expression:
    """Select columns.

    Args:
        head: The first: a column, its place from 1, or a range of `range_`.
        *tails: The others.

    Example:
        ```python
        table.select(with_columns(range_(1, 3), col("z")))
        ```
    """
    return call_of("WITH_COLUMNS", head, *tails)


def without_columns(head: Any, *tails: Any) -> Expression:
    """Select all columns but some.

    Args:
        head: The first that is left out: a column, its place from 1, or a range of `range_`.
        *tails: The others.
    """
    return call_of("WITHOUT_COLUMNS", head, *tails)


def range_(start: str | int, end: str | int) -> Expression:
    """Return the columns from one to another, for `with_columns` and `without_columns`.

    Args:
        start: The first: its name, or its place from 1.
        end: The last.
    """
    first, last = (col(each) if isinstance(each, str) else expression_of(each) for each in (start, end))
    return call_of("RANGE_TO", first, last)


def descriptor(*column_names: str) -> Expression:
    """Return names of columns, as an argument of a function.

    Args:
        *column_names: The names.
    """
    return Expression(nodes.Descriptor(tuple(nodes.Identifier((name,)) for name in column_names), span=here()))


def row_interval(rows: int) -> Expression:
    """Return a number of rows, as the size of a window.

    Args:
        rows: How many.
    """
    return call_of("ROW_INTERVAL", rows)
