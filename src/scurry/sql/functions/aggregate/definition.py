"""The contract of aggregate functions: their definitions and properties, and accumulators over columns.

The state of an aggregate is a few columns with a row per group. Three steps make a result of rows: `partial` makes
states of rows, `merge` makes one state of several, `result` makes values of states. So rows may be aggregated where
they are, and only states need to be kept or sent. `retract` makes states that take rows back.

Planner and operators decide by properties, not by names: those of a function for all calls (`AggregateProperties`),
those of an accumulator for one call (`Additive`, `Selecting`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import pyarrow.compute as pc

from scurry._dataclasses import dataclass
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


class Accumulator(ABC):
    """Aggregates the rows of groups.

    Attributes:
        retractable: Whether states can take rows back: `retract` returns what to merge with them.
    """

    retractable: ClassVar[bool] = False

    @abstractmethod
    def partial(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        """Return the state of each group of rows.

        Args:
            columns: The arguments; none for COUNT(*).
            groups: For each row the number of its group.
            count: The number of groups; some may have no rows.

        Returns:
            The columns of the state, with `count` rows.
        """

    def retract(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        """Return for each group of rows the state that, merged with another, takes these rows back."""
        raise NotImplementedError(f"states of {type(self).__name__} cannot take rows back")

    @abstractmethod
    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        """Return one state for each group of states, in their order."""

    @abstractmethod
    def result(self, states: Sequence[Column]) -> Column:
        """Return the value of each state."""

    def compared(self, states: Sequence[Column], values: Column) -> list[Column]:
        """Return the columns by which Flink decides whether a group has changed: the values, unless it splits them."""
        return [values]


class Additive(Accumulator):
    """An accumulator whose states are numbers; merging adds them, so negative ones take rows back."""

    retractable: ClassVar[bool] = True

    def retract(self, columns: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        """Return the negated states."""
        return [pc.negate(each) for each in self.partial(columns, groups, count)]


class Selecting(Accumulator):
    """An accumulator whose value, and state, is that of the first of the rows with the greatest rank."""

    @abstractmethod
    def ranks(self, column: Column, heads: Groups) -> Groups:
        """Return a number for each value, the least one for NULL.

        Args:
            column: The values of some groups, one group after the other.
            heads: The positions where the groups begin.
        """

    def replaces(self, new: Column, kept: Column) -> Groups | None:
        """Return which values replace others at the same positions; None if two values alone do not tell."""
        return None

    def merge(self, states: Sequence[Column], groups: Groups, count: int) -> list[Column]:
        return self.partial(states, groups, count)

    def result(self, states: Sequence[Column]) -> Column:
        return states[0]


@dataclass(frozen=True, kw_only=True)
class AggregateProperties:
    """Properties of an aggregate function. There are no defaults: every function declares all of them.

    Attributes:
        mergeable: Whether Flink merges states of parts of a group, in a local phase and in slices of windows.
        order_free: Whether the value does not depend on the order of the rows, but for rounding and NaN.
        distinct_free: Whether the value is the same with DISTINCT.
        selects_value: Whether the value is that of one of the rows: the accumulators are `Selecting`.
        is_value_of_one_row: Whether the planner takes the argument for the value of a single row, as Calcite does.
        is_constant_of_nothing: Whether the planner takes `value_of_nothing` where there are no rows, as Calcite does.
        growth: 1 if more rows only make the value greater, -1 if only less, 0 otherwise.
    """

    mergeable: bool
    order_free: bool
    distinct_free: bool
    selects_value: bool
    value_of_nothing: Any
    is_value_of_one_row: bool
    is_constant_of_nothing: bool
    growth: int


#: Of the functions that a program defines. Flink supposes that their value of no rows is NULL.
USER_DEFINED = AggregateProperties(
    mergeable=True,
    order_free=False,
    distinct_free=False,
    selects_value=False,
    value_of_nothing=None,
    is_value_of_one_row=False,
    is_constant_of_nothing=False,
    growth=0,
)


class PlaceFunction(Enum):
    """Kind of a function whose value depends on the place of a row in its partition."""

    NUMBER = "number"
    FRACTION = "fraction"
    TILE = "tile"
    OFFSET = "offset"


@dataclass(frozen=True)
class Partitions:
    """Rows sorted by partition and order.

    Attributes:
        row: The position of each row.
        start: For each row where its partition begins.
        end: For each row where its partition has ended.
        peer_start: For each row where the rows of the same order begin.
        peer_end: For each row where they have ended.
    """

    row: Groups
    start: Groups
    end: Groups
    peer_start: Groups
    peer_end: Groups


class BatchState(Enum):
    """Flink's state of an aggregate in BATCH, for EXPLAIN."""

    #: A row, which hash maps keep where its types are of fixed length.
    ROW = "row"
    #: An object, for which rows are sorted.
    OBJECT = "object"
    #: An object for all rows of a group: none is made of a part of them.
    WHOLE = "whole"


@dataclass(frozen=True)
class AggregateFunction:
    """A function of the rows of a group.

    Attributes:
        name: Its name, in upper case.
        infer: Returns the types it is called with, or raises SignatureError.
        make: Returns its accumulator for a call; the site has the types that `infer` asked for. None for a function
            of `place`.
        properties: What planner and operators may do with it.
        aliases: Other names.
        state_names: Flink's names of the columns of its state, in EXPLAIN; empty for one of the function's name.
        retractable_state_names: The same where rows may be taken back; empty for the same names.
        batch_state: Flink's state in BATCH, for EXPLAIN.
        null_arguments: The places of arguments that may be the literal NULL.
        takes_null_treatment: Whether IGNORE NULLS may follow.
        place: Kind of a function that only OVER knows, as its value depends on the place of a row.
        at_places: Returns the values of such a function from its arguments and the sorted rows.
        needs_order: Whether OVER needs ORDER BY, as for RANK.
        looks_ahead: Whether a value depends on later rows, so that STREAMING has no such function.
    """

    name: str
    infer: Callable[[AggregateSite], Signature]
    make: Callable[[AggregateSite, DataType], Accumulator] | None
    properties: AggregateProperties
    aliases: tuple[str, ...] = ()
    state_names: tuple[str, ...] = ()
    retractable_state_names: tuple[str, ...] = ()
    batch_state: BatchState = BatchState.ROW
    null_arguments: frozenset[int] = frozenset()
    takes_null_treatment: bool = False
    place: PlaceFunction | None = None
    at_places: Callable[[Sequence[Column], Partitions], Column] | None = None
    needs_order: bool = False
    looks_ahead: bool = False

    @property
    def is_ranking(self) -> bool:
        """Return whether it depends on the place of a row only, so that it takes no frame."""
        return self.place is not None and self.place is not PlaceFunction.TILE
