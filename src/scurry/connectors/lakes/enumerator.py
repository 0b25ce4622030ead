"""Deals the files of a lake table: those of one version, and those that later versions add."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from scurry.connectors.source import Assignment, Enumerator

__all__ = ["LakeEnumerator", "TableFile", "TableLog"]


@dataclass(frozen=True)
class TableFile:
    """A file of a table, or what there is to know to read it.

    Attributes:
        path: Where it is.
        size: Bytes.
        details: What the reader needs besides, as JSON-able data.
    """

    path: str
    size: int
    details: Any = None


class TableLog(ABC):
    """What a table's log says about its files. Versions are JSON-able."""

    @abstractmethod
    def start(self) -> tuple[Any, list[TableFile]]:
        """Return the version that is read first, and its files; no files if only later versions are asked for."""

    @abstractmethod
    def after(self, version: Any) -> tuple[Any, list[TableFile]]:
        """Return the newest version, and the files that versions after another have added, in their order."""


class LakeEnumerator(Enumerator):
    """Deals whole files, to the channel that has least to read."""

    def __init__(
        self,
        log: Callable[[], TableLog],
        channels: int,
        max_bytes: int,
        interval_ms: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin before the first version.

        Args:
            log: Opens the table.
            channels: Readers.
            max_bytes: Bytes of a micro-batch.
            interval_ms: Milliseconds between looks for new versions; None reads one version and ends.
            clock: Seconds.
        """
        self._log = log()
        self._max_bytes = max_bytes
        self._interval = None if interval_ms is None else interval_ms / 1000
        self._clock = clock
        self._version: Any = None
        self._queues: list[list[TableFile]] = [[] for _ in range(channels)]
        self._final = [False] * channels
        self._looked: float | None = None

    def _look(self) -> None:
        if self._looked is not None and (self._interval is None or self._clock() < self._looked + self._interval):
            return
        self._looked = self._clock()
        self._version, files = self._log.start() if self._version is None else self._log.after(self._version)
        self._deal(files)

    def _deal(self, files: Iterable[TableFile]) -> None:
        loads = [sum(file.size for file in queue) for queue in self._queues]
        for file in files:
            channel = loads.index(min(loads))
            self._queues[channel].append(file)
            loads[channel] += max(file.size, 1)

    def next_batch(self) -> list[Assignment]:
        """Return files for each channel, of up to a micro-batch's bytes together."""
        self._look()
        busy = sum(1 for queue in self._queues if queue)
        assignments = []
        for channel, queue in enumerate(self._queues):
            if self._final[channel]:
                continue
            work = self._take(queue, self._max_bytes // max(busy, 1))
            self._final[channel] = self._interval is None and not queue
            if work or self._final[channel]:
                assignments.append(Assignment(channel, work or None, self._final[channel]))
        return assignments

    def _take(self, queue: list[TableFile], budget: int) -> list[TableFile]:
        """Remove files of up to `budget` bytes from a queue, one at least."""
        work: list[TableFile] = []
        while queue and (not work or queue[0].size <= budget):
            budget -= queue[0].size
            work.append(queue.pop(0))
        return work

    def idle_hint(self) -> float:
        """Return the time until the next look for new versions."""
        if self._interval is None or self._looked is None:
            return 0.0
        return max(0.0, self._looked + self._interval - self._clock())

    def position(self) -> dict[str, Any]:
        """Return the version that was dealt, and the files of it that are left."""
        return {
            "version": self._version,
            "pending": [[[file.path, file.size, file.details] for file in queue] for queue in self._queues],
            "final": list(self._final),
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with the files left and the versions after; with another number of channels they are dealt anew."""
        self._version = position["version"]
        saved = [[TableFile(*file) for file in queue] for queue in position["pending"]]
        if len(saved) == len(self._queues):
            self._queues, self._final = saved, list(position["final"])
        else:
            self._queues, self._final = [[] for _ in self._queues], [False] * len(self._queues)
            self._deal(file for queue in saved for file in queue)
        # a version that was dealt is not dealt again
        self._looked = None if self._version is None or self._interval is not None else self._clock()
