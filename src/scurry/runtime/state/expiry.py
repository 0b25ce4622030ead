"""Background removal of expired state that is no longer touched (Flink's background cleanup).

A value with a time to live is stored as `(value, last access)`, and so is each element of a list and each value of a
map. The directory of a state in parts expires with the last of their values. When a page is written, the time when it
is **due** is stored: when its first value expires, rounded up to the next eighth of the time to live. So a page is
searched at most eight times per time to live, whether records touch it or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from scurry.runtime.parts import LAST_ACCESS
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import PARTS, is_window_state

#: A page is due at multiples of this fraction of the time to live.
_STEPS = 8


class Lifetime(NamedTuple):
    """The time to live of a state's values.

    Attributes:
        kind: Kind of the state's descriptor.
        ttl: The time to live in milliseconds.
        scoped: Whether windows may have state of this name, stored under `(name, window)`.
    """

    kind: str
    ttl: int
    scoped: bool = True


#: State name -> its lifetime.
Lifetimes = Mapping[str, Lifetime]


def lifetimes_in(schemas: Mapping[str, Any]) -> dict[str, Lifetime]:
    """Return the lifetimes of an operator's states, from their schemas in JSON by name."""
    return {
        name: Lifetime(schema["kind"], schema["ttl"])
        for name, schema in schemas.items()
        if schema.get("ttl") is not None
    }


def due(page: Mapping[Any, Entry], lifetimes: Lifetimes, now: int) -> int | None:
    """Remove expired state from a page; keys without state stay, with an empty entry.

    Returns:
        When the page is due next, in milliseconds; None if nothing on it expires.
    """
    found = None
    for name, lifetime in lifetimes.items():
        first = min(_stamps(page, name, lifetime), default=None)
        if first is not None and first + lifetime.ttl <= now:
            _remove(page, name, lifetime, now - lifetime.ttl)
            first = min(_stamps(page, name, lifetime), default=None)
        if first is not None:
            time = _rounded(first, lifetime)
            found = time if found is None or time < found else found
    return found


def soonest(lifetimes: Lifetimes, now: int) -> int:
    """Return the earliest time when a page is due that gets values now."""
    return min(_rounded(now, lifetime) for lifetime in lifetimes.values())


def _rounded(accessed: int, lifetime: Lifetime) -> int:
    step = max(1, lifetime.ttl // _STEPS)
    return -(-(accessed + lifetime.ttl) // step) * step


def live(value: Any, lifetime: Lifetime, now: int) -> Any:
    """Return the stored form of a state without expired values; None if nothing is left."""
    return _kept(value, lifetime.kind, now - lifetime.ttl)


def _directories(page: Mapping[Any, Entry], name: str) -> list[dict[Any, Any]]:
    """Return the directories of keys that have a state in parts, if it was accessed since it has a time to live."""
    found = [entry[PARTS] for entry in page.values() if PARTS in entry and name in entry[PARTS]]
    return [each for each in found if each[name][LAST_ACCESS] is not None]


def _stamps(page: Mapping[Any, Entry], name: str, lifetime: Lifetime) -> list[int]:
    return _stamps_of_values(page, name, lifetime) + [each[name][LAST_ACCESS] for each in _directories(page, name)]


def _stamps_of_values(page: Mapping[Any, Entry], name: str, lifetime: Lifetime) -> list[int]:
    values = [entry[name] for entry in page.values() if name in entry]
    if lifetime.scoped:
        values += [entry[slot] for entry in page.values() for slot in entry if is_window_state(slot, name)]
    if lifetime.kind == "list":
        return [stamp for value in values for _, stamp in value]
    if lifetime.kind == "map":
        return [stamp for value in values for _, stamp in value.values()]
    return [stamp for _, stamp in values]


def _remove(page: Mapping[Any, Entry], name: str, lifetime: Lifetime, until: int) -> None:
    """Remove values that were last accessed at `until` or before."""
    for directories in _directories(page, name):
        if directories[name][LAST_ACCESS] <= until:
            del directories[name]
    for entry in page.values():
        if PARTS in entry and not entry[PARTS]:
            del entry[PARTS]
        for slot in [slot for slot in entry if slot == name or (lifetime.scoped and is_window_state(slot, name))]:
            value = _kept(entry[slot], lifetime.kind, until)
            if value is None:
                del entry[slot]
            else:
                entry[slot] = value


def _kept(value: Any, kind: str, until: int) -> Any:
    if kind == "list":
        return [element for element in value if element[1] > until] or None
    if kind == "map":
        return {key: element for key, element in value.items() if element[1] > until} or None
    return value if value[1] > until else None
