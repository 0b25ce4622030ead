"""The content of a savepoint's entries, by key and window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from scurry.datastream.window import TimeWindow
from scurry.errors import SavepointError
from scurry.runtime.keys import CanonicalKey, original_key
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.backend import Index
from scurry.runtime.state.expiry import Lifetimes, live
from scurry.runtime.state.layout import Entry as KeyEntry
from scurry.runtime.state.layout import has_rows, is_run, page_of
from scurry.runtime.state.runs import stored_content
from scurry.runtime.state.slots import CONTENTS, MERGING, SESSIONS, state_name
from scurry.runtime.state.timer import Timer, timers_in

__all__ = ["WindowState", "keys_in", "load", "plain", "stamped", "states_in", "timers_of", "windows_in"]


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


def load(uid: str, blob: bytes) -> Any:
    """Unpickle the blob of an entry.

    Raises:
        SavepointError: It contains objects of a class that this program does not have.
    """
    try:
        return stored_content(blob)
    except (ImportError, AttributeError) as error:
        raise SavepointError(
            f"the state of operator {uid!r} holds objects of a class that is not found here: {error}. Import the "
            "module that defines it, or define the class under the same name; what a job's script defined itself is "
            "looked for in __main__"
        ) from error


def keys_in(pages: Iterable[Entry]) -> Iterator[tuple[CanonicalKey, KeyEntry]]:
    """Yield the (canonical) keys of pages, each with its entry.

    Args:
        pages: All pages and runs of some key groups; runs are held in memory, as a newer one may have a key, too.
    """
    runs: dict[str, list[tuple[int, Any]]] = {}
    rows: dict[str, list[tuple[int, Any]]] = {}
    for page in pages:
        content = load(page.uid, page.blob)
        if is_run(page.blob):
            runs.setdefault(page.uid, []).append((page.id, content))
        elif has_rows(page.blob):
            rows.setdefault(page.uid, []).append((page.id, content))
        elif not isinstance(content, Index):
            yield from page_of(content).items()
    for uid, some in runs.items():
        from scurry.runtime.state.run_groups import newest

        yield from newest(some, partial(load, uid))
    for uid, some in rows.items():
        from scurry.runtime.state import row_runs

        yield from row_runs.entries(some, partial(load, uid))


def unexpired(entry: KeyEntry, lifetimes: Lifetimes, now: int) -> KeyEntry:
    """Return an entry without state expired by `now` (ms) and without the times of values with a time to live."""
    if not lifetimes:
        return entry
    found = dict(entry)
    for slot, value in entry.items():
        lifetime = lifetimes.get(state_name(slot) or "")
        if lifetime is not None:
            alive = live(value, lifetime, now)
            if alive is None:
                del found[slot]
            else:
                found[slot] = plain(lifetime.kind, alive)
    return found


def states_in(entry: KeyEntry) -> dict[str, Any]:
    """Return the states of a key by name, without per-window state."""
    return {slot: value for slot, value in entry.items() if type(slot) is str}


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


def plain(kind: str, value: Any) -> Any:
    """Return the value of a state with a time to live, without the times."""
    if kind == "list":
        return [element for element, _ in value]
    if kind == "map":
        return {key: element for key, (element, _) in value.items()}
    return value[0]


def stamped(kind: str, value: Any, now: int) -> Any:
    """Return a value with times, the inverse of `plain`: everything was last accessed at `now` (ms)."""
    if kind == "list":
        return [(element, now) for element in value]
    if kind == "map":
        return {key: (element, now) for key, element in value.items()}
    return (value, now)
