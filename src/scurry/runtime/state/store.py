"""Stores of one subtask's state between micro-batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

#: (operator uid, kind, id): see `scurry.runtime.state.backend` for the kinds.
StoreKey = tuple[str, str, int]


class RunInfo(NamedTuple):
    """A run (`runs.py`) in the index of a key group.

    Attributes:
        number: Its number in the group: a newer run has a higher one.
        digest: That of its content: a repeated batch may write another run of the same number.
        keys: How many keys it has.
        size: How many bytes it has.
    """

    number: int
    digest: int
    keys: int
    size: int


class StateSize(NamedTuple):
    """The size of a subtask's state after a micro-batch.

    Attributes:
        total: Its bytes, as stored.
        written: The bytes that the micro-batch has written.
        merged: Those of them that merges of runs have written.
    """

    total: int = 0
    written: int = 0
    merged: int = 0


class StoreReads(NamedTuple):
    """Counts of the reads of a store.

    Attributes:
        bytes: The bytes that it was asked for.
        hits: How many runs were on the machine.
        misses: How many it was asked for.
    """

    bytes: int = 0
    hits: int = 0
    misses: int = 0


class StateStore(Protocol):
    """The entries of one subtask: Spark's MapState in production, a dict in-process."""

    @property
    def reads(self) -> StoreReads:
        """The reads so far."""

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        """Return the entries, None for each missing one."""

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Write an entry."""

    def remove(self, key: StoreKey) -> None:
        """Remove an entry, if there is one."""

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        """Return the bytes of runs, None for each missing one; they may be cached by their digests."""

    def put_run(self, key: StoreKey, digest: int, blob: bytes) -> None: ...

    def remove_run(self, key: StoreKey, info: RunInfo) -> None: ...

    def stored_keys(self) -> list[StoreKey]: ...

    def link_run(self, info: RunInfo, path: str) -> bool:
        """Make a link to the file of a run; return False without a file, or if no link can be made."""

    def release(self) -> None:
        """Return the memory of runs that were read, where they are mapped; they can still be used."""


class DictStore(dict[StoreKey, bytes]):
    """A store in memory, for the in-process runner, tests and BATCH."""

    #: nothing is read from elsewhere
    reads = StoreReads()

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        """Return the entries, None for each missing one."""
        return [self.get(key) for key in keys]

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Write an entry."""
        self[key] = blob

    def remove(self, key: StoreKey) -> None:
        """Remove an entry, if there is one."""
        self.pop(key, None)

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        return self.get_many([key for key, _ in runs])

    def put_run(self, key: StoreKey, digest: int, blob: bytes) -> None:
        self.put(key, blob)

    def remove_run(self, key: StoreKey, info: RunInfo) -> None:
        self.remove(key)

    def stored_keys(self) -> list[StoreKey]:
        return list(self)

    def link_run(self, info: RunInfo, path: str) -> bool:
        """Return False."""
        return False

    def release(self) -> None:
        """Do nothing: the runs are in memory."""


class UndoStore(DictStore):
    """A store in memory that can undo the writes since the last `keep`."""

    def __init__(self) -> None:
        super().__init__()
        self._before: dict[StoreKey, bytes | None] = {}

    def put(self, key: StoreKey, blob: bytes) -> None:
        """Write an entry."""
        self._before.setdefault(key, self.get(key))
        self[key] = blob

    def remove(self, key: StoreKey) -> None:
        """Remove an entry, if there is one."""
        self._before.setdefault(key, self.get(key))
        self.pop(key, None)

    def changes(self) -> Iterator[tuple[StoreKey, bytes | None, bytes | None]]:
        """Yield the entries that were changed since the last `keep`, as they were before and are now; None for none."""
        for key, before in self._before.items():
            now = self.get(key)
            if now != before:
                yield key, before, now

    def keep(self) -> None:
        """Make the writes permanent."""
        self._before.clear()

    def undo(self) -> None:
        """Undo the writes since the last `keep`."""
        for key, blob in self._before.items():
            if blob is None:
                self.pop(key, None)
            else:
                self[key] = blob
        self._before.clear()
