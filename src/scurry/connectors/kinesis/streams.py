"""Streams of Kinesis as scans of messages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.kinesis.client import Failure, RequestError, patiently
from scurry.connectors.kinesis.enumerator import KinesisEnumerator
from scurry.connectors.kinesis.records import KinesisMessages, KinesisRecord, millis_of, records_of
from scurry.connectors.kinesis.shards import AHEAD, Position, ShardAccess, ShardPart, ShardRange, StreamSettings
from scurry.connectors.messages import MessageScan, MessageSystem
from scurry.connectors.source import MEASURED, BatchLimits, Enumerator
from scurry.errors import SourceNotFoundError

#: The end of the time for which nothing new arrives in a shard, by the service's word.
_AT_THE_END = 0


@dataclass(frozen=True)
class KinesisStreams(StreamSettings, MessageScan):
    """The records of streams, read by shards."""

    system: ClassVar[MessageSystem] = KinesisMessages()

    @property
    def ends(self) -> bool:
        """Return whether reading ends."""
        return self.bounded

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges."""
        return KinesisEnumerator(self, channels, limits)

    def parts(self) -> list[Any]:
        """Return all shards, up to the records that there are now."""
        now = time.time_ns() // 1_000_000
        access = ShardAccess(self.service)
        found: list[Any] = []
        for stream in self.streams:
            for shard in patiently(lambda stream=stream: access.shards(stream)):  # type: ignore[misc]
                found.append((stream, shard.shard_id, shard.keys, self.begin(now), now))
        return found

    def messages(self, part: ShardRange | ShardPart) -> Iterator[Sequence[KinesisRecord]]:
        """Yield the records of a range.

        Raises:
            SourceNotFoundError: Some of its records are there no more.
        """
        count = size = 0
        kept = AHEAD.find(self.service, part) if len(part) == 6 else None
        for block in self._read(part) if kept is None else [kept]:
            count += len(block)
            size += sum(len(each["Data"]) for each in block)
            yield [record for each in block for record in records_of(part[0], part[1], part[2], each)]
        MEASURED.get()(count, size)

    def _read(self, part: ShardRange | ShardPart) -> Iterator[list[dict[str, Any]]]:
        stream, shard_id = part[:2]
        range_reader = _RangeReader(ShardAccess(self.service), stream, shard_id, self)
        if len(part) == 5:
            yield from range_reader.up_to_time(part[3], part[4])
        else:
            yield from range_reader.between(part[3], part[4], part[5])


class _RangeReader:
    """The records of a range of a shard, as the service gives them."""

    def __init__(self, access: ShardAccess, stream: str, shard_id: str, scan: KinesisStreams) -> None:
        self._access, self._stream, self._shard_id, self._scan = access, stream, shard_id, scan
        self._iterator: str | None = None

    def between(self, first: str, last: str, count: int) -> Iterator[list[dict[str, Any]]]:
        """Yield the records from one sequence number to another one, of which there are so many."""
        position, left, end = ["from", first], count, int(last)
        while left:
            answer = self._next(position, left)
            block = [each for each in answer["Records"] if int(each["SequenceNumber"]) <= end]
            left -= len(block)
            if block:
                position = ["after", block[-1]["SequenceNumber"]]
                yield block
            over = len(block) < len(answer["Records"]) or self._iterator is None
            if left and (over or (not block and answer.get("MillisBehindLatest", 1) == _AT_THE_END)):
                raise SourceNotFoundError(
                    f"{self._scan.service.place}: stream {self._stream!r}, {self._shard_id}: {left} of {count} records "
                    f"from sequence number {first} to {last} are there no more: they are older than the retention "
                    "period of the stream; raise it, and start the job without its checkpoint"
                )

    def up_to_time(self, position: Position, until: int) -> Iterator[list[dict[str, Any]]]:
        """Yield the records from a position to a time."""
        while True:
            answer = self._next(position, self._scan.most_records)
            block = [each for each in answer["Records"] if millis_of(each) <= until]
            if block:
                position = ["after", block[-1]["SequenceNumber"]]
                yield block
            if len(block) < len(answer["Records"]) or self._iterator is None:
                return
            if not block and answer.get("MillisBehindLatest", _AT_THE_END) == _AT_THE_END:
                return

    def _next(self, position: Position, most: int) -> dict[str, Any]:
        return patiently(lambda: self._answer(position, most))

    def _answer(self, position: Position, most: int) -> dict[str, Any]:
        if self._iterator is None:
            self._iterator = self._access.iterator(self._stream, self._shard_id, position)
        try:
            answer = self._access.records(self._stream, self._iterator, most)
        except RequestError as error:
            if error.failure is Failure.EXPIRED:
                self._iterator = None
            raise
        self._iterator = answer.get("NextShardIterator")
        return answer
