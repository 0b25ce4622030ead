"""Shards of streams of Kinesis: how they descend from each other, and how ranges of them are read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kinesis.client import AwsService

#: Records of an answer at most: the service gives no more.
MOST_RECORDS = 10_000
#: Bytes that the driver has read ahead, and keeps for tasks of its own process.
AHEAD_BYTES = 64 << 20

#: Position in a shard: ["horizon"], ["at", milliseconds] or ["after", sequence number].
Position = list[Any]
#: A range of a shard: stream, shard, first and last hash key, first and last sequence number, records.
ShardRange = tuple[str, str, tuple[int, int], str, str, int]
#: Split of a shard in BATCH: stream, shard, first and last hash key, position, and the time of the last record.
ShardPart = tuple[str, str, tuple[int, int], Position, int]


@dataclass(frozen=True)
class KinesisShard:
    """A shard of a stream.

    Attributes:
        stream: The name or the ARN of the stream, as the source has it.
        shard_id: The shard.
        parents: The shards that were split or merged into it.
        starting_hash_key: The first hash key of its records.
        ending_hash_key: The last one.
        is_closed: Whether it takes no more records.
    """

    stream: str
    shard_id: str
    parents: tuple[str, ...] = ()
    starting_hash_key: int = 0
    ending_hash_key: int = (1 << 128) - 1
    is_closed: bool = False

    @property
    def keys(self) -> tuple[int, int]:
        """Return the first and the last hash key."""
        return self.starting_hash_key, self.ending_hash_key


def named(stream: str) -> dict[str, str]:
    """Return the parameter of requests that names a stream."""
    return {"StreamARN" if stream.startswith("arn:") else "StreamName": stream}


class ShardAccess:
    """Requests for the shards of streams."""

    def __init__(self, service: AwsService) -> None:
        """Refer to a service."""
        self._service = service

    def shards(self, stream: str) -> list[KinesisShard]:
        """Return the shards of a stream that have not expired, in the order in which they were made.

        Raises:
            RequestError: The service cannot be reached, or fails the request.
        """
        found: list[KinesisShard] = []
        more: dict[str, str] = named(stream)
        while more:
            answer = self._ask(stream, lambda client, more=more: client.list_shards(**more))  # type: ignore[misc]
            found += [_shard(stream, each) for each in answer["Shards"]]
            following = answer.get("NextToken")
            more = {"NextToken": following} if following else {}
        return found

    def iterator(self, stream: str, shard_id: str, position: Position) -> str:
        """Return an iterator that begins at a position.

        Raises:
            RequestError: The service cannot be reached, or fails the request.
        """
        begin: dict[str, Any] = {"ShardIteratorType": "TRIM_HORIZON"}
        if position[0] == "after":
            begin = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "StartingSequenceNumber": position[1]}
        elif position[0] == "from":
            begin = {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "StartingSequenceNumber": position[1]}
        elif position[0] == "at":
            begin = {
                "ShardIteratorType": "AT_TIMESTAMP",
                "Timestamp": datetime.fromtimestamp(position[1] / 1000, UTC),
            }
        place = named(stream) | {"ShardId": shard_id}
        iterator: str = self._ask(stream, lambda client: client.get_shard_iterator(**place, **begin))["ShardIterator"]
        return iterator

    def records(self, stream: str, iterator: str, most: int) -> dict[str, Any]:
        """Return an answer of the service: records, the next iterator, how far behind they are.

        Raises:
            RequestError: The service cannot be reached, or fails the request.
        """
        arn = {"StreamARN": stream} if stream.startswith("arn:") else {}
        answer: dict[str, Any] = self._ask(
            stream, lambda client: client.get_records(ShardIterator=iterator, Limit=min(most, MOST_RECORDS), **arn)
        )
        return answer

    def _ask(self, stream: str, request: Callable[[Any], Any]) -> Any:
        return self._service.ask(stream, True, request)


def _shard(stream: str, answer: dict[str, Any]) -> KinesisShard:
    parents = (answer.get("ParentShardId"), answer.get("AdjacentParentShardId"))
    return KinesisShard(
        stream,
        answer["ShardId"],
        tuple(parent for parent in parents if parent),
        int(answer["HashKeyRange"]["StartingHashKey"]),
        int(answer["HashKeyRange"]["EndingHashKey"]),
        "EndingSequenceNumber" in answer["SequenceNumberRange"],
    )


@dataclass(frozen=True)
class StreamSettings:
    """Streams of a service that are read, and how.

    Attributes:
        service: The service.
        streams: Names or ARNs of the streams.
        start: Start of reading: `TRIM_HORIZON`, `LATEST`, or a time in milliseconds since 1970.
        bounded: Whether reading ends at the records that there are when the job starts.
        discovery_seconds: Time between looks for new shards.
        most_records: Records that are asked for at once.
        idle_seconds: Time before a shard is asked again that had nothing.
        busy_seconds: Time before a shard is asked again that had records.
        assigner: Returns the channel of a shard, given the number of channels; None for the one with fewest shards.
    """

    service: AwsService
    streams: tuple[str, ...]
    start: str | int = "LATEST"
    bounded: bool = False
    discovery_seconds: float = 10.0
    most_records: int = MOST_RECORDS
    idle_seconds: float = 0.25
    busy_seconds: float = 0.0
    assigner: Callable[[KinesisShard, int], int] | None = None

    def begin(self, now: int) -> Position:
        """Return the position at which shards begin that are there when the job starts, at a time in milliseconds."""
        if self.start == "TRIM_HORIZON":
            return ["horizon"]
        return ["at", now if self.start == "LATEST" else self.start]


class _Ahead:
    """Blocks that the driver has read to learn where ranges end, for tasks of its process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[Any, ...], tuple[int, list[dict[str, Any]]]] = OrderedDict()
        self._bytes = 0

    def keep(self, service: AwsService, part: ShardRange, block: list[dict[str, Any]]) -> None:
        size = sum(len(each["Data"]) for each in block)
        with self._lock:
            self._drop((service, part))
            self._blocks[service, part] = size, block
            self._bytes += size
            while self._bytes > AHEAD_BYTES:
                self._drop(next(iter(self._blocks)))

    def find(self, service: AwsService, part: ShardRange) -> list[dict[str, Any]] | None:
        with self._lock:
            found = self._blocks.get((service, part))
        return None if found is None else found[1]

    def forget(self, service: AwsService, parts: Sequence[ShardRange]) -> None:
        with self._lock:
            for part in parts:
                self._drop((service, part))

    def _drop(self, key: tuple[Any, ...]) -> None:
        size, _ = self._blocks.pop(key, (0, None))
        self._bytes -= size


#: Records that the drivers of this process have read ahead.
AHEAD = _Ahead()
