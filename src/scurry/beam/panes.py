"""GroupByKey in STREAMING: Beam's trigger machine on keyed state and timers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apache_beam.transforms import trigger
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp

from scurry.beam.grouping import GroupCoders, chunked
from scurry.beam.stages import Grouping
from scurry.beam.times import beams_watermark, scurrys_watermark
from scurry.runtime.exchange.wire import MAX_TIME
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext

#: The slot of a key's windows.
_WINDOWS = "beam windows"


class Windows(trigger.InMemoryUnmergedState):  # type: ignore[misc]
    """The state of the windows of a key, as Beam's trigger machine has it; it is pickled with the state of the key."""

    def __reduce__(self) -> Any:
        """Pickle plain dicts."""
        return _windows, (
            {window: dict(timers) for window, timers in self.timers.items()},
            {window: dict(values) for window, values in self.state.items()},
            self.global_state,
        )

    def forget(self, watermark: Any, lateness: Any) -> None:
        """Forget the windows whose elements are dropped from now on."""
        tag = trigger.MergeableStateAdapter.WINDOW_IDS
        ids = self.get_global_state(tag, {})
        for window in [each for each in ids if watermark > each.end + lateness]:
            for each in ids.pop(window):
                self.state.pop(each, None)
                self.timers.pop(each, None)
        self.set_global_state(tag, ids)

    @property
    def has_any(self) -> bool:
        """True if there is a window."""
        return bool(self.get_global_state(trigger.MergeableStateAdapter.WINDOW_IDS, {}))


def _windows(timers: Any, state: Any, kept: Any) -> Windows:
    found = Windows()
    for window, some in timers.items():
        found.timers[window].update(some)
    for window, values in state.items():
        found.state[window].update(values)
    found.global_state = kept
    return found


class _Clock:
    """The processing time of the records that are processed, for triggers."""

    now = 0.0

    def time(self) -> float:
        """Return the time in seconds."""
        return self.now


class GroupInStreams(KeyedRowsFunction):
    """GroupByKey in STREAMING: values wait encoded in the state of their key until the trigger emits them."""

    def __init__(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._emitted: list[bytes] = []

    def open(self, context: Any) -> None:
        """Prepare the coders and the trigger."""
        self._coders, self._clock = GroupCoders(self._grouping), _Clock()
        self._driver = trigger.create_trigger_driver(self._coders.windowing, False, clock=self._clock)
        self._lateness = self._coders.windowing.allowed_lateness
        self._emitted = []

    def process(self, index: int, rows: dict[bytes, tuple[int, bytes]], context: RowsContext) -> list[Any]:
        """Add elements to their windows; return the panes that they complete."""
        watermark = self._watermark(context)
        for key, (number, encoded) in rows.items():
            elements = list(self._coders.value.decode_all(encoded))
            expired = [each for each in elements if all(self._is_over(one, watermark) for one in each.windows)]
            context.late += len(expired)
            if len(expired) == number:
                continue
            entry = context.select(key)
            windows = entry.setdefault(_WINDOWS, Windows())
            panes = self._driver.process_elements(windows, elements, watermark, watermark)
            self._emit(key, panes)
            self._fire(key, windows, context, watermark)
        return self._taken()

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Fire the timers of the current key."""
        self._wake(context)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Fire the timers of the current key."""
        self._wake(context)

    def emit_after_timers(self, context: RowsContext) -> list[Any]:
        """Return the panes that timers have made."""
        return self._taken()

    def _wake(self, context: RowsContext) -> None:
        windows = context.state.get(_WINDOWS)
        if windows is not None:
            self._fire(context.key, windows, context, self._watermark(context))

    def _watermark(self, context: RowsContext) -> Any:
        self._clock.now = context.processing_time / 1000
        return beams_watermark(context.watermark)

    def _is_over(self, window: Any, watermark: Any) -> bool:
        return bool(watermark > window.end + self._lateness)

    def _fire(self, key: bytes, windows: Windows, context: RowsContext, watermark: Any) -> None:
        """Fire the timers that are due, then register the others, and forget windows that are over."""
        now = float("inf") if context.watermark == MAX_TIME else self._clock.now
        while due := windows.get_timers(clear=True, watermark=watermark, processing_time=now)[0]:
            for window, (name, domain, time, _) in due:
                at = watermark if domain == TimeDomain.REAL_TIME else time
                self._emit(key, self._driver.process_timer(window, name, domain, at, windows, watermark))
        windows.forget(watermark, self._lateness)
        if not windows.has_any:
            context.state.pop(_WINDOWS, None)
            return
        for timers in windows.timers.values():
            for (_, domain, _), time in timers.items():
                if domain == TimeDomain.REAL_TIME:
                    context.register_processing_timer(int(-(-float(time) * 1000 // 1)))
                else:
                    context.register_event_timer(scurrys_watermark(Timestamp.of(time)))
        for window in windows.get_global_state(trigger.MergeableStateAdapter.WINDOW_IDS, {}):
            if not isinstance(window, GlobalWindow):
                context.register_event_timer(scurrys_watermark(window.end + self._lateness) + 1)

    def _emit(self, key: bytes, panes: Iterator[Any]) -> None:
        self._emitted += [self._coders.encoded(pane, key) for pane in panes]

    def _taken(self) -> list[Any]:
        emitted, self._emitted = self._emitted, []
        return list(chunked(iter(emitted)))
