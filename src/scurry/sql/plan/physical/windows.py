"""Nodes of windows in STREAMING, and the window properties of a plan's columns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import AggregateCall, InputReference
from scurry.sql.plan.nodes import Filter, OneInput, Over, Plan, Project, SortKey, WindowTable
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType

_COLUMNS = ("start", "end", "time")


@dataclass(frozen=True)
class Window:
    """A window assigner: the windows of a point of time.

    Attributes:
        kind: TUMBLE, HOP, CUMULATE or SESSION.
        size: Length of the windows in milliseconds: the maximum for CUMULATE, the gap for SESSION.
        slide: Distance of windows of HOP, step of CUMULATE.
        offset: By how much windows are shifted.
        time: Type of the time column that rows are assigned by.
    """

    kind: str
    size: int
    slide: int | None
    offset: int
    time: DataType

    @property
    def is_event_time(self) -> bool:
        """Return whether watermarks close windows; otherwise the clock does."""
        return not (isinstance(self.time, TimestampType | LocalZonedTimestampType) and self.time.is_proctime)

    @property
    def is_local(self) -> bool:
        """Return whether windows are aligned to the wall clock of the session's time zone."""
        return isinstance(self.time, LocalZonedTimestampType)


@dataclass(frozen=True)
class WindowProperties:
    """The columns of a plan that are the bounds of each row's window.

    Attributes:
        columns: The positions of such columns, with what they are: start, end or time.
    """

    window: Window
    columns: Mapping[int, str]

    def is_grouped_by(self, keys: tuple[int, ...]) -> bool:
        """Return whether start and end of the window are among some columns."""
        return {"start", "end"} <= {self.columns[key] for key in keys if key in self.columns}

    def end_among(self, keys: tuple[int, ...]) -> int:
        """Return which of some columns is the end of the window."""
        return next(key for key in keys if self.columns.get(key) == "end")


class Windowed:
    """Nodes whose rows have window columns, beside those that `window_properties` knows."""

    window: Window

    @property
    def window_columns(self) -> Mapping[int, str]:
        """The positions of such columns, with their kind: start, end or time."""
        raise NotImplementedError


@dataclass(frozen=True)
class WindowColumn:
    """A column of a window.

    Attributes:
        name: What it is: start, end or time.
        column: Its name and type.
        position: Where it is in the input; None if rows are assigned to windows by the operator itself.
    """

    name: str
    column: Column
    position: int | None = None


@dataclass(frozen=True)
class WindowAggregate(OneInput):
    """One row per group of rows and window, when the window is complete.

    The columns are the keys, those of the window, the grouping set's number if there is a column for it, then the
    aggregates.

    Attributes:
        attached: Whether rows have the columns of their window. Otherwise the operator assigns them to windows.
        time: Position of the time column, or of the end of the window if it is attached.
        keys: Positions of the columns that are grouped by, without those of the window.
        calls: The aggregates; their arguments are columns of the input.
        grouping_sets: Each a subset of the keys' places among the keys; all have the columns of the window.
        set_numbers: The number of each grouping set among all keys that were written, those of the window included.
        grouping_id: Type of the column of the grouping set's number, or None.
    """

    window: Window
    attached: bool
    time: int
    keys: tuple[int, ...]
    columns: tuple[WindowColumn, ...]
    calls: tuple[AggregateCall, ...]
    names: tuple[str, ...]
    grouping_sets: tuple[tuple[int, ...], ...]
    set_numbers: tuple[int, ...]
    grouping_id: DataType | None = None

    @cached_property
    def schema(self) -> Schema:
        keys = []
        for place, key in enumerate(self.keys):
            column = self.input.schema[key]
            everywhere = all(place in grouping for grouping in self.grouping_sets)
            keys.append(column if everywhere else Column(column.name, column.type.nullable()))
        calls = [Column(name, call.type) for name, call in zip(self.names, self.calls, strict=True)]
        identifier = [] if self.grouping_id is None else [Column("$e", self.grouping_id)]
        return Schema((*keys, *(each.column for each in self.columns), *identifier, *calls))


@dataclass(frozen=True)
class GroupWindowAggregate(OneInput):
    """One row per group of rows and window of GROUP BY, as EXPLAIN shows it; `WindowAggregate` is executed.

    The columns are the keys, the aggregates, then those of the window.

    Attributes:
        time: Position of the time column.
        keys: Positions of the columns that are grouped by, without the window.
        calls: The aggregates; their arguments are columns of the input.
        properties: The columns of the window: start, end, rowtime, proctime.
    """

    window: Window
    time: int
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    names: tuple[str, ...]
    properties: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        time = self.input.schema[self.time].type
        calls = Schema.of(self.names, (call.type for call in self.calls))
        window = Schema.of((f"w${each}" for each in self.properties), [time] * len(self.properties))
        return self.input.schema.select(self.keys) + calls + window


@dataclass(frozen=True)
class SessionTable(OneInput):
    """Each row with the session it belongs to, when the session is complete.

    The columns are those of the input, then those of the window.

    Attributes:
        time: Position of the time column.
        keys: Positions of the columns whose values have sessions of their own.
        window_schema: The columns window_start, window_end and window_time.
    """

    window: Window
    time: int
    keys: tuple[int, ...]
    window_schema: Schema

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema + self.window_schema


@dataclass(frozen=True)
class WindowRank(OneInput):
    """The first rows of each window and partition, when the window is complete.

    The columns are those of the input, then the number of the row if it has a name.

    Attributes:
        end: Position of the end of a row's window.
        keys: Positions of the columns that rows are partitioned by, with those of the window.
        order: What the rows of a partition are sorted by.
        first: Number of the first row that is kept, from 1.
        number: Name and type of the number of the row; None if it is not asked for.
    """

    window: Window
    end: int
    keys: tuple[int, ...]
    order: tuple[SortKey, ...]
    first: int
    last: int
    number: Column | None

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema if self.number is None else self.input.schema + Schema((self.number,))


@dataclass(frozen=True)
class WindowDeduplicate(WindowRank):
    """The first or the last row of each window and partition by time."""


def window_properties(plan: Plan) -> WindowProperties | None:
    """Return which columns of a plan are those of a window; None if there is no window."""
    if isinstance(plan, WindowTable | SessionTable):
        window = plan.window if isinstance(plan, SessionTable) else window_of(plan)
        width = len(plan.input.schema)
        return WindowProperties(window, {width + place: name for place, name in enumerate(_COLUMNS)})
    if isinstance(plan, WindowAggregate):
        width = len(plan.keys)
        return WindowProperties(plan.window, {width + place: each.name for place, each in enumerate(plan.columns)})
    if isinstance(plan, Project):
        below = window_properties(plan.input)
        if below is None:
            return None
        found = {
            place: below.columns[each.index]
            for place, each in enumerate(plan.expressions)
            if isinstance(each, InputReference) and each.index in below.columns
        }
        return WindowProperties(below.window, found)
    if isinstance(plan, Windowed):
        return WindowProperties(plan.window, plan.window_columns)
    return window_properties(plan.input) if isinstance(plan, Filter | Over | WindowRank) else None


def window_of(plan: WindowTable) -> Window:
    """Return the windows that a function assigns."""
    return Window(plan.kind, plan.size, plan.slide, plan.offset, plan.input.schema[plan.time].type)
