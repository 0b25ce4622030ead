"""The context of an expression: a query, a value, or both are allowed. The names are those of Calcite's parser."""

from __future__ import annotations

import enum


class Context(enum.Enum):
    """Which expressions are allowed at a position."""

    ALL = 0
    NONCURSOR = 1
    QUERY = 2
    NON_QUERY = 3
    # A query only in parentheses of its own.
    SUB_QUERY = 4
    CURSOR = 5

    def in_parentheses(self) -> Context:
        """Return what may stand in parentheses at such a place."""
        if self is Context.SUB_QUERY:
            return Context.NONCURSOR
        return Context.ALL if self is Context.CURSOR else self

    @property
    def takes_query(self) -> bool:
        """Whether a query may stand here without parentheses."""
        return self not in (Context.NON_QUERY, Context.SUB_QUERY, Context.CURSOR)
