"""Windows, triggers and the window operator as Flink's documentation tells them, without any cleverness.

Every window keeps all of its elements, and all windows are looked at each time. Used by `test_windows_model.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from scurry.common.time import Time
from scurry.datastream import window as win

MIN_TIME = -(2**63)

#: (key, timestamp, number)
Element = tuple[str, int, int]
#: start and end, the number of a count window, or nothing
Window = tuple[int, ...]
#: Whether a window is evaluated, and whether it loses its elements.
Decision = tuple[bool, bool]

ms = Time.milliseconds
NOTHING, FIRE = (False, False), (True, False)


@dataclass
class Pane:
    """A window of a key: what is in it, and what its trigger remembers."""

    elements: list[Element] = field(default_factory=list)
    timers: set[int] = field(default_factory=set)
    count: int = 0
    next_fire: int | None = None


# ---------------------------------------------------------------- assigners


@dataclass(frozen=True)
class TimeWindows:
    """Tumbling (slide 0) or sliding."""

    size: int
    slide: int = 0
    offset: int = 0
    merging = False
    event_time = True

    def assigner(self) -> Any:
        if self.slide:
            return win.SlidingEventTimeWindows.of(ms(self.size), ms(self.slide), ms(self.offset))
        return win.TumblingEventTimeWindows.of(ms(self.size), ms(self.offset))

    def windows_of(self, element: Element, number: int) -> list[Window]:
        time, slide = element[1], self.slide or self.size
        first = (time - self.offset) // slide * slide + self.offset
        return [(start, start + self.size) for start in range(first, time - self.size, -slide)]


@dataclass(frozen=True)
class Sessions:
    """With a gap, or (0) with the element's number as its gap."""

    gap: int
    merging = True
    event_time = True

    def assigner(self) -> Any:
        if self.gap:
            return win.EventTimeSessionWindows.with_gap(ms(self.gap))
        return win.EventTimeSessionWindows.with_dynamic_gap(lambda element: element[2])

    def windows_of(self, element: Element, number: int) -> list[Window]:
        return [(element[1], element[1] + (self.gap or element[2]))]


@dataclass(frozen=True)
class Global:
    """The one window."""

    merging = False
    event_time = False

    def assigner(self) -> Any:
        return win.GlobalWindows.create()

    def windows_of(self, element: Element, number: int) -> list[Window]:
        return [()]


@dataclass(frozen=True)
class CountWindows:
    """Windows of `size` elements of a key, one every `slide` (0: every `size`)."""

    size: int
    slide: int = 0
    merging = False
    event_time = False

    def assigner(self) -> Any:
        if self.slide:
            return win.CountSlidingWindowAssigner.of(self.size, self.slide)
        return win.CountTumblingWindowAssigner.of(self.size)

    def windows_of(self, element: Element, number: int) -> list[Window]:
        slide = self.slide or self.size
        return [(i,) for i in range(number + 1) if i * slide <= number < i * slide + self.size]


# ---------------------------------------------------------------- triggers


@dataclass(frozen=True)
class AtEnd:
    """EventTimeTrigger."""

    def trigger(self) -> Any:
        return win.EventTimeTrigger()

    def on_element(self, pane: Pane, time: int, last: int, watermark: int) -> Decision:
        if last <= watermark:
            return FIRE
        pane.timers.add(last)
        return NOTHING

    def on_time(self, pane: Pane, time: int, last: int) -> Decision:
        return FIRE if time == last else NOTHING

    def on_merge(self, pane: Pane, last: int, watermark: int) -> None:
        if last > watermark:
            pane.timers.add(last)


@dataclass(frozen=True)
class Continuous(AtEnd):
    """ContinuousEventTimeTrigger."""

    interval: int

    def trigger(self) -> Any:
        return win.ContinuousEventTimeTrigger.of(ms(self.interval))

    def on_element(self, pane: Pane, time: int, last: int, watermark: int) -> Decision:
        decision = super().on_element(pane, time, last, watermark)
        if decision == NOTHING and pane.next_fire is None:
            self._wait(pane, time - time % self.interval, last)
        return decision

    def on_time(self, pane: Pane, time: int, last: int) -> Decision:
        if time != last and time == pane.next_fire:
            self._wait(pane, time, last)
            return FIRE
        return super().on_time(pane, time, last)

    def on_merge(self, pane: Pane, last: int, watermark: int) -> None:
        if pane.next_fire is not None:
            pane.timers.add(pane.next_fire)

    def _wait(self, pane: Pane, time: int, last: int) -> None:
        pane.next_fire = min(time + self.interval, last)
        pane.timers.add(pane.next_fire)


