"""The contract of sources: an enumerator on the driver assigns splits, readers in the tasks turn them into records.

This is Flink's split enumerator and source reader (FLIP-27) for a micro-batch engine. For each batch the runner asks
the enumerator for assignments, sends every assignment's `work` with the pickled source to a task, and iterates over
`Source.read`. The enumerator's `position` says how far the source is read; readers keep no state between batches.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common.pickling import of_functions
from scurry.common.typeinfo import TypeInformation
from scurry.errors import MalformedRecordError


@dataclass(frozen=True)
class MalformedRecords:
    """Malformed input, in place of the chunk or block that it would have been.

    A task drops it if `dropped` is set, else sends it to the stream's dead letters, else fails with the first error.

    Attributes:
        errors: The errors that would fail the job.
        timestamps: The timestamps of the input in milliseconds, if the source knows them.
        dropped: Whether the source is configured to skip malformed records.
    """

    errors: list[MalformedRecordError]
    timestamps: list[int] | None = None
    dropped: bool = False


#: Records that are read together, or malformed input in their place.
Block: TypeAlias = Sequence[Any] | MalformedRecords
#: Records that are passed on together: values and, if the source knows them, their timestamps in milliseconds.
Chunk: TypeAlias = tuple[list[Any], list[int] | None] | MalformedRecords


@dataclass(frozen=True)
class BatchLimits:
    """Limits of a source's micro-batch, over all of its channels.

    Attributes:
        max_bytes: Bytes of input; for sources that read files or messages.
        max_records: Records; files keep to it by the mean size of the records that they gave last.
        max_record_bytes: Bytes of a single record; for elements of collections and lines of files.
    """

    max_bytes: int = 1024 * 1024 * 1024
    max_records: int = 10_000_000
    max_record_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True)
class Assignment:
    """Input of one channel in the next micro-batch.

    Attributes:
        channel: The reader's index, from 0.
        work: A picklable description for `Source.read`; None when there is nothing to read.
        final: Whether this is the channel's last assignment.
        amount: How many records or bytes it reads, in the unit of `Enumerator.backlog`; None if that is unknown.
    """

    channel: int
    work: Any
    final: bool
    amount: int | None = None


@dataclass(frozen=True)
class Backlog:
    """Input that a source knows of and has not assigned yet.

    Attributes:
        records: Number of records, None if the source does not count them.
        bytes: Number of bytes, None if the source does not count them.
        channels: How many of these each channel has, those without any left out; None if that is unknown.
    """

    records: int | None = None
    bytes: int | None = None
    channels: Mapping[int, int] | None = None

    @property
    def more(self) -> bool:
        """Return whether anything is left; True if the amount is unknown."""
        known = [amount for amount in (self.records, self.bytes) if amount is not None]
        return any(known) or not known

    @property
    def in_bytes(self) -> bool:
        """Return whether the source counts bytes, not records."""
        return self.records is None and self.bytes is not None


#: Largest record, in bytes, that a reader holds in memory. Set by the task, because formats do not know the job.
MAX_RECORD_BYTES: ContextVar[int] = ContextVar("MAX_RECORD_BYTES", default=BatchLimits.max_record_bytes)

#: Shows a text to the user once per job, however many readers call it. Set by the task, too.
NOTE_ONCE: ContextVar[Callable[[str], None]] = ContextVar("NOTE_ONCE", default=lambda text: None)

#: Counts the records and the bytes of input that have been read, as amounts of assignments count them. Every reader of
#: files or messages calls it, also of tables, which have no sizer. Set by the task, too.
MEASURED: ContextVar[Callable[[int, int], None]] = ContextVar("MEASURED", default=lambda records, size: None)

#: Notes the event time, in milliseconds, of the message that has been fetched last. Set by the task, too.
FETCHED: ContextVar[Callable[[int], None]] = ContextVar("FETCHED", default=lambda event_time: None)

#: Counts malformed records that a format of tables leaves out, because it is configured to. Set by the task, too.
SKIPPED: ContextVar[Callable[[int], None]] = ContextVar("SKIPPED", default=lambda count: None)


class ChunkSizer:
    """Adapt how many records a reader yields at once: one while each takes long, thousands while they are quick.

    Event time advances between chunks. With small chunks a slow user function sees it advance record by record, as in
    Flink; with large chunks a quick one pays the overhead only once per chunk. Readers ask for `size` before each
    chunk.

    Attributes:
        size: Records in the next chunk.
    """

    #: Number of single records before chunks may grow, so that event time advances per record in short streams.
    CAUTIOUS_RECORDS = 64
    #: Chunks grow while they take less than half of this many seconds, and shrink when they take longer.
    TARGET_SECONDS = 0.01

    def __init__(self, size: int = 1, max_size: int = 4096) -> None:
        """Start with chunks of `size` records and never exceed `max_size`."""
        self.size = size
        self.max_size = max_size
        self._cautious = self.CAUTIOUS_RECORDS if size == 1 else 0

    def processed(self, seconds: float) -> None:
        """Adapt `size` to the time that the last chunk took.

        Args:
            seconds: Wall-clock time between yielding the chunk and being asked for the next.
        """
        if self._cautious:
            self._cautious -= 1
            return
        if seconds > self.TARGET_SECONDS:
            self.size = max(1, int(self.size * self.TARGET_SECONDS / seconds))
        elif seconds < self.TARGET_SECONDS / 2:
            self.size = min(self.max_size, self.size * 4)


@of_functions
class Enumerator(ABC):
    """Assign the splits of a source in micro-batches on the driver."""

    @abstractmethod
    def next_batch(self) -> list[Assignment]:
        """Return the next assignment of each channel; an empty list without new input.

        The last assignment of a channel is marked `final`. A channel that never gets any work is final in the first
        batch, with work None. After all channels are final the list stays empty.
        """

    @abstractmethod
    def position(self) -> dict[str, Any]:
        """Return the position of the source after the last `next_batch`, as JSON-able data."""

    @abstractmethod
    def restore(self, position: dict[str, Any]) -> None:
        """Continue from an earlier position, possibly with another number of channels."""

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Change the limits of later batches; called before `next_batch` by runners that adapt the batch size.

        Args:
            limits: The new limits, at most those the enumerator was created with.
            record_bytes: Channel -> mean bytes per record that it read last, if measured (`MEASURED`).
        """
        return

    @property
    def obeys_limits(self) -> bool:
        """Return whether `limit` bounds the next batch; otherwise whole files or pieces are assigned."""
        return type(self).limit is not Enumerator.limit

    def align(self, held: Collection[int]) -> None:
        """Hold channels back, and let `limit` bound each other channel by itself, not all together.

        Called before `next_batch` for a source of an alignment group, from its first batch on.

        Args:
            held: The channels that get no records until the next call.
        """
        return

    @property
    def holds_channels(self) -> bool:
        """Return whether `align` has an effect; otherwise alignment lets all channels wait or none."""
        return type(self).align is not Enumerator.align

    def expects(self, channel: int) -> bool:
        """Return whether a channel may have records that were there before those of other channels.

        Alignment does not wait for a channel that expects nothing while others have more to read.
        """
        return True

    def backlog(self) -> Backlog | None:
        """Return the input that was available at the last `next_batch` and is not assigned; None if unknown."""
        return None

    def metrics(self) -> Mapping[str, int]:
        """Return metrics of the source by their names, such as `numReconnects`, as of the last `next_batch`."""
        return {}

    def describe(self, channel: int) -> str:
        """Return a description of a channel's input, such as the names of its partitions; it may be empty."""
        return ""

    def idle_hint(self) -> float:
        """Return how many seconds to wait after an empty `next_batch` before calling it again."""
        return 0.0

    def committed(self) -> None:
        """Publish the progress of the job: the results of all assignments so far are committed.

        After a restart from a checkpoint the first call may come one batch early. BATCH jobs do not call it.
        """
        return

    def close(self) -> None:
        """Release resources; called once, when the job ends."""
        return


