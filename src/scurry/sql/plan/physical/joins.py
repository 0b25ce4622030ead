"""Nodes of joins in STREAMING."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import ClassVar

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Expression
from scurry.sql.plan.nodes import OneInput, Scan, TwoInputs, joined_schema
from scurry.sql.plan.nodes.joins import LookupRetry
from scurry.sql.plan.physical.windows import Window, Windowed
from scurry.sql.plan.schema import Schema
from scurry.sql.types.families import without_time_attribute


@dataclass(frozen=True)
class JoinKey:
    """A column of each side that are equal in a pair.

    Attributes:
        left: Position in the left side.
        right: Position in the right side.
        null_equals_null: Whether NULL equals NULL.
    """

    left: int
    right: int
    null_equals_null: bool


@dataclass(frozen=True)
class StreamingJoin(TwoInputs):
    """Pairs of rows, found by key.

    Attributes:
        operator: Flink's name of the operator.
        kind: INNER, LEFT, RIGHT, FULL, SEMI or ANTI. SEMI and ANTI have the columns of the left side only.
        keys: What is equal in each pair.
        rest: The other conditions on a pair, over the columns of both sides, or None.
        written: All conditions as they are written, for EXPLAIN; None in plans that are executed.
    """

    operator: ClassVar[str]

    kind: str
    keys: tuple[JoinKey, ...]
    rest: Expression | None
    written: Expression | None = field(default=None, kw_only=True)

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.left.schema, self.right.schema, self.kind)

    @property
    def details(self) -> tuple[str, ...]:
        """Return EXPLAIN's details between the kind and the conditions."""
        return ()

    @property
    def shown_after(self) -> tuple[str, ...]:
        """Return EXPLAIN's details after the columns."""
        return ()


@dataclass(frozen=True)
class EventTimeTemporalJoin(StreamingJoin):
    """Each left row with the version of the right side at the left row's time, when all rows until then are there.

    Attributes:
        left_time: Position of the time in the left side.
        right_time: Position of the time from which a right row is valid.
    """

    operator = "TemporalJoin"

    left_time: int
    right_time: int


@dataclass(frozen=True)
class IntervalJoin(StreamingJoin):
    """Pairs of rows whose times are not far from each other.

    Attributes:
        left_time: Position of the time in the left side.
        right_time: Position of the time in the right side.
        lower: The least difference of the left time from the right one, in milliseconds.
        upper: The greatest difference.
        event_time: Whether times are rowtimes; otherwise they are processing times.
    """

    operator = "IntervalJoin"

    left_time: int
    right_time: int
    lower: int
    upper: int
    event_time: bool

    @property
    def details(self) -> tuple[str, ...]:
        bounds = (
            f"isRowTime={str(self.event_time).lower()}, leftLowerBound={self.lower}, leftUpperBound={self.upper}, "
            f"leftTimeIndex={self.left_time}, rightTimeIndex={self.right_time}"
        )
        return (f"windowBounds=[{bounds}]",)


@dataclass(frozen=True)
class WindowJoin(StreamingJoin, Windowed):
    """Pairs of rows of the same window, when the window is complete.

    Attributes:
        left_window: Positions of start and end of the window in the left side.
    """

    operator = "WindowJoin"

    window: Window
    left_window: tuple[int, int]
    right_window: tuple[int, int]

    @property
    def window_columns(self) -> Mapping[int, str]:
        """Start and end of the window in the sides of which every pair has a row."""
        names, width = ("start", "end"), len(self.left.schema)
        left = dict(zip(self.left_window, names, strict=True))
        right = dict(zip((place + width for place in self.right_window), names, strict=True))
        has_left, has_right = self.kind not in ("RIGHT", "FULL"), self.kind in ("INNER", "RIGHT")
        return {**(left if has_left else {}), **(right if has_right else {})}


@dataclass(frozen=True)
class RegularJoin(StreamingJoin):
    """Pairs of all rows there are, which come and go with the rows of both sides.

    Attributes:
        left_unique: Columns that identify a left row among those with the same keys; None if no columns do.
        right_unique: The same of the right side.
        state_ttl: Milliseconds after which rows of each side are forgotten; None as the session.
    """

    operator = "Join"

    left_unique: tuple[int, ...] | None
    right_unique: tuple[int, ...] | None
    state_ttl: tuple[int | None, int | None] = (None, None)

    @cached_property
    def schema(self) -> Schema:
        # Pairs come in no order of time.
        columns = joined_schema(self.left.schema, self.right.schema, self.kind)
        return Schema.of(columns.names, map(without_time_attribute, columns.types))

    @property
    def shown_after(self) -> tuple[str, ...]:
        specs = (_unique_text(self.left_unique), _unique_text(self.right_unique))
        return (f"leftInputSpec=[{specs[0]}]", f"rightInputSpec=[{specs[1]}]")


def _unique_text(columns: tuple[int, ...] | None) -> str:
    if columns is None:
        return "NoUniqueKey"
    return "HasUniqueKey" if columns else "JoinKeyContainsUniqueKey"


@dataclass(frozen=True)
class LookupJoin(OneInput):
    """Each left row with the rows that a table has for its key when it is asked.

    Attributes:
        kind: INNER or LEFT.
        table: The table that is asked; only columns of it that are needed are among its columns.
        keys: Positions of columns of the left side, with those of the table's columns that they are equal to.
        condition: What holds for the rows of the table, over its columns; None for nothing.
        columns: The columns of the right side, over those of the table.
        right_schema: Their names and types.
        rest: The other conditions on a pair, over the columns of both sides, or None.
        retry: What is done for keys of which the table has no rows; None for nothing.
    """

    kind: str
    table: Scan
    keys: tuple[tuple[int, int], ...]
    condition: Expression | None
    columns: tuple[Expression, ...]
    right_schema: Schema
    rest: Expression | None
    retry: LookupRetry | None = None

    @cached_property
    def schema(self) -> Schema:
        return joined_schema(self.input.schema, self.right_schema, self.kind)
