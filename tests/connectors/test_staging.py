"""Staged sinks: whatever fails at any moment, and whatever a repeated batch holds, the server has each message once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema, ProducerRecord
from scurry.connectors.staging import Delivery, Numbered, StagingCommitter, StagingWriter
from support.cases import cases


class Lost(Exception):
    pass


@dataclass
class Server:
    """A server that drops sequence numbers that it has, and loses connections after some more messages."""

    topics: dict[str, list[ProducerRecord]] = field(default_factory=dict)
    last: dict[tuple[str, str], int] = field(default_factory=dict)
    breaks_after: int | None = None
    connections: int = 0

    def connect(self, name: str) -> Connection:
        self.connections += 1
        return Connection(self, name)


@dataclass
class Connection(Delivery):
    server: Server
    name: str
    open: bool = True

    def send(self, topic: str, records: Sequence[Numbered]) -> None:
        assert self.open
        server = self.server
        for number, record in records:
            if server.breaks_after == 0:
                raise Lost
            if server.breaks_after is not None:
                server.breaks_after -= 1
            last = server.last.get((self.name, topic), 0)
            assert number <= last + 1, "a gap"
            if number == last + 1:
                server.topics.setdefault(topic, []).append(record)
                server.last[self.name, topic] = number

    def close(self) -> None:
        self.open = False


def parcel(*values: str, topic: str = "t") -> list[ProducerRecord]:
    return [(topic, None, value.encode(), 7, None) for value in values]


def values(server: Server, topic: str = "t") -> list[str]:
    return [str(record[2], "utf-8") for record in server.topics.get(topic, []) if record[2] is not None]


def test_a_batch_is_sent_once(tmp_path: Path) -> None:
    server = Server()
    committer = StagingCommitter(str(tmp_path), "job/sink", server.connect)
    committer.commit(0, [parcel("a"), parcel("b")])
    committer.commit(0, [parcel("of another attempt")])
    committer.commit(1, [])
    committer.commit(2, [parcel("c")])
    StagingCommitter(str(tmp_path), "job/sink", server.connect).commit(2, [parcel("c")])
    assert values(server) == ["a", "b", "c"]
    assert server.connections == 1


def test_a_repeated_batch_sends_what_was_staged_first(tmp_path: Path) -> None:
    server = Server(breaks_after=1)
    committer = StagingCommitter(str(tmp_path), "s", server.connect)
    with pytest.raises(Lost):
        committer.commit(0, [parcel("a", "b", "c")])
    server.breaks_after = None
    committer.commit(0, [parcel("x", "y")])
    assert values(server) == ["a", "b", "c"]


def test_records_arrive_whole_at_their_topics(tmp_path: Path) -> None:
    server, topic = Server(), "persistent://public/default/ä"
    record: ProducerRecord = (topic, b"k", None, 9, [("h", b"v")])
    StagingCommitter(str(tmp_path), "s", server.connect).commit(0, [[record], parcel("a")])
    assert server.topics == {topic: [record], "t": parcel("a")}


def test_sinks_do_not_share_what_is_staged(tmp_path: Path) -> None:
    server = Server()
    for sink in ("one", "two"):
        StagingCommitter(str(tmp_path), sink, server.connect).commit(0, [parcel(sink)])
    assert values(server) == ["one", "two"]


def test_what_was_sent_does_not_stay_on_the_disk(tmp_path: Path) -> None:
    server = Server()
    committer = StagingCommitter(str(tmp_path), "s", server.connect)
    for batch in range(20):
        committer.commit(batch, [parcel("x" * 1000)])
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.log")) == 0
    assert len(list(tmp_path.rglob("*.log"))) == 1
    assert len(values(server)) == 20


@pytest.mark.parametrize("seed", range(cases(30)))
def test_random_failures_leave_every_record_once(seed: int, tmp_path: Path) -> None:
    chance, server, expected = random.Random(seed), Server(), list[str]()
    for batch in range(12):
        attempt, tried = 0, list[str]()
        while True:
            records = [f"{batch}.{attempt}.{number}" for number in range(chance.randrange(1, 5))]
            server.breaks_after = chance.choice([None, chance.randrange(6)])
            committer = StagingCommitter(str(tmp_path), "s", server.connect)
            tried = tried or records  # the first attempt was staged
            try:
                committer.commit(batch, [parcel(*records)])
                break
            except Lost:
                attempt += 1
        expected += tried
    assert values(server) == expected


def test_a_task_sends_its_records_in_parcels() -> None:
    writer = StagingWriter(KafkaRecordSerializationSchema(SimpleStringSchema(), "t"))
    writer.write(["a", "b"], [1, 2])
    assert writer.prepare_commit() == [[("t", None, b"a", 1, None), ("t", None, b"b", 2, None)]]
    assert StagingWriter(KafkaRecordSerializationSchema(SimpleStringSchema(), "t")).prepare_commit() == []
