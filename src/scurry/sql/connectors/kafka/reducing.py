"""ReducingSink: writes only the last of the changes of a key that are near each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.common.types import RowKind
from scurry.connectors.kafka.sink import KafkaSink
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ReducingSink(Sink):
    """Hold changes back, and pass on the last one of each key.

    Attributes:
        messages: Writes what is passed on.
        key: Positions of the columns of the key.
        max_rows: Number of keys with which the changes are passed on.
        interval_ms: Milliseconds after which they are passed on with the next change; with a commit all are.
    """

    messages: KafkaSink
    key: tuple[int, ...]
    max_rows: int
    interval_ms: int

    def connect(self) -> None:
        """Begin to connect, as the sink of the messages does."""
        self.messages.connect()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that holds changes back."""
        return ReducingWriter(self, self.messages.create_writer(context))

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of the messages."""
        return self.messages.create_committer(sink_id)


class ReducingWriter(SinkWriter):
    """Hold the changes of a micro-batch back."""

    def __init__(self, sink: ReducingSink, messages: SinkWriter, now: Callable[[], float] = time.monotonic) -> None:
        self._sink = sink
        self._messages = messages
        self._now = now
        self._since = now()
        # by key: the batch of its last row, the position of that, and its kind
        self._last: dict[str, tuple[pa.RecordBatch, int, int]] = {}

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Buffer changes, and pass all on after enough keys or time."""
        for changes in values:
            kinds = changes.kinds if changes.kinds is not None else [0] * changes.batch.num_rows
            keys = zip(*(to_values(changes.batch.column(position)) for position in self._sink.key), strict=True)
            for position, (key, kind) in enumerate(zip(keys, kinds, strict=True)):
                if not self._last:
                    self._since = self._now()
                self._last[repr(key)] = (changes.batch, position, kind)
                if len(self._last) >= self._sink.max_rows:
                    self._flush()
        if (self._now() - self._since) * 1000 >= self._sink.interval_ms:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        last, self._last = self._last, {}
        if last:
            rows = [batch.slice(position, 1) for batch, position, _ in last.values()]
            gone = (RowKind.DELETE.value, RowKind.UPDATE_BEFORE.value)
            kinds = [
                RowKind.DELETE.value if kind in gone else RowKind.UPDATE_AFTER.value for _, _, kind in last.values()
            ]
            self._messages.write([Changes(pa.Table.from_batches(rows).combine_chunks().to_batches()[0], kinds)])

    def prepare_commit(self) -> list[Any]:
        """Pass all changes on."""
        self._flush()
        return self._messages.prepare_commit()

    def abort(self) -> None:
        """Forget the changes."""
        self._messages.abort()
