"""Streams of Kinesis in memory, with what sources and sinks call of botocore's client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from scurry.connectors.kinesis.client import AwsService

ALL_KEYS = (0, (1 << 128) - 1)


@dataclass
class Shard:
    name: str
    parents: list[str]
    keys: tuple[int, int] = ALL_KEYS
    is_closed: bool = False
    #: sequence number, milliseconds, data
    records: list[tuple[int, int, bytes]] = field(default_factory=list)


class FakeKinesis:
    """One stream; iterators are texts, and answers are as AWS gives them.

    Attributes:
        errors: Codes of errors that the next calls raise.
        calls: The names of all calls.
        refused: How many times records are not taken, by their data.
        per_answer: Records of an answer at most.
    """

    def __init__(self, *shards: Shard) -> None:
        self.shards = {each.name: each for each in shards}
        self.errors: list[str] = []
        self.calls: list[str] = []
        self.refused: dict[bytes, int] = {}
        self.requests: list[list[tuple[str | None, bytes]]] = []
        self.per_answer = 10_000
        self.numbers = iter(range(100, 1_000_000, 3))

    def put(self, shard: str, *texts: str, millis: int = 1) -> None:
        self.shards[shard].records += [(next(self.numbers), millis, text.encode()) for text in texts]

    def close(self, *_: Any) -> None:
        """A client is closed by the pool."""

    def _begin(self, name: str) -> None:
        self.calls.append(name)
        if self.errors:
            code = self.errors.pop(0)
            raise ClientError({"Error": {"Code": code, "Message": f"because of {code}"}}, name)

    def list_shards(self, **given: Any) -> dict[str, Any]:
        self._begin("list_shards")
        names = list(self.shards)
        at = names.index(given["NextToken"]) if "NextToken" in given else 0
        answer: dict[str, Any] = {"Shards": [_described(self.shards[name]) for name in names[at : at + 2]]}
        return answer | ({"NextToken": names[at + 2]} if at + 2 < len(names) else {})

    def get_shard_iterator(self, ShardId: str, ShardIteratorType: str, **given: Any) -> dict[str, str]:
        self._begin("get_shard_iterator")
        number = int(given.get("StartingSequenceNumber", 0)) + (ShardIteratorType == "AFTER_SEQUENCE_NUMBER")
        millis = int(given["Timestamp"].timestamp() * 1000) if "Timestamp" in given else 0
        return {"ShardIterator": f"{ShardId} {number} {millis}"}

    def get_records(self, ShardIterator: str, Limit: int, **given: Any) -> dict[str, Any]:
        self._begin("get_records")
        name, number, millis = ShardIterator.split()
        shard = self.shards[name]
        left = [each for each in shard.records if each[0] >= int(number) and each[1] >= int(millis)]
        taken = left[: min(Limit, self.per_answer)]
        records = [
            {
                "SequenceNumber": str(at),
                "ApproximateArrivalTimestamp": datetime.fromtimestamp(time / 1000, UTC),
                "Data": data,
                "PartitionKey": data.decode("utf-8", "replace")[:1],
            }
            for at, time, data in taken
        ]
        behind = len(taken) < len(left)
        answer: dict[str, Any] = {"Records": records, "MillisBehindLatest": 5 if behind else 0}
        if behind or not shard.is_closed:
            answer["NextShardIterator"] = f"{name} {taken[-1][0] + 1 if taken else number} {millis}"
        return answer

    def put_records(self, Records: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
        self._begin("put_records")
        return {"Records": list(self._taken(Records))}

    def put_record_batch(self, Records: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
        self._begin("put_record_batch")
        return {"RequestResponses": list(self._taken(Records))}

    def _taken(self, records: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
        accepted = []
        for each in records:
            if self.refused.get(each["Data"], 0):
                self.refused[each["Data"]] -= 1
                yield {"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "slow down"}
            else:
                accepted.append((each.get("PartitionKey"), each["Data"]))
                yield {"SequenceNumber": "1"}
        self.requests.append(accepted)


def _described(shard: Shard) -> dict[str, Any]:
    names = dict(zip(("ParentShardId", "AdjacentParentShardId"), shard.parents, strict=False))
    keys = {"StartingHashKey": str(shard.keys[0]), "EndingHashKey": str(shard.keys[1])}
    numbers = {"StartingSequenceNumber": "1"} | ({"EndingSequenceNumber": "9"} if shard.is_closed else {})
    return {"ShardId": shard.name, "HashKeyRange": keys, "SequenceNumberRange": numbers, **names}


def served(fake: FakeKinesis, monkeypatch: pytest.MonkeyPatch) -> AwsService:
    """Return a service that has the fake as its client."""
    monkeypatch.setattr(AwsService, "create", lambda self: fake)
    return AwsService("eu-west-1", f"http://fake-{id(fake)}")
