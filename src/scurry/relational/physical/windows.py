"""Nodes of windows in STREAMING, and what is known of windows among the columns of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from scurry.logical_types import DataType
from scurry.relational.expressions import AggregateCall, InputReference
from scurry.relational.plan import Aggregate, Filter, OneInput, Over, Plan, Project, WindowTable
from scurry.relational.schema import Schema

__all__ = ["Window", "WindowAggregate", "WindowProperties", "window_of", "window_properties"]

_COLUMNS = ("start", "end", "time")


@dataclass(frozen=True)
class Window:
    """How a point of time belongs to windows.

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


@dataclass(frozen=True)
class WindowProperties:
    """Which columns of a plan are the bounds of a window that each row belongs to.

    Attributes:
        window: The window.
        columns: The positions of such columns, with what they are: start, end or time.
    """

    window: Window
    columns: Mapping[int, str]

    def is_grouped_by(self, keys: tuple[int, ...]) -> bool:
        """Say whether start and end of the window are among some columns."""
        return {"start", "end"} <= {self.columns[key] for key in keys if key in self.columns}


@dataclass(frozen=True)
class WindowAggregate(OneInput):
    """One row per group of rows and window, when the window is complete.

    The columns are the keys, those of the window, then the aggregates.

    Attributes:
        window: The windows.
        end: Position of the column that is the end of a row's window.
        keys: Positions of the columns that are grouped by, without those of the window.
        calls: The aggregates; their arguments are columns of the input.
        names: Names of the aggregates.
        window_columns: Columns of the window with their positions in the input.
    """

    window: Window
    end: int
    keys: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    names: tuple[str, ...]
    window_columns: tuple[tuple[int, str], ...]

    @cached_property
    def schema(self) -> Schema:
        return self.aggregate.schema

    @property
    def aggregate(self) -> Aggregate:
        """The same as an aggregate of rows that have the columns of their window."""
        keys = (*self.keys, *(place for place, _ in self.window_columns))
        return Aggregate(self.input, keys, self.calls, self.names, (tuple(range(len(keys))),))


def window_properties(plan: Plan) -> WindowProperties | None:
    """Return which columns of a plan are those of a window; None if there is no window."""
    if isinstance(plan, WindowTable):
        width = len(plan.input.schema)
        columns = {width + place: name for place, name in enumerate(_COLUMNS)}
        return WindowProperties(window_of(plan), columns)
    if isinstance(plan, WindowAggregate):
        width = len(plan.keys)
        return WindowProperties(
            plan.window, {width + place: name for place, (_, name) in enumerate(plan.window_columns)}
        )
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
    return window_properties(plan.input) if isinstance(plan, Filter | Over) else None


def window_of(plan: WindowTable) -> Window:
    """Return the windows that a function assigns."""
    return Window(plan.kind, plan.size, plan.slide, plan.offset, plan.input.schema[plan.time].type)
