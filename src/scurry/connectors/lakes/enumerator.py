"""LakeEnumerator: assigns the files of a lake table: those of one version, and those that later versions add."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator
from scurry.connectors.split_queues import SplitQueues


@dataclass(frozen=True)
class TableFile:
    """A file of a table, with all that a reader needs.

    Attributes:
        path: Its path.
        size: Its size in bytes.
        details: Other information for the reader, as JSON-able data.
    """

    path: str
    size: int
    details: Any = None


class OpenedTable:
    """A table that was opened to check it, for the first who reads it; copies in other processes have none."""

    def __init__(self, table: Any = None) -> None:
        """Hold a table.

        Args:
            table: The table of the library; None for none.
        """
        self._table = table

    def take(self) -> Any:
        """Return the table, and hold it no longer; None if another has taken it."""
        table, self._table = self._table, None
        return table

    def __reduce__(self) -> tuple[type[OpenedTable], tuple[()]]:
        return OpenedTable, ()


class TableLog(ABC):
    """Read versions and files of a table from its log. Versions are JSON-able."""

    @abstractmethod
    def start(self) -> tuple[Any, list[TableFile]]:
        """Return the first version to read, and its files; no files if only later versions are read."""

    @abstractmethod
    def after(self, version: Any) -> tuple[Any, list[TableFile]]:
        """Return the newest version, and the files that versions after `version` have added, in order."""


class LakeEnumerator(Enumerator):
    """Assign whole files, each to the channel with the least left to read."""

    def __init__(
        self,
        log: Callable[[], TableLog],
        channels: int,
        max_bytes: int,
        interval_ms: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start before the first version.

        Args:
            log: Opens the table.
            channels: Number of readers.
            max_bytes: Size limit of a micro-batch in bytes.
            interval_ms: Milliseconds between checks for new versions; None to read one version only.
            clock: Returns the time in seconds.
        """
        self._log = log()
        self._max_bytes = max_bytes
        self._interval = None if interval_ms is None else interval_ms / 1000
        self._clock = clock
        self._version: Any = None
        self._queues: SplitQueues[TableFile] = SplitQueues(channels, lambda file: file.size)
        self._looked: float | None = None

    def _look(self) -> None:
        if self._looked is not None and (self._interval is None or self._clock() < self._looked + self._interval):
            return
        self._looked = self._clock()
        self._version, files = self._log.start() if self._version is None else self._log.after(self._version)
        self._queues.add(files)

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Limit later batches to files of so many bytes, but at least one for each channel."""
        self._max_bytes = limits.max_bytes

    @property
    def obeys_limits(self) -> bool:
        """Return False: files are read whole."""
        return False

    def backlog(self) -> Backlog:
        """Return the size of the files that are not assigned."""
        return Backlog(bytes=self._queues.total)

    def next_batch(self) -> list[Assignment]:
        """Return files for each channel, within the size limit of a micro-batch."""
        self._look()
        budget = self._max_bytes // max(self._queues.busy, 1)
        assignments = []
        for channel in self._queues.open:
            work = self._take(channel, budget)
            final = self._queues.final[channel] = self._interval is None and not self._queues.has(channel)
            if work or final:
                assignments.append(Assignment(channel, work or None, final, sum(file.size for file in work)))
        return assignments

    def _take(self, channel: int, budget: int) -> list[TableFile]:
        """Remove files of up to `budget` bytes from a queue, but at least one."""
        work: list[TableFile] = []
        while self._queues.has(channel) and (not work or self._queues.first(channel).size <= budget):
            file = self._queues.pop(channel)
            budget -= file.size
            work.append(file)
        return work

    def idle_hint(self) -> float:
        """Return the seconds until the next check for new versions."""
        if self._interval is None or self._looked is None:
            return 0.0
        return max(0.0, self._looked + self._interval - self._clock())

    def position(self) -> dict[str, Any]:
        """Return the current version and its remaining files."""
        return {
            "version": self._version,
            **self._queues.position(lambda file: [file.path, file.size, file.details]),
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with remaining files and later versions."""
        self._version = position["version"]
        self._queues.restore(position, lambda file: TableFile(*file))
        # without later versions, a version that was assigned is not assigned again
        self._looked = None if self._version is None or self._interval is not None else self._clock()
