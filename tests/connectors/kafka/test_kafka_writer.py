"""The writers of tasks share producers between micro-batches; against a producer that only takes notes."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.kafka.sink import KafkaSink
from scurry.connectors.sink import SinkWriter, WriterContext


class NotingProducer:
    """Notes what a writer does with it."""

    def __init__(self) -> None:
        self.notes: list[Any] = []

    def connect(self) -> None:
        """Be connected."""

    def send(self, records: list[Any]) -> None:
        self.notes.append([record[2] for record in records])

    def flush(self) -> None:
        self.notes.append("flush")

    def close(self) -> None:
        self.notes.append("close")


@pytest.fixture
def producers(monkeypatch: pytest.MonkeyPatch) -> list[NotingProducer]:
    """The producers that writers have made."""
    made: list[NotingProducer] = []

    def make(*args: Any) -> NotingProducer:
        made.append(NotingProducer())
        return made[-1]

    monkeypatch.setattr("scurry.connectors.kafka.sink.PRODUCERS", ClientPool())
    monkeypatch.setattr("scurry.connectors.kafka.sink.TopicProducer", make)
    return made


def sink(exactly_once: bool = False) -> KafkaSink:
    serializer = KafkaRecordSerializationSchema(SimpleStringSchema(), "t")
    return KafkaSink(ClientProperties({"bootstrap.servers": "b:1"}), serializer, exactly_once)


def writer() -> SinkWriter:
    return sink().create_writer(WriterContext(0, 1, 0, "id"))


def test_the_first_record_does_not_wait_for_a_producer_to_be_made(producers: list[NotingProducer]) -> None:
    for _ in range(3):
        sink().connect()
    assert len(producers) == 1
    writer().write(["a"])
    assert len(producers) == 1


def test_tasks_that_only_serialize_connect_to_nothing(producers: list[NotingProducer]) -> None:
    sink(exactly_once=True).connect()
    assert not producers


def test_records_are_delivered_before_the_batch_may_be_committed(producers: list[NotingProducer]) -> None:
    one = writer()
    one.write(["a", "b"])
    assert one.prepare_commit() == []
    assert producers[0].notes == [[b"a", b"b"], "flush"]


def test_a_producer_is_used_by_one_writer_after_another_but_never_by_two(producers: list[NotingProducer]) -> None:
    writer().prepare_commit()
    first, second = writer(), writer()
    assert len(producers) == 2
    first.prepare_commit()
    second.prepare_commit()


def test_an_aborted_writer_drops_its_producer(producers: list[NotingProducer]) -> None:
    writer().abort()
    writer()
    assert producers[0].notes == ["close"]
    assert len(producers) == 2


def test_a_writer_that_is_aborted_when_it_was_done_leaves_the_producer_to_others(
    producers: list[NotingProducer],
) -> None:
    """The stage aborts all writers of a task when one of them fails, those that have finished too."""
    done = writer()
    done.prepare_commit()
    next_batch = writer()
    done.abort()
    next_batch.write(["a"])
    assert producers[0].notes == ["flush", [b"a"]]