@of_functions
class Source(ABC):
    """A picklable description of records to read: Flink's unified `Source`.

    Attributes:
        bounded: Whether the source ends by itself.
        native: Whether an enumerator assigns its splits. If False, the source is a DataFrame that only the Spark runner
            reads: `read` gets an iterator of Arrow record batches as work.
        columnar: Whether each record holds the columns of many rows, so that a row costs little.
        replayable: Whether records can be read again after a failure. If not, a job with checkpoints warns.
        converts: Whether records have been converted to `produced_type`, by `TypeInformation.block_converter`.
    """

    bounded: bool = True
    native: bool = True
    columnar: bool = False
    replayable: bool = True
    converts: bool = False

    @property
    def meets_malformed_records(self) -> bool:
        """Return whether `read` may yield `MalformedRecords` and continue behind them."""
        return False

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records, or None for any Python object (pickled)."""
        return None

    def channels(self, parallelism: int) -> int:
        """Return the number of parallel readers for an operator of this parallelism."""
        return parallelism

    @abstractmethod
    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return a new enumerator for `channels(parallelism)` readers.

        Raises:
            SourceNotFoundError: The input does not exist.
        """

    @abstractmethod
    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of one assignment, in order; runs in a task.

        Malformed input may be yielded as `MalformedRecords`, if reading can continue behind it.

        Args:
            work: The `work` of an assignment, never None.
            sizer: Determines the size of each chunk.

        Raises:
            MalformedRecordError: The input cannot be decoded.
        """


def sliced(blocks: Iterable[Block], sizer: ChunkSizer) -> Iterator[Chunk]:
    """Cut large blocks of values into chunks of the sizer's current size, and adapt it.

    A chunk never spans two blocks, so the last chunk of a block may be smaller.
    """
    timeless = (block if isinstance(block, MalformedRecords) else (block, None) for block in blocks)
    return sliced_with_timestamps(timeless, sizer)


def sliced_with_timestamps(
    blocks: Iterable[tuple[Sequence[Any], list[int] | None] | MalformedRecords], sizer: ChunkSizer
) -> Iterator[Chunk]:
    """Cut blocks like `sliced`, with the timestamps of their values in milliseconds."""
    clock: Callable[[], float] = time.perf_counter
    for each in blocks:
        if isinstance(each, MalformedRecords):
            yield each
            continue
        block, timestamps = each
        start, end = 0, len(block)
        while start < end:
            stop = start + sizer.size
            values = block[start:stop]
            if type(values) is not list:
                values = list(values)
            times = None if timestamps is None else timestamps[start:stop]
            full = stop <= end
            start = stop
            begun = clock()
            yield values, times
            del values, times  # before the next are made, which take their place in memory
            if full or sizer.size == 1:
                sizer.processed(clock() - begun)
