"""Timers as tools that inspect state show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from scurry.common.time import TimeDomain
from scurry.runtime.keys import CanonicalKey, original_key
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import DOMAINS, EVENT


class Timer(NamedTuple):
    """A timer that has not fired yet.

    Attributes:
        time: When it fires, in milliseconds.
        key: The key it belongs to; 0 in `window_all`.
        domain: Whether it fires in event time or processing time.
        window: The window whose trigger or expiry waits for it; None for timers of a process function, and for timers
            of plain sessions, which move.
    """

    time: int
    key: Any
    domain: TimeDomain
    window: Any


def time_domain(domain: int) -> TimeDomain:
    """Return the user's TimeDomain value of a domain of slots."""
    return TimeDomain.EVENT_TIME if domain == EVENT else TimeDomain.PROCESSING_TIME


def timers_in(key: CanonicalKey, entry: Entry, window: Callable[[int, Any], Any]) -> Iterator[Timer]:
    """Yield the timers of a key; `window` makes a window of a timer's time and namespace."""
    for domain in DOMAINS:
        for time, namespace in entry.get(domain, ()):
            yield Timer(time, original_key(key), time_domain(domain), window(time, namespace))
