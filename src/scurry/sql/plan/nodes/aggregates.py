"""Nodes that aggregate rows by group or by the rows around them, and the windows that group them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import AggregateCall, InputReference
from scurry.sql.plan.nodes.base import OneInput
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.plan.windows import WindowCall
from scurry.sql.types import DataType


def set_numbers(grouping_sets: Sequence[Sequence[int]], keys: int) -> tuple[int, ...]:
    """Return the number of each grouping set: a bit per key, the last key's the lowest, set if the key is left out.

    Args:
        grouping_sets: The places of the keys of each set.
        keys: How many keys there are.
    """
    return tuple(sum(1 << (keys - 1 - place) for place in range(keys) if place not in each) for each in grouping_sets)


@dataclass(frozen=True)
class Aggregate(OneInput):
    """One row per group of rows, for each of the grouping sets.

    The columns are the keys, the grouping set's number if there is a column for it, then the aggregates.
    A key that is not part of a grouping set is NULL in its rows.

    Attributes:
        keys: Positions of the columns that are grouped by.
        calls: The aggregates; their arguments are columns of the input.
        grouping_sets: Each a subset of the keys' places among the keys; a single set of all of them is GROUP BY.
        grouping_id: Type of the column of `set_numbers`, which say what keys are left out, or None.
        state_ttl: Milliseconds after which STREAMING forgets a group, as a hint says; None as the session.
    """

    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    names: tuple[str, ...]
    grouping_sets: tuple[tuple[int, ...], ...]
    grouping_id: DataType | None = None
    state_ttl: int | None = None

    @property
    def is_simple(self) -> bool:
        """Return whether there is one grouping set, of all keys."""
        return self.grouping_sets == (tuple(range(len(self.keys))),)

    @cached_property
    def schema(self) -> Schema:
        columns = []
        for place, key in enumerate(self.keys):
            column = self.input.schema[key]
            everywhere = all(place in grouping for grouping in self.grouping_sets)
            columns.append(column if everywhere else Column(column.name, column.type.nullable()))
        calls = [Column(name, call.type) for name, call in zip(self.names, self.calls, strict=True)]
        identifier = [] if self.grouping_id is None else [Column("$e", self.grouping_id)]
        return Schema((*columns, *identifier, *calls))


@dataclass(frozen=True)
class TableAggregate(OneInput):
    """The rows that a table aggregate function makes of each group of rows.

    The columns are the keys, then those of the function.

    Attributes:
        keys: Positions of the columns that are grouped by.
        call: The call of the function; its arguments are columns of the input.
        function_schema: The additional columns.
    """

    keys: tuple[int, ...]
    call: AggregateCall
    function_schema: Schema

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema.select(self.keys) + self.function_schema

    @property
    def arguments(self) -> tuple[int, ...]:
        """The positions of the columns that the function is called with."""
        return tuple(each.index for each in self.call.arguments if isinstance(each, InputReference))


@dataclass(frozen=True)
class WindowTable(OneInput):
    """Each row with the windows it belongs to: the functions TUMBLE, HOP, CUMULATE and SESSION.

    The columns are those of the input, then window_start, window_end and window_time.

    Attributes:
        time: Position of the time column.
        size: Length of the windows in milliseconds: the maximum for CUMULATE, the gap for SESSION.
        slide: Distance of windows of HOP, step of CUMULATE.
        offset: By how much windows are shifted.
        partition_by: Positions of the keys of SESSION; None for those of the aggregate above, as in GROUP BY.
        window_schema: The three additional columns.
    """

    kind: str
    time: int
    size: int
    slide: int | None
    offset: int
    partition_by: tuple[int, ...] | None
    window_schema: Schema

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema + self.window_schema


@dataclass(frozen=True)
class Over(OneInput):
    """Each row with aggregates over the rows around it.

    The columns are those of the input, then the aggregates.

    Attributes:
        calls: The aggregates; partitions, orders and arguments are columns of the input.
    """

    calls: tuple[WindowCall, ...]
    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema + Schema.of(self.names, (call.type for call in self.calls))
