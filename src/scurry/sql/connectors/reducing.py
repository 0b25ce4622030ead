"""ReducingSink: writes only the last of the changes of a key that are near each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa

_DELETE, _UPDATE_AFTER = RowKind.DELETE.value, RowKind.UPDATE_AFTER.value
#: Rows from which those that are not the last of their key are dropped.
HELD_ROWS = 65_536


@dataclass(frozen=True)
class ReducingSink(Sink):
    """Hold changes back, and pass on the last one of each key: as `DELETE`, or as `UPDATE_AFTER`.

    Attributes:
        changes: Writes the changes that are passed on. No two of one `Changes` have the same key; a write has
            several if it fills the buffer several times, each to be written on its own, in order.
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


#: By key: the position of its last row in the batches that are held, and whether it is gone.
_Last = dict[Hashable, tuple[int, bool]]


def _identities(columns: list[pa.Array]) -> Iterable[Hashable]:
    """Return the keys of rows: equal ones are one key. Others than texts and whole numbers are compared as texts."""
    import pyarrow as pa

    plain = all(pa.types.is_string(column.type) or pa.types.is_integer(column.type) for column in columns)
    if plain and len(columns) == 1:
        return to_values(columns[0])
    keys = zip(*map(to_values, columns), strict=True)
    return keys if plain else map(repr, keys)


class ReducingWriter(SinkWriter):
    """Hold the changes of a micro-batch back."""

    def __init__(self, sink: ReducingSink, changes: SinkWriter, now: Callable[[], float] = time.monotonic) -> None:
        self._key = sink.key
        self._most = sink.max_rows or float("inf")
        self._seconds = sink.interval_ms / 1000 or float("inf")
        self._changes = changes
        self._now = now
        self._since = now()
        self._batches: list[pa.RecordBatch] = []
        #: rows of the batches
        self._rows: int = 0
        self._last: _Last = {}

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        """Buffer changes, and pass all on after enough keys or time."""
        for changes in values:
            keys = _identities([changes.batch.column(position) for position in self._key])
            first, full = self._hold(changes.batch), list[_Last]()
            for position, (key, gone) in enumerate(zip(keys, changes.gone, strict=True), first):
                if not self._last:
                    self._since = self._now()
                # a row before an update is followed by the row after it, unless a condition has dropped that one
                self._last[key] = (position, gone)
                if len(self._last) >= self._most:
                    full.append(self._last)
                    self._last = {}
            if full:
                self._pass_on(full)
                self._batches, self._rows = [changes.batch], changes.batch.num_rows
                self._last = {key: (at - first, gone) for key, (at, gone) in self._last.items()}
        if self._last and self._now() - self._since >= self._seconds:
            self._flush()

    def _hold(self, batch: pa.RecordBatch) -> int:
        """Hold a batch, and return the position of its first row; drop rows that are not the last of their key."""
        if self._rows > max(HELD_ROWS, 2 * len(self._last)):
            self._batches, self._rows = [self._rows_of([self._last])], len(self._last)
            self._last = {key: (at, gone) for at, (key, (_, gone)) in enumerate(self._last.items())}
        first = self._rows
        self._batches.append(batch)
        self._rows += batch.num_rows
        return first

    def _rows_of(self, parts: list[_Last]) -> pa.RecordBatch:
        import pyarrow as pa

        places = pa.array([position for part in parts for position, _ in part.values()], pa.int64())
        if len(self._batches) == 1:
            return self._batches[0].take(places)
        rows = pa.Table.from_batches(self._batches).take(places).combine_chunks()
        return rows.to_batches()[0] if len(places) else self._batches[0].slice(0, 0)

    def _pass_on(self, parts: list[_Last]) -> None:
        """Pass parts on with one write, for which their rows are taken together: parts are small, writes cost much."""
        rows, start, passed = self._rows_of(parts), 0, []
        for part in parts:
            kinds = [_DELETE if gone else _UPDATE_AFTER for _, gone in part.values()]
            passed.append(Changes(rows.slice(start, len(part)), kinds))
            start += len(part)
        self._changes.write(passed)

    def _flush(self) -> None:
        if self._last:
            last, self._last = self._last, {}
            self._pass_on([last])
        self._batches, self._rows = [], 0

    def prepare_commit(self) -> list[Any]:
        """Pass all changes on."""
        self._flush()
        return self._changes.prepare_commit()

    def abort(self) -> None:
        """Forget the changes."""
        self._changes.abort()
