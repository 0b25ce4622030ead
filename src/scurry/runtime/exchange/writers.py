"""The output side of an edge, which distributes records over subtasks and packs them into blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any

from scurry.common.typeinfo import TupleTypeInfo
from scurry.graph import operators as ops
from scurry.graph.plan import Edge
from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.key_selection import Keys
from scurry.runtime.exchange.ordering import by_time
from scurry.runtime.exchange.record_columns import Fields, TakenApart, ints_encoded
from scurry.runtime.exchange.wire import DATA, IDLE, MIN_TIME, PROGRESS, BatchRow, WireRow, pack, require_columns
from scurry.runtime.failure import NO_RECORD, operator_error
from scurry.runtime.keys import key_hash, key_hashes, subtask_of

#: Up to this many receivers, selecting the records of one after another is faster than scattering them.
FEW = 3
_MASKS = [bytes(receiver == number for receiver in range(256)) for number in range(FEW)]


class Bucket:
    """The records for a receiver, in columns; there may be no timestamps or no keys.

    Attributes:
        values: The records, unless there are fields.
        times: Their timestamps.
        keys: Their keys.
        fields: The fields of the records that are sent, in place of the records.
    """

    __slots__ = ("columns", "fields", "keys", "times", "values")

    def __init__(self, columns: Iterable[Iterable[Any]] = ((), (), ())) -> None:
        self.columns = [list(column) for column in columns]
        self.values, self.times, self.keys, *self.fields = self.columns

    def copy(self) -> Bucket:
        return Bucket(self.columns)

    def clear(self) -> None:
        """Remove the records in place."""
        for column in self.columns:
            column.clear()


class RecordWriter:
    """Collect the records that a subtask sends along an edge.

    `flush(seq)` turns what was collected into DATA rows at that position. `point(seq, stamp)` records the progress
    there; all points of a batch leave at its end, in one PROGRESS row per receiver.
    """

    def __init__(self, edge: Edge, ids: list[int], channel: int, subtask: int, sender: Any) -> None:
        self.edge = edge
        #: the receiving subtasks, by the runner's numbers
        self._ids = ids[: edge.receivers]
        self.channel = channel
        self._subtask = subtask
        self._sender = sender
        #: per receiver: values, timestamps and keys; each flush empties them in place
        self._buckets = [Bucket() for _ in self._ids]
        self._early: list[tuple[int, Bucket]] = []
        self._timed = False
        self._active = False
        self._watermark = MIN_TIME
        self._points: list[tuple[int, int, int, int]] = []

    @property
    def turn(self) -> int:
        """The receiver of the next record that is sent evenly: it goes on from batch to batch."""
        return self._subtask

    @turn.setter
    def turn(self, turn: int) -> None:
        self._subtask = turn

    # ---------------------------------------------------------------- records

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Send each record to the subtask that the partitioner chooses."""
        self._active = True
        receivers = self._receivers(values)
        self._expect_timestamps(timestamps)
        adding = [bucket.values.append for bucket in self._buckets]
        for receiver, value in zip(receivers, values, strict=True):
            adding[receiver](value)
        if timestamps is not None:
            adding = [bucket.times.append for bucket in self._buckets]
            for receiver, time in zip(receivers, timestamps, strict=True):
                adding[receiver](time)

    def _receivers(self, values: Values) -> list[int]:
        raise NotImplementedError

    def _expect_timestamps(self, timestamps: Timestamps) -> None:
        """Set collected records aside if only they or only the next records have timestamps: no block mixes both."""
        timed = timestamps is not None
        if timed != self._timed:
            self._early = [(number, bucket.copy()) for number, bucket in self._take()]
            self._timed = timed

    def _take(self) -> Iterator[tuple[int, Bucket]]:
        """Empty the buckets: pairs of receiver and content, which is valid until the next pair."""
        early, self._early = self._early, []
        yield from early
        for number, bucket in zip(self._ids, self._buckets, strict=True):
            if bucket.values or bucket.keys:
                yield number, bucket
                bucket.clear()

    def begin(self) -> None:
        """Begin a batch empty, so that a replay of the batch sends the same again."""
        self._early, self._points = [], []
        for bucket in self._buckets:
            bucket.clear()
        self._watermark, self._active = MIN_TIME, False

    def watermark(self, watermark: int) -> None:
        """Send the watermark that holds after the records so far."""
        if watermark > self._watermark:
            self._watermark = watermark

    # ---------------------------------------------------------------- rows

    def flush(self, seq: int, stamp: int) -> list[WireRow]:
        """Return the collected records as rows; `stamp` is when they were read."""
        edge, channel = self.edge.id, self.channel
        rows = []
        for receiver, bucket in self._take():
            rows.append(WireRow(receiver, edge, DATA, channel, seq, self._packed(bucket, stamp)))
        return rows

    def _packed(self, bucket: Bucket, stamp: int) -> bytes:
        """Encode records as a block."""
        block = bucket.keys or None, bucket.values, bucket.times or None, stamp
        require_columns(self.edge.id, *block[:3])
        return self._pack(block)

    def _pack(self, block: tuple[Any, ...]) -> bytes:
        """Encode a block, whose second value is its records."""
        try:
            return pack(block)
        except Exception as error:
            failed = next((value for value in block[1] if not _packs(value)), NO_RECORD)
            hint = "records that are exchanged between tasks must be picklable"
            raise operator_error(self._sender, error, failed, hint) from error

    def flush_by_key(self, seq: int, in_time_order: bool, by_group: bool = False) -> list[BatchRow]:
        """BATCH: return the collected records as rows.

        Args:
            seq: Their position.
            in_time_order: Whether they are sorted by time.
            by_group: Whether keys are sorted by their key groups first, if records are sorted by key.
        """
        # broadcast records are received before all others
        start = MIN_TIME if in_time_order or isinstance(self.edge.partitioner, ops.Broadcast) else 0
        rows = []
        for receiver, bucket in self._take():
            values, times, first = bucket.values, bucket.times, start
            if times and in_time_order:
                order = by_time(times)
                values, times = [values[place] for place in order], [times[place] for place in order]
                first = times[0]
            rows.append(self._batch_row(receiver, seq, b"", first, (None, values, times or None, 0)))
        return rows

    def _batch_row(self, receiver: int, seq: int, key: bytes, time: int, block: tuple[Any, ...]) -> BatchRow:
        edge = self.edge
        return BatchRow(receiver, edge.id, DATA, self.channel, seq, self._pack(block), edge.target, key, time)

    def point(self, seq: int, stamp: int, idle: bool = False) -> None:
        """Record a progress point; `idle` if the sender declares itself idle."""
        assert not self._points or self._points[-1][0] <= seq, f"edge {self.edge.id}: position {seq} goes back"
        self._points.append((seq, self._watermark, stamp, IDLE if idle else self._active))
        self._active = False

    def progress(self) -> list[WireRow]:
        """Return the progress rows of the batch, one per receiver."""
        points, self._points = self._points, []
        if not (points and self.edge.progress):
            return []
        block = pack(points)
        return [WireRow(receiver, self.edge.id, PROGRESS, self.channel, 0, block) for receiver in self._ids]

    def final_progress(self, idle: bool) -> list[BatchRow]:
        """BATCH: return the watermark behind all records, one row per receiver, sorted before all records.

        A sender that had neither records nor a watermark sends none.
        """
        edge = self.edge
        if not (edge.progress and (self._active or self._watermark > MIN_TIME)):
            return []
        block = pack((self.channel, self._watermark, idle))
        return [
            BatchRow(receiver, edge.id, PROGRESS, -1, 0, block, edge.target, b"", MIN_TIME) for receiver in self._ids
        ]


