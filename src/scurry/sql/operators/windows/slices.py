"""Slices of time, of which windows consist: rows are aggregated by slice, windows are merged of slices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.functions.time_zones import local_to_utc, utc_to_local, zone
from scurry.sql.plan.physical.windows import Window, WindowColumn
from scurry.sql.types.arrow import arrow_type

_HOUR = 3_600_000


class WindowClock:
    """The time that windows are aligned to, against that of watermarks: they differ for TIMESTAMP_LTZ."""

    def __init__(self, window: Window, time_zone: str) -> None:
        self._zone = time_zone if window.is_local and zone(time_zone) is not UTC else None

    def of_rows(self, times: Any) -> Any:
        """Return times of rows as windows see them."""
        return times if self._zone is None else utc_to_local(times, 1000, self._zone)

    def instants(self, times: Any) -> Any:
        """Return the points of time that are shown of times of windows."""
        return times if self._zone is None else local_to_utc(times, 1000, self._zone)

    def timer(self, time: int) -> int:
        """Return the watermark that reaches a time of windows, as Flink's TimeWindowUtil does at changes of clocks."""
        if self._zone is None:
            return time
        first, second = (int(each) for each in local_to_utc(np.array([time, time + _HOUR]), 1000, self._zone))
        if second - first > _HOUR:
            return second - _HOUR
        return first - first % _HOUR if first == second else first

    def reached(self, times: Any, watermark: int) -> Any:
        """Say which times of windows a watermark has reached."""
        if self._zone is None:
            return times <= watermark
        distinct, place = np.unique(times, return_inverse=True)
        timers = np.fromiter(map(self.timer, distinct.tolist()), np.int64, len(distinct))
        return (timers <= watermark)[place]


class Slices:
    """Division of rows by their time column, and the windows of a slice; a slice is known by its end.

    Windows that rows are attached to already are slices of their own.
    """

    def __init__(self, window: Window, attached: bool) -> None:
        self._window = window
        self._slide = window.size if window.slide is None else window.slide
        # Windows of HOP in GROUP BY may have a size that is no multiple of their slide.
        self._width = math.gcd(window.size, self._slide) if window.kind == "HOP" else self._slide
        self._attached = attached

    @property
    def latest_first(self) -> bool:
        """Return whether Flink merges the slices of a window from the last one to the first one."""
        return self._window.kind == "HOP" and not self._attached

    def ends(self, times: Any) -> Any:
        if self._attached:
            return times
        return times - (times - self._window.offset) % self._width + self._width

    def first_window(self, end: int) -> int | None:
        """Return the end of the first window with a slice, None if it is between two windows."""
        if self._attached or self._window.kind != "HOP":
            return end
        earliest = end - self._window.size
        first = earliest + (self._window.offset - earliest) % self._slide + self._window.size
        return first if first <= self.last_window(end) else None

    def last_window(self, end: int) -> int:
        if self._attached or self._window.kind == "TUMBLE":
            return end
        if self._window.kind == "HOP":
            begin = end - self._width
            return begin - (begin - self._window.offset) % self._slide + self._window.size
        return int(self.starts(np.array([end]))[0]) + self._window.size

    def next_window(self, end: int) -> int | None:
        """Return the end of the window after one that may have slices of it, None if there is no such one."""
        if self._attached or self._window.kind == "TUMBLE":
            return None
        if self._window.kind == "HOP" or end < self.last_window(end):
            return end + self._slide
        return None

    def of_window(self, end: int) -> Iterable[int]:
        """Return the ends of the slices of a window, in the order in which Flink merges them."""
        if self._attached or self._window.kind == "TUMBLE":
            return (end,)
        if self.latest_first:
            return range(end, end - self._window.size, -self._width)
        return range(int(self.starts(np.array([end]))[0]) + self._width, end + 1, self._width)

    def expired(self, end: int) -> Iterable[int]:
        """Return the ends of the slices that no window after one needs."""
        if self._attached or self._window.kind == "TUMBLE":
            return (end,)
        if self._window.kind == "HOP":
            start = end - self._window.size
            return range(start + self._width, min(start + self._slide, end) + 1, self._width)
        return self.of_window(end) if end == self.last_window(end) else ()

    def collected(self, end: int) -> int | None:
        """Return the slice that takes the others of a window after it was emitted, None if they stay apart."""
        if self._attached or self._window.kind != "CUMULATE":
            return None
        return int(self.starts(np.array([end]))[0]) + self._width

    def starts(self, ends: Any) -> Any:
        if self._window.kind != "CUMULATE":
            return ends - self._window.size
        return ends - 1 - (ends - 1 - self._window.offset) % self._window.size


def column_of_window(each: WindowColumn, start: Any, end: Any, clock: WindowClock) -> pa.Array:
    values = {"start": start, "end": end}.get(each.name)
    if values is None:
        values = clock.instants(end - 1)
    return pa.array(np.asarray(values, np.int64)).cast(pa.timestamp("ms")).cast(arrow_type(each.column.type))


def by_value(values: Any, batch: pa.RecordBatch, owners: Any) -> Iterator[tuple[int, pa.RecordBatch, Any]]:
    """Yield the different values of rows with the rows that have each."""
    if (values[1:] < values[:-1]).any():
        order = np.argsort(values, kind="stable")
        values, batch, owners = values[order], batch.take(pa.array(order)), owners[order]
    starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]])
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(values)], strict=True):
        yield int(values[start]), batch.slice(start, stop - start), owners[start:stop]
