"""Definitions of aggregate functions, and the accumulators that aggregate groups of rows over columns.

The state of an aggregate is a few columns with a row per group. Three steps make a result of rows: `partial` makes
states of rows, `merge` makes one state of several, `result` makes values of states. So rows may be aggregated where
they are, and only states need to be kept or sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from scurry.sql.functions.definition import CallSite, Signature
from scurry.sql.types import DataType

#: A column of Arrow.
Column = Any
#: For each row the number of its group.
Groups = np.ndarray[Any, Any]


@dataclass(frozen=True)
class AggregateSite(CallSite):
    """A place where an aggregate is called.

    Attributes:
        is_grouped: Whether every group has a row, as with GROUP BY; otherwise an empty input is a group, too.
        is_over: Whether it is called with OVER.
        absent_on_null: For JSON_OBJECTAGG and JSON_ARRAYAGG: whether NULL is left out.
    """

    is_grouped: bool = False
    is_over: bool = False
    absent_on_null: bool = False


class Accumulator(Protocol):
    """Aggregates the rows of groups."""

    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        """Return the state of each group of rows.

        Args:
            columns: The arguments; none for COUNT(*).
            groups: For each row the number of its group.
            count: The number of groups; some may have no rows.

        Returns:
            The columns of the state, with `count` rows.
        """

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        """Return one state for each group of states, in their order."""

    def result(self, states: Sequence[Column]) -> Column:
        """Return the value of each state."""


@dataclass(frozen=True)
class AggregateFunction:
    """A function of the rows of a group.

    Attributes:
        name: Its name, in upper case.
        infer: Returns the types it is called with, or raises SignatureError.
        make: Returns its accumulator for a call; the site has the types that `infer` asked for. None for a function
            that only OVER knows, as its value depends on the place of a row.
        aliases: Other names.
        needs_order: Whether OVER needs ORDER BY, as for RANK.
    """

    name: str
    infer: Callable[[AggregateSite], Signature]
    make: Callable[[AggregateSite, DataType], Accumulator] | None
    aliases: tuple[str, ...] = ()
    needs_order: bool = False
