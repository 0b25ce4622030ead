"""BufferedWriter: the writer of a sink that writes many records at once."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from scurry.connectors.sink import SinkWriter


class BufferedWriter(SinkWriter):
    """Hold records back, and write them together: after some records, after some time, and before each commit.

    A connector implements `flush`, and closes its connection in `close`.
    """

    def __init__(self, max_records: int, interval_ms: int, now: Callable[[], float] = time.monotonic) -> None:
        """Hold nothing yet.

        Args:
            max_records: Number of records that are written at once; 0 for all of a micro-batch.
            interval_ms: Milliseconds after which the next record lets all be written; 0 for no limit.
            now: A clock of seconds.
        """
        self._most = max_records
        self._seconds = interval_ms / 1000
        self._now = now
        self._held: list[Any] = []
        self._since = 0.0

    def prepared(self, values: list[Any]) -> list[Any]:
        """Return what `flush` is given in place of some records, such as requests."""
        return values

    @abstractmethod
    def flush(self, records: list[Any]) -> None:
        """Write records, of which there is at least one."""

    def close(self) -> None:  # noqa: B027
        """Close connections; called once, after the last record, or when the task has failed."""

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Hold records back, and write those that have become enough."""
        if not self._held:
            self._since = self._now()
        self._held += self.prepared(values)
        while self._most and len(self._held) >= self._most:
            self._flush(self._most)
        if self._held and self._seconds and self._now() - self._since >= self._seconds:
            self._flush(len(self._held))

    def _flush(self, count: int) -> None:
        records, self._held = self._held[:count], self._held[count:]
        self.flush(records)
        self._since = self._now()

    def prepare_commit(self) -> list[Any]:
        """Write all records."""
        if self._held:
            self._flush(len(self._held))
        self.close()
        return []

    def abort(self) -> None:
        """Forget the records that wait."""
        self.close()
