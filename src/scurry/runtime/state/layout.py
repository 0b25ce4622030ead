"""The layout of state in pages."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from scurry.common.time import TimeDomain
from scurry.errors import CheckpointCorruptedError, KeyedStateError
from scurry.runtime.keys import CanonicalKey, original_key
from scurry.runtime.state.slots import DOMAINS, EVENT, PROCESSING

#: A page's id in the store is its key group << 32 | its number; the first page has number 1, its halves 2 and 3, ...
GROUP_SHIFT = 32
NUMBER = (1 << GROUP_SHIFT) - 1

#: Numbers of runs begin here: above those of pages, so that a run never takes the place of a page.
FIRST_RUN = 1 << 25

#: The stored values of a key, by slot: see `slots.py`.
Entry = dict[Any, Any]
#: The entries of keys. A page whose entries are packed is stored as a tuple of one dict, in which an entry without
#: timers is pickled by itself: a batch decodes those that it touches.
Page = dict[Any, Entry]

#: The pickle of an entry that is one timer without namespace, `{domain: {(time, None)}}`: what precedes its time, by
#: domain, and what follows.
_TEMPLATES = {EVENT: b"\x80\x05}K\x00\x8f(\x8a\x08", PROCESSING: b"\x80\x05}K\x01\x8f(\x8a\x08"}
_TAIL = b"N\x86\x90s."
_TIMER = struct.Struct(f"<{len(_TEMPLATES[EVENT])}sq{len(_TAIL)}s")
TIMER_BYTES = _TIMER.size


class NoKey(Entry):
    """The current entry while there is no current key: refuses each access with the reason."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self._why = why

    def _refuse(self, *args: Any) -> NoReturn:
        raise KeyedStateError(self._why)

    get = pop = setdefault = __getitem__ = __setitem__ = __delitem__ = __contains__ = _refuse


#: The current entry before the first record or timer of a batch has made its key the current one.
BEFORE_KEYS: Entry = NoKey(
    "there is no current key yet: open() creates states, and the functions that get records and timers use them"
)


class PageContent:
    """The stored form of a page of an operator that is no dict."""

    def entries(self) -> Page:
        """Return the entries of each key, for tools that inspect state."""
        raise NotImplementedError


class RowsDescription:
    """The description that operators store with their rows, for tools that inspect state."""

    @property
    def schemas(self) -> Sequence[Any]:
        """The columns of each table, as Arrow schemas."""
        raise NotImplementedError

    def entries(self, run: Any) -> Page:
        """Return the entries of each key, given all rows of some keys as a `RowRun`."""
        raise NotImplementedError


#: A stored run of entries or of rows begins with a zero, which no pickle does.
RUN_MAGIC = b"\0run1\0\0\0"
ROWS_MAGIC = b"\0rows1\0\0"


def is_run(blob: bytes) -> bool:
    """Return whether a run of entries is stored in place of a page."""
    return blob[: len(RUN_MAGIC)] == RUN_MAGIC


def has_rows(blob: bytes) -> bool:
    """Return whether a run of rows is stored in place of a page."""
    return blob[: len(ROWS_MAGIC)] == ROWS_MAGIC


def page_of(content: Any) -> Page:
    """Return a page as it was stored, with all its entries decoded."""
    if isinstance(content, PageContent):
        return content.entries()
    if type(content) is not tuple:
        page: Page = content
        return page
    return {key: pickle.loads(entry) if type(entry) is bytes else entry for key, entry in content[0].items()}


def encoded(entries: Iterable[Entry]) -> list[bytes]:
    """Return entries pickled, empty ones as no bytes.

    An entry that is one timer is pickled by a template, which takes less time.
    """
    dumps, pack, templates = pickle.dumps, _TIMER.pack, _TEMPLATES
    values = []
    for entry in entries:
        if len(entry) == 1:
            ((slot, timers),) = entry.items()
            if slot in templates and len(timers) == 1:
                ((time, namespace),) = timers
                if namespace is None:
                    values.append(pack(templates[slot], time, _TAIL))
                    continue
        values.append(dumps(entry, 5) if entry else b"")
    return values


def times_of_timers(entries: Sequence[Entry], domain: int) -> list[int] | None:
    """Return the times of entries, each of which is one timer of a domain without namespace; None if one is not."""
    times: list[int] = []
    for entry in entries:
        timers = entry.get(domain)
        if timers is None or len(timers) > 1 or len(entry) > 1:
            return None
        ((time, namespace),) = timers
        if namespace is not None:
            return None
        times.append(time)
    return times


def timer_template(domain: int) -> tuple[bytes, bytes]:
    """Return how an encoded entry that is one timer of a domain begins and ends; its time is between."""
    return _TEMPLATES[domain], _TAIL


def page_bits(hashed: int) -> int:
    """Return the bits that lead to the page of a key with this hash, the lowest one first."""
    return (hashed * 0x9E3779B1 & 0xFFFFFFFF) >> 4  # mix: the low bits are the same in all keys of a group


def header_of(view: memoryview, header: struct.Struct, magic: bytes, digest: int | None) -> tuple[Any, ...]:
    """Return the fields of the header of a run, the second of which is its digest.

    Args:
        digest: The digest that the run must have, if it is known.

    Raises:
        CheckpointCorruptedError: The bytes are no run, or another run.
    """
    if len(view) < header.size or bytes(view[:8]) != magic:
        raise CheckpointCorruptedError("the state of a key group is damaged: a run does not begin like one")
    fields = header.unpack_from(view)
    if digest is not None and digest != fields[1]:
        raise CheckpointCorruptedError("the state of a key group is damaged: a run is not the one of its index")
    return fields


class Timer(NamedTuple):
    """A timer that has not fired yet, as tools that inspect state show it.

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
