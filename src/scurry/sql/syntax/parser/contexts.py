"""The context of an expression: a query, a value, or both are allowed. The names are those of Calcite's parser."""

from __future__ import annotations

import enum


class Context(enum.Enum):
    """Kinds of expressions that a position allows."""

    ALL = 0
    NONCURSOR = 1
    QUERY = 2
    NON_QUERY = 3
    # A query only in parentheses of its own.
    SUB_QUERY = 4
    CURSOR = 5

    def in_parentheses(self) -> Context:
        """Return the context in parentheses at such a position."""
        if self is Context.SUB_QUERY:
            return Context.NONCURSOR
        return Context.ALL if self is Context.CURSOR else self

    @property
    def takes_query(self) -> bool:
        """Return whether a query may stand here without parentheses."""
        return self not in (Context.NON_QUERY, Context.SUB_QUERY, Context.CURSOR)
