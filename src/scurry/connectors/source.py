"""The contract of sources: an enumerator on the driver deals work, readers in the tasks turn it into records.

This is Flink's split enumerator and source reader (FLIP-27) for an engine of micro-batches. For each batch the runner
asks the enumerator for assignments, ships every assignment's `work` with the pickled source to a task, and iterates
over `Source.read`. Where a source stands is the enumerator's `position`; readers keep nothing between batches.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from scurry.common.typeinfo import TypeInformation
from scurry.errors import MalformedRecordError

__all__ = [
    "MAX_RECORD_BYTES",
    "Assignment",
    "Backlog",
    "BatchLimits",
    "Chunk",
    "ChunkSizer",
    "Enumerator",
    "MalformedRecords",
    "Source",
    "sliced",
    "sliced_with_timestamps",
]

#: Records that travel together: the values and, where the source knows them, their timestamps in milliseconds.
Chunk: TypeAlias = tuple[list[Any], list[int] | None]


class MalformedRecords(list[MalformedRecordError]):
    """Takes the place of the values in a chunk: input that is no record, told by the errors it would fail the job with.

    A task drops them if the source says so, else lets them go to the stream's dead letters, else fails with the first.

    Attributes:
        dropped: The source leaves them out.
    """

    def __init__(self, errors: Iterable[MalformedRecordError], dropped: bool = False) -> None:
        """Take the errors, and whether they are left out."""
        super().__init__(errors)
        self.dropped = dropped


@dataclass(frozen=True)
class BatchLimits:
    """How much all channels of a source together may read in one micro-batch.

    Attributes:
        max_bytes: Bytes of input; for sources that read bytes (files), or know what records take up (Kafka).
        max_records: Records; for sources that count them (Kafka, sockets, collections, sequences, generators).
        max_record_bytes: Bytes that a single record may take up; for records of the program itself and lines of files.
    """

    max_bytes: int = 512 * 1024 * 1024
    max_records: int = 10_000_000
    max_record_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True)
class Assignment:
    """What one channel reads in the next micro-batch.

    Attributes:
        channel: The reader's index, from 0.
        work: A picklable description for `Source.read`; None when there is nothing to read.
        final: The channel will never get anything again.
    """

    channel: int
    work: Any
    final: bool


@dataclass(frozen=True)
class Backlog:
    """What a source knows to be there and has not dealt.

    Attributes:
        records: How many records, None if it does not count them.
        bytes: How many bytes, None if it does not count them.
    """

    records: int | None = None
    bytes: int | None = None

    @property
    def more(self) -> bool:
        """Whether there is something; so it is if nobody knows how much."""
        known = [amount for amount in (self.records, self.bytes) if amount is not None]
        return any(known) or not known


#: Bytes that one record may take up where a reader holds it whole. Formats know files and no job: the task sets it.
MAX_RECORD_BYTES: ContextVar[int] = ContextVar("MAX_RECORD_BYTES", default=BatchLimits.max_record_bytes)


class ChunkSizer:
    """How many records a reader yields at once: one by one while each takes long, thousands while they are quick.

    Event time moves between chunks, so a slow user function sees time pass record by record, as in Flink, and a
    quick one pays for a chunk once. Readers ask for `size` before each chunk.

    Attributes:
        size: Records in the next chunk.
        read_records: Records that readers have said to have measured.
        read_bytes: What these took up.
    """

    #: So many quick records must have been seen one by one before chunks grow: in a short stream every record counts.
    CAUTIOUS_RECORDS = 64
    #: Chunks that took less than this many seconds are followed by larger ones, others by smaller ones.
    TARGET_SECONDS = 0.01

    def __init__(self, size: int = 1, max_size: int = 4096) -> None:
        """Start with chunks of `size` records and never exceed `max_size`."""
        self.size = size
        self.max_size = max_size
        self._cautious = self.CAUTIOUS_RECORDS if size == 1 else 0
        self.read_records = self.read_bytes = 0

    def measured(self, records: int, size: int) -> None:
        """Take what a reader found out about its records, for an enumerator that cannot know their size by itself.

        Args:
            records: How many there were.
            size: The bytes they took up together.
        """
        self.read_records += records
        self.read_bytes += size

    def processed(self, seconds: float) -> None:
        """Adapt `size` to the time the last chunk took.

        Args:
            seconds: Wall time between handing the chunk out and being asked for the next.
        """
        if self._cautious:
            self._cautious -= 1
            return
        if seconds > self.TARGET_SECONDS:
            self.size = max(1, int(self.size * self.TARGET_SECONDS / seconds))
        elif seconds < self.TARGET_SECONDS / 2:
            self.size = min(self.max_size, self.size * 4)


class Enumerator(ABC):
    """Deals the work of a source in micro-batches; lives on the driver."""

    @abstractmethod
    def next_batch(self) -> list[Assignment]:
        """Return what each channel reads next; an empty list when there is nothing new now.

        The batch in which a channel gets its last work marks it `final`; a channel that never gets any is final, with
        work None, in the first batch. After all channels are final the list stays empty.
        """

    @abstractmethod
    def position(self) -> dict[str, Any]:
        """Return where the source stands after the last `next_batch`, as JSON-able data."""

    @abstractmethod
    def restore(self, position: dict[str, Any]) -> None:
        """Continue at a position taken earlier, perhaps with another number of channels."""

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Deal no more than this at once from now on; called before `next_batch` by runners that adapt to the job.

        Args:
            limits: Never more than those the enumerator was made with.
            record_bytes: Channel -> mean size of the records it read last, where readers say (`ChunkSizer.measured`).
        """
        return

    def backlog(self) -> Backlog | None:
        """Return what was there at the last `next_batch` and is not dealt; None if the source cannot know."""
        return None

    def describe(self, channel: int) -> str:
        """Return what a channel reads, such as the names of its partitions; empty if that says nothing."""
        return ""

    def idle_hint(self) -> float:
        """Return how many seconds to wait before asking again after an empty `next_batch`."""
        return 0.0

    def committed(self) -> None:
        """The results of what was dealt so far are committed; for telling others how far the job has come.

        After a restart from a checkpoint the first call may come one batch early. BATCH jobs do not call it.
        """
        return

    def close(self) -> None:
        """Release what the enumerator holds; called once, when the job ends."""
        return


