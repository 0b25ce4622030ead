"""The output side of an edge, which distributes records over subtasks and packs them into blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from scurry.graph import operators as ops
from scurry.graph.plan import Edge
from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.wire import DATA, IDLE, MIN_TIME, PROGRESS, BatchRow, WireRow, pack
from scurry.runtime.failure import NO_RECORD, last_taken, operator_error
from scurry.runtime.keys import canonical_keys, key_hash, sortable, sortable_by_group, subtask_of


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
        #: per receiver, flat: (key,) (timestamp,) value, (key,) (timestamp,) value, ...; emptied in place by each flush
        self._buckets: list[list[Any]] = [[] for _ in self._ids]
        self._early: list[tuple[int, list[Any], bool]] = []
        self._timed = False
        self._active = False
        self._watermark = MIN_TIME
        self._points: list[tuple[int, int, int, int]] = []

    # ---------------------------------------------------------------- records

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Take records; each goes where the partitioner says."""
        self._active = True
        receivers = self._receivers(values)
        self._expect_timestamps(timestamps)
        buckets = self._buckets
        if timestamps is None:
            for receiver, value in zip(receivers, values, strict=True):
                buckets[receiver].append(value)
        else:
            for receiver, time, value in zip(receivers, timestamps, values, strict=True):
                buckets[receiver] += time, value

    def _receivers(self, values: Values) -> list[int]:
        raise NotImplementedError

    def _expect_timestamps(self, timestamps: Timestamps) -> None:
        """Set collected records aside if only they or only the next records have timestamps: no block mixes both."""
        timed = timestamps is not None
        if timed != self._timed:
            self._early = [(number, bucket[:], kind) for number, bucket, kind in self._take()]
            self._timed = timed

    def _take(self) -> Iterator[tuple[int, list[Any], bool]]:
        """Empty the buckets: (receiver, content, whether it has timestamps); a content is valid until the next."""
        early, self._early = self._early, []
        yield from early
        timed = self._timed
        for number, bucket in zip(self._ids, self._buckets, strict=True):
            if bucket:
                yield number, bucket, timed
                bucket.clear()

    def begin(self) -> None:
        """Begin a batch empty, so that a replay of the batch sends the same again."""
        self._early, self._points = [], []
        for bucket in self._buckets:
            bucket.clear()
        self._watermark, self._active = MIN_TIME, False

    def watermark(self, watermark: int) -> None:
        """Take the watermark that holds after the records so far."""
        if watermark > self._watermark:
            self._watermark = watermark

    # ---------------------------------------------------------------- rows

    def flush(self, seq: int, stamp: int) -> list[WireRow]:
        """Return the collected records as rows; `stamp` is when they were read."""
        edge, channel = self.edge.id, self.channel
        return [
            WireRow(receiver, edge, DATA, channel, seq, self._pack((*self._block(bucket, timed), stamp)))
            for receiver, bucket, timed in self._take()
        ]

    def _pack(self, block: tuple[Any, Values, Timestamps, int]) -> bytes:
        try:
            return pack(block)
        except Exception as error:
            failed = next((value for value in block[1] if not _packs(value)), NO_RECORD)
            hint = "records that are exchanged between tasks must be picklable"
            raise operator_error(self._sender, error, failed, hint) from error

    def flush_by_key(self, seq: int, in_time_order: bool, by_group: bool = False) -> list[BatchRow]:
        """BATCH: return the collected records as rows of one key each.

        Args:
            seq: Their position.
            in_time_order: Whether the records of a row are sorted by time.
            by_group: Whether keys are sorted by their key groups first.
        """
        edge, channel = self.edge.id, self.channel
        # broadcast records are received before all others
        start = MIN_TIME if in_time_order or isinstance(self.edge.partitioner, ops.Broadcast) else 0
        rows = []
        for receiver, bucket, timed in self._take():
            for key, values, times in self._by_key(bucket, timed, by_group):
                first = start
                if times is not None and in_time_order:
                    order = sorted(range(len(times)), key=times.__getitem__)
                    values, times = [values[i] for i in order], [times[i] for i in order]
                    first = times[0]
                block = self._pack((None, values, times, 0))
                rows.append(BatchRow(receiver, edge, DATA, channel, seq, block, self.edge.target, key, first))
        return rows

    def _by_key(self, bucket: list[Any], timed: bool, by_group: bool) -> Iterable[tuple[bytes, Values, Timestamps]]:
        _, values, times = self._block(bucket, timed)
        return ((b"", values, times),)

    def _block(self, bucket: list[Any], timed: bool) -> tuple[Any, Any, Any]:
        """Return the keys, values and timestamps of a bucket."""
        return (None, bucket[1::2], bucket[0::2]) if timed else (None, bucket, None)

    def point(self, seq: int, stamp: int, idle: bool = False) -> None:
        """Record a progress point; `idle` if the sender declares itself idle."""
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


