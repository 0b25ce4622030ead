"""Entries of a savepoint from state that is given key by key instead of in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from scurry.runtime.keys import CanonicalKey
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import DOMAINS
from scurry.runtime.state.store import DictStore


def build_pages(
    uid: str,
    keys: Iterable[tuple[CanonicalKey, Mapping[Any, Any]]],
    max_parallelism: int,
    subtask: int = 0,
    watermark: int | None = None,
    clock: int = 0,
) -> Iterator[Entry]:
    """Yield the state of some keys of an operator in the savepoint's form: pages, and a meta with due times.

    All keys of a key group must be in one call; the keys of a call are held in memory.

    Args:
        uid: The operator's uid.
        keys: Canonical keys (`scurry.runtime.keys.canonical_keys`), each once, with what the backend holds for them:
            state name -> value, (state name, window) -> value, and under `EVENT` and `PROCESSING` the timers, as
            (time in milliseconds, namespace).
        max_parallelism: The number of key groups.
        subtask: The number of the meta; no two calls for an operator may have the same.
        watermark: The operator's watermark in milliseconds; None if it has none.
        clock: Its processing time in milliseconds since the epoch.
    """
    store = DictStore()
    backend = KeyedStateBackend(uid, store, max_parallelism)
    if watermark is not None:
        backend.meta.gate = {-1: watermark}
    backend.meta.clock = clock
    for key, state in keys:
        entry = backend.select(key)
        entry.update((slot, value) for slot, value in state.items() if slot not in DOMAINS)
        for domain in DOMAINS:
            for time, namespace in state.get(domain, ()):
                backend.register_timer(domain, time, namespace)
    backend.flush()
    yield from entries_of(store, subtask)


def entries_of(store: DictStore, subtask: int) -> Iterator[Entry]:
    """Yield the entries of a subtask's store as entries of a savepoint.

    Those of a key group follow each other, so that a reader finds them in few row groups.
    """
    for (uid, kind, number), blob in sorted(store.items(), key=itemgetter(0)):
        yield Entry(uid, kind, subtask, number, blob)