#: If more than one in so many keys of a block is new, the new keys of the next block are hashed together.
_FEW_NEW = 4


class Receivers(dict[Any, int]):
    """Map a key to its receiver, found once per key and writer."""

    LIMIT = 1_000_000

    def __init__(self, count: int, max_parallelism: int) -> None:
        super().__init__()
        self._count = count
        self._max_parallelism = max_parallelism
        self._many_new = True

    def __missing__(self, key: Any) -> int:
        if len(self) > self.LIMIT:
            self.clear()
        receiver = self[key] = subtask_of(key_hash(key), self._max_parallelism, self._count)
        return receiver

    def of(self, keys: Sequence[Any]) -> Iterable[int]:
        """Return the receivers of the keys of a block; where many keys are new, they are hashed together."""
        if self._many_new:
            new = [key for key in set(keys) if key not in self]  # set.difference would go through all known keys
            if len(self) + len(new) > self.LIMIT:
                self.clear()
                new = list(set(keys))
            self._many_new = len(new) > len(keys) // _FEW_NEW
            for key, hashed in zip(new, key_hashes(new), strict=True):
                self[key] = subtask_of(hashed, self._max_parallelism, self._count)
            return map(self.__getitem__, keys)
        known = len(self)
        receivers = list(map(self.__getitem__, keys))
        self._many_new = len(self) - known > len(keys) // _FEW_NEW
        return receivers


