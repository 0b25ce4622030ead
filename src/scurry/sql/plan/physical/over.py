"""Aggregates over the rows before each row, in STREAMING."""

from __future__ import annotations

from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import OneInput
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.windows import Frame, WindowCall
from scurry.sql.types import LocalZonedTimestampType, TimestampType


@dataclass(frozen=True)
class OverAggregate(OneInput):
    """Each row with aggregates over the rows before it and itself.

    The columns are those of the input, then the aggregates.

    Attributes:
        calls: The aggregates, all with the same partitions, order and frame; their arguments are columns of the input.
    """

    calls: tuple[WindowCall, ...]
    names: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema + Schema.of(self.names, (call.type for call in self.calls))

    @property
    def partition_by(self) -> tuple[int, ...]:
        """Positions of the columns that are equal in all rows that a row sees."""
        return tuple(each.index for each in self.calls[0].partition_by if isinstance(each, InputReference))

    @property
    def time(self) -> int:
        """Position of the column that the rows are ordered by."""
        column = self.calls[0].order_by[0].expression
        assert isinstance(column, InputReference), "rows are ordered by a column"
        return column.index

    @property
    def frame(self) -> Frame:
        return self.calls[0].frame

    @property
    def has_event_time(self) -> bool:
        """Return whether the rows are ordered by event time."""
        kind = self.input.schema[self.time].type
        return isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.is_rowtime

    @property
    def is_unbounded(self) -> bool:
        """Return whether a row sees all rows before it."""
        return self.frame.lower.kind == "UNBOUNDED PRECEDING"


@dataclass(frozen=True)
class NonTimeOverAggregate(OverAggregate):
    """The same, ordered by a column that is no time: a row changes the values of the rows behind it."""
