"""The state of one key at a time, for BATCH: in memory until the next key begins, as in Flink's BATCH backend."""

from __future__ import annotations

from typing import Any

from scurry.runtime.keys import CanonicalKey
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.layout import Entry
from scurry.runtime.state.store import DictStore


class SingleKeyBackend(KeyedStateBackend):
    """Hold the state and timers of the key that has begun; nothing is stored.

    Args:
        uid: The operator.
    """

    def __init__(self, uid: str) -> None:
        super().__init__(uid, DictStore(), 1)

    def begin(self, key: CanonicalKey) -> None:
        """Drop the state and timers of the last key, and make another one the current key."""
        self.entries.clear()
        self.clear_timers()
        self.key = key
        self.entry = self.entries[key] = {}

    def load(self, key: Any) -> Entry:
        """Return the new entry of a key."""
        entry = self.entries[key] = {}
        return entry