class HashWriter(RecordWriter):
    """Send records by key; the canonical keys travel with the records."""

    def __init__(self, edge: Edge, ids: list[int], channel: int, subtask: int, sender: Any) -> None:
        super().__init__(edge, ids, channel, subtask, sender)
        assert isinstance(edge.partitioner, ops.Hash)
        self._keys = Keys(edge.partitioner, edge.place(sender))
        self._known = Receivers(len(self._ids), edge.max_parallelism)
        #: the fields and times of the last block of the task
        self.taken_apart = TakenApart()
        #: the type of records that are sent in columns, and their fields
        self.declared: TupleTypeInfo | None = None
        self._fields: Fields | None = None

    def send_fields(self, declared: TupleTypeInfo, taken_apart: TakenApart) -> None:
        """Send records in columns: all are tuples of this type, whose values are immutable and converted to it."""
        self.taken_apart = taken_apart
        self.declared = declared
        self._fields = Fields(declared, self._keys)
        columns = 3 + len(self._fields.sent)
        self._buckets = [Bucket([[] for _ in range(columns)]) for _ in self._ids]

    def send_records(self) -> None:
        """Send records as they are: not all are of one type."""
        self.declared = self._fields = None
        self._buckets = [Bucket() for _ in self._ids]

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Send each record to its key's subtask."""
        self._active = True
        fields = self._fields
        if fields is None:
            keys = self._keys(values)
            columns: Sequence[Sequence[Any]] = (values, timestamps or (), keys)
        else:
            found = fields.of(values, self.taken_apart)
            keys = self._keys(values) if fields.key is None else found[fields.key]
            columns = ((), timestamps or (), keys, *[found[each] for each in fields.sent])
        self._expect_timestamps(timestamps)
        if len(self._buckets) == 1:
            for kept, column in zip(self._buckets[0].columns, columns, strict=True):
                kept += column
        elif len(self._buckets) <= FEW:
            self._select(columns, bytes(self._known.of(keys)))
        else:
            self._scatter(columns, self._known.of(keys))

    def _packed(self, bucket: Bucket, stamp: int) -> bytes:
        fields, keys, times = self._fields, bucket.keys, bucket.times
        if fields is None:
            return super()._packed(bucket, stamp)
        require_columns(self.edge.id, keys, bucket.fields[0] if bucket.fields else keys, times or None)
        return pack((*fields.encoded(keys, bucket.fields), ints_encoded(times) if times else None, stamp))

    def _select(self, columns: Sequence[Sequence[Any]], receivers: bytes) -> None:
        """Go through the records once for each receiver."""
        for bucket, mask in zip(self._buckets, _MASKS, strict=False):
            chosen = receivers.translate(mask)
            for kept, column in zip(bucket.columns, columns, strict=True):
                kept += compress(column, chosen)

    def _scatter(self, columns: Sequence[Sequence[Any]], receivers: Iterable[int]) -> None:
        """Go through the records once."""
        places: list[list[int]] = [[] for _ in self._buckets]
        appends = [each.append for each in places]
        for place, receiver in enumerate(receivers):
            appends[receiver](place)
        for bucket, chosen in zip(self._buckets, places, strict=True):
            for kept, column in zip(bucket.columns, columns, strict=True):
                if column:
                    kept += [column[place] for place in chosen]


