"""Log assignments before Spark sees them, so that a restarted job can replay them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

from scurry._dataclasses import dataclass
from scurry.common.pickling import loads
from scurry.runtime.checkpoint.storage import Storage
from scurry.runtime.exchange.wire import Assigned
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.sealed import sealed, unsealed

_DIRECTORY = "assignments"


@dataclass(frozen=True)
class LoggedAssignment:
    offset: int
    assigned: Assigned


@dataclass(frozen=True)
class LogEntry:
    """One or more assignments that were logged together, and the source positions after them."""

    assignments: list[LoggedAssignment]
    source_positions: SourcePositions

    @property
    def offset(self) -> int:
        """The offset of its first assignment, which identifies the entry."""
        return self.assignments[0].offset

    @property
    def end(self) -> int:
        """The offset after its last assignment."""
        return self.assignments[-1].offset + 1


class AssignmentLog:
    """A directory of entries, each a file named by its first offset: a digest, then the pickled entry."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    @staticmethod
    def path(offset: int) -> str:
        """Return the file of an entry, relative to the checkpoint."""
        return f"{_DIRECTORY}/{offset:012d}"

    def offsets(self) -> list[int]:
        """Return the first offsets of all entries, ascending."""
        return sorted(int(name) for name in self._storage.list(_DIRECTORY) if name.isdigit())

    def read(self, offset: int) -> LogEntry:
        """Return the entry that begins at an offset.

        Raises:
            DamagedFileError: The entry is damaged.
        """
        entry: LogEntry = loads(unsealed(self._storage.read(self.path(offset)), self.path(offset)))
        return entry

    def entries(self) -> Iterator[LogEntry]:
        """Yield all entries, the oldest first, without those that are purged meanwhile."""
        for offset in self.offsets():
            try:
                yield self.read(offset)
            except FileNotFoundError:
                continue

    def last(self) -> SourcePositions | None:
        """Return the source positions after the last entry, or None."""
        offsets = self.offsets()
        return self.read(offsets[-1]).source_positions if offsets else None

    def write(self, entry: LogEntry) -> None:
        """Write an entry atomically and durably."""
        self._storage.write(self.path(entry.offset), sealed(pickle.dumps(entry, 5)))

    def delete(self, offset: int) -> None:
        """Delete an entry if it exists."""
        self._storage.delete(self.path(offset))