class Source(ABC):
    """A picklable description of records to read: Flink's unified `Source`.

    Attributes:
        bounded: Whether the source ends by itself.
        native: An enumerator deals its work. A source that sets this to False is a DataFrame, read by the Spark runner:
            `read` gets an iterator of Arrow record batches as work; no other runner takes it.
    """

    bounded: bool = True
    native: bool = True

    @property
    def meets_malformed_records(self) -> bool:
        """Whether `read` goes on behind what is no record, so that it can be set aside."""
        return False

    @property
    def produced_type(self) -> TypeInformation | None:
        """The type of the records, or None for any Python object (pickled)."""
        return None

    def channels(self, parallelism: int) -> int:
        """Return how many readers work in parallel when the operator has this parallelism."""
        return parallelism

    @abstractmethod
    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return a fresh enumerator for `channels(parallelism)` readers.

        Raises:
            SourceNotFoundError: What should be read does not exist.
        """

    @abstractmethod
    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of one assignment, in order; runs in a task.

        What is no record may be yielded as `MalformedRecords`, if reading can go on behind it.

        Args:
            work: The `work` of an assignment, never None.
            sizer: Says how large each chunk should be.

        Raises:
            MalformedRecordError: The input holds something that is no record.
        """


def sliced(blocks: Iterable[Sequence[Any]], sizer: ChunkSizer) -> Iterator[Chunk]:
    """Cut large blocks of values into chunks of the size wanted at the moment, and teach the sizer.

    A chunk never spans two blocks, so the last chunk of a block may be smaller.
    """
    return sliced_with_timestamps(((block, None) for block in blocks), sizer)


def sliced_with_timestamps(
    blocks: Iterable[tuple[Sequence[Any], list[int] | None]], sizer: ChunkSizer
) -> Iterator[Chunk]:
    """Cut blocks as `sliced` does, with the timestamps of their values in milliseconds."""
    clock: Callable[[], float] = time.perf_counter
    for block, timestamps in blocks:
        if type(block) is MalformedRecords:
            yield block, timestamps
            continue
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
            if full or sizer.size == 1:
                sizer.processed(clock() - begun)
