"""Pages built from keys are those that operators go on with."""

from __future__ import annotations

import pickle
from typing import Any

from scurry.runtime.keys import key_hash
from scurry.runtime.savepoint.entries import build_pages
from scurry.runtime.savepoint.format import Entry
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import EVENT, PROCESSING
from scurry.runtime.state.store import DictStore

GROUPS = 4


def store_of(entries: list[Entry]) -> DictStore:
    store = DictStore()
    for entry in entries:
        store.put((entry.uid, entry.kind, entry.id), entry.blob)
    return store


def test_every_key_is_found_on_its_page() -> None:
    keys = {f"key {i}": {"value": i, ("count", (0, 10)): "x" * 50} for i in range(2000)}
    entries = list(build_pages("op", keys.items(), GROUPS))
    assert len(entries) > 4 * GROUPS  # pages have split
    backend = KeyedStateBackend("op", store_of(entries), GROUPS)
    for key, state in keys.items():
        assert backend.select(key) == state


def test_timers_fire_in_both_domains_without_touching_other_keys() -> None:
    keys: dict[Any, dict[Any, Any]] = {
        i: {"x": [i] * 30, EVENT: {(i, None)}, PROCESSING: {(-i, "w")}} for i in range(500)
    }
    backend = KeyedStateBackend("op", store_of(list(build_pages("op", keys.items(), GROUPS))), GROUPS)
    fired: list[Any] = []
    backend.fire_due(EVENT, 2, lambda time, namespace: fired.append((backend.key, time, namespace)))
    assert fired == [(0, 0, None), (1, 1, None), (2, 2, None)]
    assert len(backend.entries) < len(keys)
    fired.clear()
    backend.fire_due(PROCESSING, -498, lambda time, namespace: fired.append((backend.key, time, namespace)))
    assert fired == [(499, -499, "w"), (498, -498, "w")]


def test_the_meta_tells_watermark_clock_and_the_groups_with_timers() -> None:
    entries = build_pages("op", [("a", {EVENT: {(7, None), (9, None)}}), ("b", {"v": 1})], GROUPS, 3, 5, 1000)
    (entry,) = [each for each in entries if each.kind == "meta"]
    meta = pickle.loads(entry.blob)
    assert (entry.subtask, entry.id) == (3, 0)
    assert (meta.gate, meta.clock) == ({-1: 5}, 1000)
    assert meta.due == ({key_hash("a") % GROUPS: 7}, {})
