"""Records that Kinesis or Firehose do not take are sent again, in their order; a fake takes them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.kinesis import sink as sinks
from scurry.connectors.kinesis.sink import AwsSink, Batching
from scurry.connectors.sink import COUNTED, RETRIES, WriterContext
from scurry.errors import ArgumentError, RecordRejectedError, SinkConnectionError
from support.connectors.fake_kinesis import FakeKinesis, served

CONTEXT = WriterContext(3, 4, 7, "job/1")
SERIALIZER = KafkaRecordSerializationSchema(SimpleStringSchema(), "orders")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr(sinks, "_LONGEST_PAUSE", 0.0)


def write(
    fake: FakeKinesis, monkeypatch: pytest.MonkeyPatch, texts: list[str], partitioner: Any = "random", **limits: Any
) -> None:
    made = AwsSink(served(fake, monkeypatch), "orders", SERIALIZER, partitioner, Batching(**limits))
    writer = made.create_writer(CONTEXT)
    writer.write(texts)
    assert writer.prepare_commit() == []


def sent(fake: FakeKinesis) -> list[list[str]]:
    return [[data.decode() for _, data in request] for request in fake.requests]


def test_requests_keep_to_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeKinesis()
    write(fake, monkeypatch, ["a", "b", "c", "d", "e"], most_records=2)
    assert sent(fake) == [["a", "b"], ["c", "d"], ["e"]]
    fake = FakeKinesis()
    write(fake, monkeypatch, ["aaaa", "bbbb", "cc"], "fixed", most_bytes=7, most_record_bytes=7)
    assert sent(fake) == [["aaaa"], ["bbbb"], ["cc"]] or sent(fake) == [["aaaa"], ["bbbb", "cc"]]


def test_records_that_are_not_taken_are_sent_again_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeKinesis()
    fake.refused = {b"b": 2, b"d": 1}
    fake.errors = ["ProvisionedThroughputExceededException"]
    counts = Counter[str]()
    token = COUNTED.set(lambda metric, count: counts.update({metric: count}))
    write(fake, monkeypatch, ["a", "b", "c", "d", "e"], most_records=4)
    COUNTED.reset(token)
    assert sent(fake) == [["a", "c"], ["d"], ["b"], ["e"]]
    assert counts == {RETRIES: 3}


def test_a_job_that_wants_it_fails_with_the_first_record_that_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeKinesis()
    fake.refused = {b"b": 1}
    with pytest.raises(SinkConnectionError, match=r"orders: 1 of 2 records were not taken: Provisioned.*slow down"):
        write(fake, monkeypatch, ["a", "b"], fails=True)


def test_records_that_are_never_taken_fail_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinks, "PATIENCE_SECONDS", 0.01)
    fake = FakeKinesis()
    fake.refused = {b"b": 1 << 30}
    with pytest.raises(SinkConnectionError, match="1 of 1 records were not taken"):
        write(fake, monkeypatch, ["a", "b"])


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "UnrecognizedClientException", "ValidationException"])
def test_what_the_service_refuses_fails_at_once(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    fake = FakeKinesis()
    fake.errors = [code]
    with pytest.raises(SinkConnectionError, match=code):
        write(fake, monkeypatch, ["a"])
    assert fake.calls == ["put_records"]


def test_partition_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeKinesis()
    write(fake, monkeypatch, ["a", "b"], "fixed")
    write(fake, monkeypatch, ["a", "b"], str.upper)
    write(fake, monkeypatch, ["a", "b"])
    keys = [[key for key, _ in request] for request in fake.requests]
    assert keys[:2] == [["3", "3"], ["A", "B"]]
    assert len(set(keys[2])) == 2
    with pytest.raises(ArgumentError, match="a partition key is a text of 1 to 256 characters, got ''"):
        write(fake, monkeypatch, ["a"], lambda value: "")
    write(fake, monkeypatch, ["a"], lambda value: "k" * 300)
    assert fake.requests[-1] == [("k" * 256, b"a")]


def test_a_record_that_is_too_large_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecordRejectedError, match="a record of 9 bytes is larger than the maximum record size of 5"):
        write(FakeKinesis(), monkeypatch, ["12345678"], "fixed", most_record_bytes=5)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"most_records": 0}, "the maximum batch size must be 1 or more"),
        ({"most_records": 501}, "AWS takes no more"),
        ({"most_bytes": 5}, "is above that of a batch, 5"),
        ({"interval_ms": 0}, "time in buffer must be 1 or more"),
    ],
)
def test_limits_that_cannot_be(limits: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        Batching(**limits)