class _Appenders(dict[Any, Any]):
    """Map a key to `append` of its subtask's bucket, looked up once per key and writer."""

    LIMIT = 1_000_000

    def __init__(self, buckets: list[list[Any]], max_parallelism: int) -> None:
        super().__init__()
        self._buckets = buckets
        self._max_parallelism = max_parallelism

    def __missing__(self, key: Any) -> Any:
        if len(self) > self.LIMIT:
            self.clear()
        number = subtask_of(key_hash(key), self._max_parallelism, len(self._buckets))
        append = self[key] = self._buckets[number].append
        return append


class Keys:
    """Return the canonical keys of records; `place` is what errors name: the key_by, as a plan of an operator."""

    def __init__(self, partitioner: ops.Hash, place: Any) -> None:
        selector = partitioner.selector
        self._selector = selector.get_key if hasattr(selector, "get_key") else selector
        self._convert = partitioner.key_type.block_converter() if partitioner.key_type is not None else None
        self._place = place

    def __call__(self, values: Values) -> list[Any]:
        select, source = self._selector, iter(values)
        try:
            keys = [select(value) for value in source]
        except Exception as error:
            failed = last_taken(values, source)
            raise operator_error(self._place, error, failed, "the key selector failed on this record") from error
        if self._convert is not None:
            keys = self._converted(self._convert, keys, values)
        try:
            return canonical_keys(keys)
        except Exception as error:
            failed = next((value for key, value in zip(keys, values, strict=True) if not _is_key(key)), NO_RECORD)
            raise operator_error(self._place, error, failed) from error

    def _converted(self, convert: Callable[[list[Any]], list[Any]], keys: list[Any], values: Values) -> list[Any]:
        """Return keys of the declared type; None is a key of every type, as in PyFlink."""
        try:
            return convert(keys)
        except TypeError as error:
            index = getattr(error, "index", None)
            if index is not None and keys[index] is None:
                given = [place for place, key in enumerate(keys) if key is not None]
                rest = self._converted(convert, [keys[place] for place in given], [values[place] for place in given])
                others = iter(rest)
                return [None if key is None else next(others) for key in keys]
            hint = "the key selector must return a value of the declared key_type"
            record = NO_RECORD if index is None else values[index]
            raise operator_error(self._place, error, record, hint) from error


class HashWriter(RecordWriter):
    """Send records by key; the canonical keys travel with the records."""

    def __init__(self, edge: Edge, ids: list[int], channel: int, subtask: int, sender: Any) -> None:
        super().__init__(edge, ids, channel, subtask, sender)
        assert isinstance(edge.partitioner, ops.Hash)
        self._keys = Keys(edge.partitioner, edge.place(sender))
        self._append_for = _Appenders(self._buckets, edge.max_parallelism)

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Take records; each goes to its key's subtask."""
        self._active = True
        keys = self._keys(values)
        self._expect_timestamps(timestamps)
        if len(self._buckets) == 1:
            columns = (keys, values) if timestamps is None else (keys, timestamps, values)
            self._buckets[0].extend(chain.from_iterable(zip(*columns, strict=True)))
            return
        append_for = self._append_for
        if timestamps is None:
            for key, value in zip(keys, values, strict=True):
                append = append_for[key]
                append(key)
                append(value)
        else:
            for key, time, value in zip(keys, timestamps, values, strict=True):
                append = append_for[key]
                append(key)
                append(time)
                append(value)

    def _by_key(self, bucket: list[Any], timed: bool, by_group: bool) -> Iterable[tuple[bytes, Values, Timestamps]]:
        encoded = partial(sortable_by_group, max_parallelism=self.edge.max_parallelism) if by_group else sortable
        found: dict[Any, tuple[Values, list[int]]] = {}
        keys, values, times = self._block(bucket, timed)
        for position, (key, value) in enumerate(zip(keys, values, strict=True)):
            if key not in found:
                found[key] = ([], [])
            found[key][0].append(value)
            if timed:
                found[key][1].append(times[position])
        return ((encoded(key), kept, key_times if timed else None) for key, (kept, key_times) in found.items())

    def _block(self, bucket: list[Any], timed: bool) -> tuple[Any, Any, Any]:
        return (bucket[0::3], bucket[2::3], bucket[1::3]) if timed else (bucket[0::2], bucket[1::2], None)


class HashRowsWriter(RecordWriter):
    """Send the rows of records by key: each receiver gets a record with its rows."""

    def process(self, values: Values, timestamps: Timestamps) -> None:
        """Take records without timestamps; each is split by the keys of its rows."""
        self._active = True
        partitioner, buckets, value = self.edge.partitioner, self._buckets, None
        assert isinstance(partitioner, ops.HashRows)
        partition, max_parallelism, receivers = partitioner.partition, self.edge.max_parallelism, len(buckets)
        try:
            for value in values:
                for receiver, part in partition(value, max_parallelism, receivers):
                    buckets[receiver].append(part)
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
        """Take records for all receivers."""
        self._active = True
        self._expect_timestamps(timestamps)
        for bucket in self._buckets:
            if timestamps is None:
                bucket += values
            else:
                for pair in zip(timestamps, values, strict=True):
                    bucket += pair


def _packs(value: Any) -> bool:
    try:
        pack(value)
    except Exception:
        return False
    return True


def _is_key(key: Any) -> bool:
    try:
        canonical_keys([key])
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
