"""Report of a task to the driver after a micro-batch, besides the committables of its sinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.runtime.state.store import StateSize

#: A sender that holds a watermark back: its task, its subtask and its watermark.
HeldBack = tuple[int, int, int]


@dataclass(frozen=True)
class ChannelProgress:
    """Position of a channel of a source.

    Attributes:
        watermark: Its watermark, None if the source is not aligned with others.
        record_bytes: Mean size of the records read in this batch, None if unknown.
        lags: Metric -> by how much something is behind the clock, in milliseconds.
    """

    watermark: int | None = None
    record_bytes: float | None = None
    lags: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DeadLetterSample:
    """A record that went to dead letters, as text.

    Attributes:
        record: The record, shortened.
        error: Name of the exception's class.
        message: The exception's message.
        place: Of a source, where it was read; else None.
        line: Of a source, the line there; else None.
    """

    operator: int
    record: str
    error: str
    message: str
    place: str | None = None
    line: int | None = None


@dataclass
class TaskReport:
    """The report of a task. Operators and sources are named by their numbers in the plan.

    Attributes:
        counters: (operator or source, metric) -> what to add to one of scurry's own counters.
        user_metrics: (operator, metric) -> the report of a user's metric, see `functions/metrics.py`.
        schemas: Operator -> the schemas of states it has registered since the last report, by state name.
        state: Head operator -> how much state it has, if that has changed.
        watermarks: Head operator -> its watermark, if that has risen.
        held_back: Head operator -> what it waits for, if it got records but its watermark stands still.
        channels: (source, channel) -> its progress.
        dead_letters: Some of the records that went to dead letters, few of them.
        notes: Texts to show to the user, once per job however many tasks report them.
    """

    counters: dict[tuple[int, str], int] = field(default_factory=dict)
    user_metrics: dict[tuple[int, str], tuple[Any, ...]] = field(default_factory=dict)
    schemas: dict[int, dict[str, Any]] = field(default_factory=dict)
    state: dict[int, StateSize] = field(default_factory=dict)
    watermarks: dict[int, int] = field(default_factory=dict)
    held_back: dict[int, HeldBack] = field(default_factory=dict)
    channels: dict[tuple[int, int], ChannelProgress] = field(default_factory=dict)
    dead_letters: list[DeadLetterSample] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(vars(self).values())