class HashRowsWriter(RecordWriter):
    """Send the rows of records by key: each receiver gets a record with its rows."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Split records without timestamps by the keys of their rows."""
        self._active = True
        partitioner, buckets, value = self.edge.partitioner, self._buckets, None
        assert isinstance(partitioner, ops.HashRows)
        partition, max_parallelism, receivers = partitioner.partition, self.edge.max_parallelism, len(buckets)
        try:
            for value in values:
                for receiver, part in partition(value, max_parallelism, receivers):
                    buckets[receiver].values.append(part)
        except Exception as error:
            raise operator_error(self.edge.place(self._sender), error, value) from error


class RoundRobinWriter(RecordWriter):
    """Send records evenly to all subtasks (rebalance, rescale and shuffle)."""

    def _receivers(self, values: Values) -> list[int]:
        count, start = len(self._ids), self._subtask
        self._subtask += len(values)
        return [position % count for position in range(start, start + len(values))]


class ForwardWriter(RecordWriter):
    """Send records of subtask i to subtask i."""

    def _receivers(self, values: Values) -> list[int]:
        return [self._subtask % len(self._ids)] * len(values)


class GlobalWriter(RecordWriter):
    """Send all records to subtask 0."""

    def _receivers(self, values: Values) -> list[int]:
        return [0] * len(values)


class CustomWriter(RecordWriter):
    """Send records where the user's Partitioner says."""

    def _receivers(self, values: Values) -> list[int]:
        partitioner = self.edge.partitioner
        assert isinstance(partitioner, ops.Custom)
        select = getattr(partitioner.selector, "get_key", partitioner.selector)
        partition = getattr(partitioner.partitioner, "partition", partitioner.partitioner)
        count, receivers = len(self._ids), []
        for value in values:
            try:
                receiver = partition(select(value), count)
                if not 0 <= receiver < count:
                    raise ValueError(f"partition() returned {receiver!r}, not one of 0..{count - 1}")
            except Exception as error:
                raise operator_error(self.edge.place(self._sender), error, value) from error
            receivers.append(receiver)
        return receivers


class BroadcastWriter(RecordWriter):
    """Send every record to every subtask."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Send records to all receivers."""
        self._active = True
        self._expect_timestamps(timestamps)
        for bucket in self._buckets:
            bucket.values.extend(values)
            bucket.times.extend(timestamps or ())


def _packs(value: Any) -> bool:
    try:
        pack(value)
    except Exception:
        return False
    return True


_WRITERS: dict[type[ops.Partitioner], type[RecordWriter]] = {
    ops.Hash: HashWriter,
    ops.HashRows: HashRowsWriter,
    ops.Rebalance: RoundRobinWriter,
    ops.Forward: ForwardWriter,
    ops.Global: GlobalWriter,
    ops.Custom: CustomWriter,
    ops.Broadcast: BroadcastWriter,
}


def edge_writer(edge: Edge, ids: list[int], channel: int, subtask: int, sender: Any) -> RecordWriter:
    """Return the writer for an edge's partitioner."""
    return _WRITERS[type(edge.partitioner)](edge, ids, channel, subtask, sender)
