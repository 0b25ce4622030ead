"""The timers and windows of keys of a savepoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from scurry.datastream.window import TimeWindow
from scurry.runtime.keys import CanonicalKey, original_key
from scurry.runtime.state.layout import Entry as KeyEntry
from scurry.runtime.state.layout import Timer, timers_in
from scurry.runtime.state.slots import CONTENTS, MERGING, SESSIONS

__all__ = ["WindowState", "timers_of", "windows_in"]


class WindowState(NamedTuple):
    """A window that has not ended.

    Attributes:
        key: Its key; 0 in `window_all`.
        window: The window.
        contents: The accumulator or reduced value if the window aggregates its elements, otherwise the list of
            elements (of two streams: a list for each; with an evictor: (element, timestamp) pairs). None if it was
            purged.
        states: Per-window state of the trigger and the function, by name.
    """

    key: Any
    window: Any
    contents: Any
    states: dict[str, Any]


def timers_of(key: CanonicalKey, entry: KeyEntry) -> Iterator[Timer]:
    """Yield the timers of a key."""
    return timers_in(key, entry, _window)


def _window(time: int, namespace: Any) -> Any:
    """Return the window of a timer; aligned windows, which fire once at their end, are stored by their start."""
    return TimeWindow(namespace, time + 1) if type(namespace) is int else namespace


def windows_in(key: CanonicalKey, entry: KeyEntry) -> Iterator[WindowState]:
    """Yield the windows of a key, for all kinds of window operators."""
    found: dict[Any, tuple[Any, dict[str, Any]]] = {}
    ends = {timer.window.start: timer.window for timer in timers_of(key, entry) if type(timer.window) is TimeWindow}
    for slot, value in entry.items():
        if slot == SESSIONS:
            found.update({TimeWindow(start, end): (contents, {}) for start, end, contents, _ in value})
        elif slot == MERGING or type(slot) is not tuple:
            continue
        elif len(slot) == 1:
            found[ends[slot[0]]] = (value, {})
        else:
            name, window = slot
            contents, states = found.get(window, (None, {}))
            if name == CONTENTS:
                contents = value
            else:
                states[name] = value
            found[window] = (contents, states)
    for window, (contents, states) in found.items():
        yield WindowState(original_key(key), window, contents, states)
