"""ReducingSink: writes only the last of the changes of a key that are near each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.common.types import RowKind
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ReducingSink(Sink):
    """Hold changes back, and pass on the last one of each key: as `DELETE`, or as `UPDATE_AFTER`.

    Attributes:
        changes: Writes the changes that are passed on. No two changes of a write have the same key.
        key: Positions of the columns of the key.
        max_rows: Number of keys with which the changes are passed on; 0 for any.
        interval_ms: Milliseconds after which they are passed on with the next change; 0 for any. With a commit all are.
    """

    changes: Sink
    key: tuple[int, ...]
    max_rows: int
    interval_ms: int

    def connect(self) -> None:
        """Begin to connect, as the sink of the changes does."""
        self.changes.connect()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that holds changes back."""
        return ReducingWriter(self, self.changes.create_writer(context))

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of the changes."""
        return self.changes.create_committer(sink_id)


class ReducingWriter(SinkWriter):
    """Hold the changes of a micro-batch back."""

    def __init__(self, sink: ReducingSink, changes: SinkWriter, now: Callable[[], float] = time.monotonic) -> None:
        self._key = sink.key
        self._most = sink.max_rows or float("inf")
        self._seconds = sink.interval_ms / 1000 or float("inf")
        self._changes = changes
        self._now = now
        self._since = now()
        # by key: the batch of its last row, the position of that, and whether it is gone
        self._last: dict[str, tuple[pa.RecordBatch, int, bool]] = {}

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Buffer changes, and pass all on after enough keys or time."""
        for changes in values:
            keys = zip(*(to_values(changes.batch.column(position)) for position in self._key), strict=True)
            for position, (key, gone) in enumerate(zip(keys, changes.gone, strict=True)):
                if not self._last:
                    self._since = self._now()
                # a row before an update is followed by the row after it, unless a condition has dropped that one
                self._last[repr(key)] = (changes.batch, position, gone)
                if len(self._last) >= self._most:
                    self._flush()
        if self._now() - self._since >= self._seconds:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        last, self._last = self._last, {}
        if last:
            rows = pa.Table.from_batches([batch.slice(position, 1) for batch, position, _ in last.values()])
            kinds = [RowKind.DELETE.value if gone else RowKind.UPDATE_AFTER.value for _, _, gone in last.values()]
            self._changes.write([Changes(rows.combine_chunks().to_batches()[0], kinds)])

    def prepare_commit(self) -> list[Any]:
        """Pass all changes on."""
        self._flush()
        return self._changes.prepare_commit()

    def abort(self) -> None:
        """Forget the changes."""
        self._changes.abort()
