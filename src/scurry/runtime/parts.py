"""Parts of the state of a key: entries of their own, for keys that keep many values.

A batch decodes and encodes the whole entry of each key that it touches. So that it costs what it changes, an entry must
not grow with all that is kept: operators **divide** what a key keeps much of, such as open windows or the records of a
join, into parts, of which a batch touches few.

A part is an entry with values and timers, under a key of its own in the key group of its owner. Pages, runs, timers,
expiry and migration treat it as they treat any key. Its name is `(slot, number)`. As long as there are parts, the entry
of the owner has the slot `PARTS`: by slot, what the operator needs to find them. Small entries have no parts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, TypeGuard

from scurry.runtime.keys import CanonicalKey, decode_key, encode_key, from_sortable, key_hash, key_hashes, sortable
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.slots import DOMAINS, JOINED, PARTS, PARTS_TIMER

#: The place of the last access to any part in the directories of states that may have a time to live, in milliseconds;
#: None without one.
LAST_ACCESS = 3

#: A part's key begins with it; no canonical key does.
_TAG = b"P"
_HEAD = struct.Struct(">cI")
_TIME = itemgetter(0)


def part_key(owner: CanonicalKey, slot: Any, number: int) -> bytes:
    """Return the key of a part of a key's state."""
    own = sortable(owner)
    return _HEAD.pack(_TAG, len(own)) + own + encode_key((slot, number))


def is_part(key: CanonicalKey) -> TypeGuard[bytes]:
    return type(key) is bytes and key[:1] == _TAG


def owner_of(part: bytes) -> CanonicalKey:
    """Return the key to whose state a part belongs."""
    _, length = _HEAD.unpack_from(part)
    return from_sortable(part[_HEAD.size : _HEAD.size + length])


def number_of(part: bytes) -> int:
    """Return the number of a part among those of its slot."""
    _, length = _HEAD.unpack_from(part)
    number: int = decode_key(part[_HEAD.size + length :])[1]
    return number


def state_hash(key: CanonicalKey, groups: int) -> int:
    """Return the hash by which a key or part finds its place in one of so many key groups."""
    hashed = key_hash(key)
    return (hashed >> 1) // groups * groups + key_hash(owner_of(key)) % groups if is_part(key) else hashed


def state_hashes(keys: Sequence[CanonicalKey], groups: int) -> list[int]:
    """Return the hashes of some keys and parts, as `state_hash` does one by one."""
    if bytes in set(map(type, keys)) and any(map(is_part, keys)):
        return [state_hash(key, groups) for key in keys]
    return key_hashes(keys)


def whole(entries: Iterable[tuple[CanonicalKey, Entry]]) -> Iterator[tuple[CanonicalKey, Entry]]:
    """Yield keys with entries that have their parts in them again, for tools that inspect state.

    Args:
        entries: All keys and parts of some key groups.
    """
    divided: dict[CanonicalKey, Entry] = {}
    parts: dict[CanonicalKey, list[tuple[int, Entry]]] = {}
    for key, entry in entries:
        if is_part(key):
            parts.setdefault(owner_of(key), []).append((number_of(key), entry))
        elif PARTS in entry:
            divided[key] = entry
        else:
            yield key, entry
    for key, entry in divided.items():
        yield key, _joined(entry, parts.get(key, []))


def _joined(entry: Entry, parts: list[tuple[int, Entry]]) -> Entry:
    directories = entry[PARTS]
    found: Entry = {}
    for _, part in sorted(parts, key=lambda each: each[0]):
        for slot, value in part.items():
            if slot not in found:
                found[slot] = value
            elif type(value) in (set, dict):
                found[slot] = found[slot] | value
            else:
                found[slot] = found[slot] + value
    for slot, value in entry.items():
        if slot in DOMAINS:
            own = {timer for timer in value if timer[1] != PARTS_TIMER}
            if own:
                found[slot] = found.get(slot, set()) | own
        elif slot != PARTS:
            found[slot] = value
    for slot in directories:
        if slot in JOINED and slot in found:
            found[slot].sort(key=_TIME)
    return found
