"""Shards are read in order, from parents to children, and again from a checkpoint; a fake has the streams."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scurry.connectors.kinesis.enumerator import KinesisEnumerator
from scurry.connectors.kinesis.records import _message, hash_key_of
from scurry.connectors.kinesis.shards import AHEAD, KinesisShard
from scurry.connectors.kinesis.streams import KinesisStreams
from scurry.connectors.source import Assignment, BatchLimits
from scurry.errors import SourceConnectionError, SourceNotFoundError
from support.connectors.fake_kinesis import ALL_KEYS, FakeKinesis, Shard, served


class Reading:
    """An enumerator, and the records of what it assigns, which are read twice: as kept, and from the service."""

    def __init__(self, scan: KinesisStreams, channels: int, limits: BatchLimits, now: Callable[[], float]) -> None:
        self.scan, self.limits, self.now = scan, limits, now
        self.seconds = 0.0
        self.enumerator = self.made(channels)

    def made(self, channels: int) -> KinesisEnumerator:
        return KinesisEnumerator(self.scan, channels, self.limits, lambda: self.seconds, self.now)

    def resume(self, channels: int) -> None:
        """Continue in another process."""
        position = json.loads(json.dumps(self.enumerator.position()))
        self.enumerator.close()
        self.enumerator = self.made(channels)
        self.enumerator.restore(position)

    def texts(self, assignments: list[Assignment]) -> list[str]:
        parts = [part for each in assignments for part in each.work or ()]
        kept = [record.data.decode() for part in parts for block in self.scan.messages(part) for record in block]
        AHEAD.forget(self.scan.service, parts)
        again = [record.data.decode() for part in parts for block in self.scan.messages(part) for record in block]
        assert kept == again
        return kept

    def batch(self) -> list[str]:
        self.seconds += 1.0
        return self.texts(self.enumerator.next_batch())

    def batches(self, count: int) -> list[list[str]]:
        return [self.batch() for _ in range(count)]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reading]:
    def made(
        fake: FakeKinesis, channels: int = 2, limits: BatchLimits | None = None, now: float = 10.0, **scan: Any
    ) -> Reading:
        given: dict[str, Any] = {"start": "TRIM_HORIZON", "discovery_seconds": 1.0} | scan
        streams = KinesisStreams(served(fake, monkeypatch), ("orders",), **given)
        return Reading(streams, channels, limits or BatchLimits(), lambda: now)

    return made


def family() -> FakeKinesis:
    """A shard that was split into two, which were merged."""
    fake = FakeKinesis(
        Shard("a", [], is_closed=True),
        Shard("b", ["a"], (0, 9), is_closed=True),
        Shard("c", ["a"], (10, ALL_KEYS[1]), is_closed=True),
        Shard("d", ["b", "c"]),
    )
    for shard in "abcd":
        fake.put(shard, f"{shard}1", f"{shard}2")
    return fake


@pytest.mark.parametrize("channels", [1, 2, 5])
def test_children_come_after_the_batch_in_which_their_parents_end(
    reading: Callable[..., Reading], channels: int
) -> None:
    found = reading(family(), channels).batches(3)
    assert [sorted(batch) for batch in found] == [["a1", "a2"], ["b1", "b2", "c1", "c2"], ["d1", "d2"]]


def test_limits_hold_and_the_rest_comes_in_later_batches(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []), Shard("b", []))
    fake.put("a", *(f"a{n}" for n in range(5)))
    fake.put("b", "b0")
    found = reading(fake, limits=BatchLimits(max_records=2)).batches(3)
    assert [len(batch) for batch in found] == [2, 2, 2]
    found = reading(fake, limits=BatchLimits(max_bytes=1)).batches(6)
    assert [len(batch) for batch in found] == [1] * 6


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_a_job_goes_on_at_another_parallelism(reading: Callable[..., Reading], channels: int) -> None:
    fake = family()
    read = reading(fake, 2, BatchLimits(max_records=1))
    found = []
    for _ in range(20):
        found += read.batch()
        read.resume(channels)
    assert sorted(found) == sorted(f"{shard}{number}" for shard in "abcd" for number in (1, 2))
    assert found[:2] == ["a1", "a2"] and found[-2:] == ["d1", "d2"]


def test_new_shards_are_found_and_those_that_expired_are_forgotten(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []))
    fake.put("a", "a1")
    read = reading(fake, 1, start="LATEST", now=0.0)
    assert read.batch() == ["a1"]
    fake.shards["a"].is_closed = True
    fake.shards["b"] = Shard("b", ["a"])
    fake.put("b", "b1")
    assert [each for batch in read.batches(3) for each in batch] == ["b1"]
    del fake.shards["a"]
    read.batch()
    assert [each[1] for each in read.enumerator.position()["shards"]] == ["b"]


def test_reading_from_now_on_begins_with_open_shards(reading: Callable[..., Reading]) -> None:
    fake = family()
    fake.put("d", "new", millis=20_000)
    assert reading(fake, start="LATEST").batches(2) == [["new"], []]
    assert reading(fake, start=15_000).batches(4) == [[], [], ["new"], []]


def test_a_bounded_source_ends_at_what_there_is(reading: Callable[..., Reading]) -> None:
    fake = family()
    fake.put("d", "later", millis=99_000)
    read = reading(fake, 2, bounded=True)
    found, final = [], set()
    for _ in range(8):
        read.seconds += 1
        assignments = read.enumerator.next_batch()
        found += read.texts(assignments)
        final |= {each.channel for each in assignments if each.final}
    assert sorted(found) == sorted(f"{shard}{number}" for shard in "abcd" for number in (1, 2))
    assert final == {0, 1} and read.enumerator.next_batch() == []
    parts = read.scan.parts()
    assert sorted(record.data for part in parts for block in read.scan.messages(part) for record in block) == sorted(
        each.encode() for each in [*found, "later"]
    )


def test_a_channel_that_has_lost_its_shards_does_not_hold_the_watermark_back(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []), Shard("b", []))
    read = reading(fake, 2)
    assert [(each.channel, each.work) for each in read.enumerator.next_batch()] == [(0, None), (1, None)]
    for shard in ("a", "b"):
        fake.shards[shard].is_closed = True
    fake.shards["c"] = Shard("c", ["a", "b"])
    ended = []
    for _ in range(4):
        read.seconds += 1
        ended += [each.channel for each in read.enumerator.next_batch() if each.final]
    assert ended == [1]
    assert read.enumerator.expects(0) and not read.enumerator.expects(1)


def test_children_use_channels_without_records(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []))
    read = reading(fake, 3)
    read.batch()
    fake.shards["a"].is_closed = True
    for name in "bc":
        fake.shards[name] = Shard(name, ["a"])
    read.batches(3)
    assert {read.enumerator.describe(channel) for channel in range(3)} == {"orders/b", "orders/c", ""}


def test_a_function_chooses_the_channel(reading: Callable[..., Reading]) -> None:
    def last(shard: KinesisShard, channels: int) -> int:
        return channels - 1

    fake = FakeKinesis(Shard("a", []), Shard("b", []))
    read = reading(fake, 3, assigner=last)
    read.batch()
    assert read.enumerator.describe(2) == "orders/a, orders/b"
    read.resume(2)
    assert read.enumerator.describe(1) == "orders/a, orders/b"


def test_a_service_that_has_too_much_to_do_is_asked_later(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []))
    fake.put("a", "a1")
    read = reading(fake)
    fake.errors += ["LimitExceededException", "ProvisionedThroughputExceededException", "ExpiredIteratorException"]
    assert read.batches(4)[-1] == ["a1"]


@pytest.mark.parametrize(
    ("code", "error", "text"),
    [
        ("ResourceNotFoundException", SourceNotFoundError, "check the name of the stream 'orders', and aws.region"),
        ("UnrecognizedClientException", SourceConnectionError, r"refuses .* check aws.credentials.\*"),
        ("AccessDeniedException", SourceConnectionError, r"check aws.credentials.\*"),
        ("InvalidArgumentException", SourceConnectionError, "because of InvalidArgument"),
    ],
)
def test_what_the_service_refuses_fails_at_once(
    reading: Callable[..., Reading], code: str, error: type[Exception], text: str
) -> None:
    fake = FakeKinesis(Shard("a", []))
    read = reading(fake)
    fake.errors.append(code)
    with pytest.raises(error, match=text) as caught:
        read.batch()
    assert "\n" not in str(caught.value)
    read = reading(fake)
    read.batch()
    fake.errors.append(code)
    with pytest.raises(error, match=text):
        read.batch()


def test_records_that_expired_between_driver_and_task_are_not_passed_over(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []))
    fake.put("a", "a1", "a2", "a3")
    read = reading(fake, 1)
    ((part,),) = [each.work for each in read.enumerator.next_batch() if each.work]
    read.enumerator.close()
    del fake.shards["a"].records[0]
    with pytest.raises(SourceNotFoundError, match="1 of 3 records .* older than the retention"):
        list(read.scan.messages(part))


def test_ranges_that_need_many_answers_are_read_whole(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", []))
    fake.put("a", *(f"a{n:02}" for n in range(20)))
    read = reading(fake, 1)
    ((part,),) = [each.work for each in read.enumerator.next_batch() if each.work]
    read.enumerator.close()
    fake.per_answer = 3
    assert [len(block) for block in read.scan.messages(part)] == [3, 3, 3, 3, 3, 3, 2]


def aggregated(*records: tuple[str, str]) -> bytes:
    whole: Any = _message()()
    for place, (key, text) in enumerate(records):
        whole.partition_key_table.append(key)
        whole.records.add(partition_key_index=place, data=text.encode())
    body: bytes = whole.SerializeToString()
    return b"\xf3\x89\x9a\xc2" + body + hashlib.md5(body).digest()


def test_records_that_a_producer_aggregated_are_taken_apart(reading: Callable[..., Reading]) -> None:
    fake = FakeKinesis(Shard("a", [], (0, hash_key_of("x"))))
    data = aggregated(("x", "in"), ("x", "too"))
    others = [key for key in "abcdefgh" if hash_key_of(key) > hash_key_of("x")]
    fake.shards["a"].records += [
        (100, 1, data),
        (101, 1, aggregated(*((key, "put into another shard") for key in others), ("x", "last"))),
        (102, 1, data[:-1] + bytes([data[-1] ^ 1])),  # only looks like one
    ]
    scan = replace(reading(fake, 1).scan, bounded=True)
    found = [record for part in scan.parts() for block in scan.messages(part) for record in block]
    assert [(each.data, each.partition_key, each.sub_sequence) for each in found[:3]] == [
        (b"in", "x", 0), (b"too", "x", 1), (b"last", "x", len(others)),
    ]  # fmt: skip
    assert len(others) > 0 and len(found) == 4 and found[3].sequence_number == "102"
