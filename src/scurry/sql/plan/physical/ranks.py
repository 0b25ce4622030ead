"""The first rows of an order, in STREAMING: Top-N, ORDER BY with LIMIT, deduplication, and sorting by time."""

from __future__ import annotations

from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.nodes import OneInput, SortKey
from scurry.sql.plan.schema import Column, Schema


@dataclass(frozen=True)
class Rank(OneInput):
    """The rows of each partition whose number in an order is in a range.

    The columns are those of the input, then the number if there is a column for it.

    Attributes:
        partition_by: Positions of the columns of a partition.
        order_by: The order; rows that are equal in it have that of their arrival.
        start: The first number.
        end: The last number.
        end_column: Position of the column that says the last number, in the first row of a partition; None if `end`
            does.
        strategy: What its input does: AppendFastStrategy, rows are only added; UpdateFastStrategy, rows are updated to
            better places only; RetractStrategy, anything.
        update_key: Columns that identify a row for UpdateFastStrategy.
        is_limit: Whether the statement says it with LIMIT.
    """

    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    start: int
    end: int
    end_column: int | None = None
    number: Column | None = None
    strategy: str = "RetractStrategy"
    update_key: tuple[int, ...] = ()
    is_limit: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema if self.number is None else Schema((*self.input.schema, self.number))


@dataclass(frozen=True)
class Deduplicate(OneInput):
    """The first or the last row of each key by time.

    Attributes:
        keys: Positions of the columns of the key.
        time: Position of the time column.
        has_event_time: Whether that is event time; otherwise rows are in the order of their arrival.
        keep_last: Whether the last row is kept.
    """

    keys: tuple[int, ...]
    time: int
    has_event_time: bool
    keep_last: bool


@dataclass(frozen=True)
class TemporalSort(OneInput):
    """The rows in an order that begins with time.

    Attributes:
        has_event_time: Whether the time is event time; otherwise it is processing time.
    """

    keys: tuple[SortKey, ...]
    has_event_time: bool