@dataclass(frozen=True)
class Every:
    """CountTrigger."""

    count: int

    def trigger(self) -> Any:
        return win.CountTrigger.of(self.count)

    def on_element(self, pane: Pane, time: int, last: int, watermark: int) -> Decision:
        pane.count += 1
        if pane.count < self.count:
            return NOTHING
        pane.count = 0
        return FIRE

    def on_time(self, pane: Pane, time: int, last: int) -> Decision:
        return NOTHING

    def on_merge(self, pane: Pane, last: int, watermark: int) -> None:
        pass


@dataclass(frozen=True)
class Purging:
    """PurgingTrigger."""

    of: Any

    def trigger(self) -> Any:
        return win.PurgingTrigger.of(self.of.trigger())

    def on_element(self, *args: Any) -> Decision:
        return (self.of.on_element(*args)[0],) * 2

    def on_time(self, *args: Any) -> Decision:
        return (self.of.on_time(*args)[0],) * 2

    def on_merge(self, *args: Any) -> None:
        self.of.on_merge(*args)


# ---------------------------------------------------------------- the operator


@dataclass
class Model:
    """Flink's WindowOperator."""

    windows: Any
    trigger: Any
    lateness: int = 0
    over_all: bool = False
    watermark: int = MIN_TIME
    panes: dict[tuple[str, Window], Pane] = field(default_factory=dict)
    fired: list[tuple[str, Window, list[Element]]] = field(default_factory=list)
    late: list[Element] = field(default_factory=list)
    _counted: Counter[str] = field(default_factory=Counter)

    def element(self, element: Element) -> None:
        """Takes an element."""
        owner, taken = "" if self.over_all else element[0], False
        number, self._counted[owner] = self._counted[owner], self._counted[owner] + 1
        for window in self.windows.windows_of(element, number):
            actual = self._merged(owner, window) if self.windows.merging else window
            if self.windows.event_time and self._expiry(actual) <= self.watermark:
                continue
            taken = True
            pane = self.panes.setdefault((owner, actual), Pane())
            pane.elements.append(element)
            last = self._last(actual)
            self._act(owner, actual, pane, self.trigger.on_element(pane, element[1], last, self.watermark))
            if self.windows.event_time:
                pane.timers.add(self._expiry(actual))
        if not taken and self.windows.event_time and element[1] + self.lateness <= self.watermark:
            self.late.append(element)

    def time(self, watermark: int) -> None:
        """Takes a watermark; only one that rises makes timers fire."""
        if watermark <= self.watermark:
            return
        self.watermark = watermark
        while due := [(time, at) for at, pane in self.panes.items() for time in pane.timers if time <= self.watermark]:
            time, at = min(due)
            pane = self.panes[at]
            pane.timers.remove(time)
            self._act(*at, pane, self.trigger.on_time(pane, time, self._last(at[1])))
            if self.windows.event_time and time == self._expiry(at[1]):
                del self.panes[at]

    def _last(self, window: Window) -> int:
        return window[1] - 1 if self.windows.event_time else 2**63 - 1

    def _expiry(self, window: Window) -> int:
        return self._last(window) + self.lateness

    def _act(self, owner: str, window: Window, pane: Pane, decision: Decision) -> None:
        fire, purge = decision
        if fire and pane.elements:
            self.fired.append((owner, window, sorted(pane.elements)))
        if purge:
            pane.elements = []

    def _merged(self, owner: str, window: Window) -> Window:
        """The session a window has become part of, with what was in the sessions it touches."""
        start, end = window
        touching = [w for key, w in self.panes if key == owner and w[0] <= end and start <= w[1]]
        merged = (min([start, *(w[0] for w in touching)]), max([end, *(w[1] for w in touching)]))
        if touching and touching != [merged]:
            old = [self.panes.pop((owner, w)) for w in touching]
            pane = self.panes[owner, merged] = Pane([element for each in old for element in each.elements])
            pane.count = sum(each.count for each in old)
            pane.next_fire = min((each.next_fire for each in old if each.next_fire is not None), default=None)
            self.trigger.on_merge(pane, self._last(merged), self.watermark)
        return merged
