"""Ranges of messages, read by a reader whose broker starts again meanwhile."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pulsar
import pytest

from scurry.connectors.pulsar import source
from scurry.connectors.pulsar.client import EARLIEST, MessageKey, PulsarService
from scurry.connectors.pulsar.source import RangeReader


@dataclass
class Message:
    entry: int

    def message_id(self) -> Any:
        return pulsar.MessageId(-1, 7, self.entry, -1)

    def data(self) -> bytes:
        return b"message"


@dataclass
class Client:
    """A topic of which each reader sees no more than so many messages, the last one all."""

    seen: list[int]
    last: int = 9
    begun: list[int] = field(default_factory=list)

    def create_reader(self, topic: str, begin: Any, start_message_id_inclusive: bool) -> Reader:
        self.begun.append(begin.entry_id())
        seen = self.seen.pop(0) if self.seen else self.last + 1
        return Reader([Message(entry) for entry in range(begin.entry_id(), self.last + 1)][:seen])


@dataclass
class Reader:
    left: list[Message]

    def read_next(self, timeout_ms: int) -> Message:
        if not self.left:
            raise pulsar.Timeout("nothing came")
        return self.left.pop(0)

    def has_message_available(self) -> bool:
        return bool(self.left)

    def close(self) -> None:
        self.left = []


def entries(client: Client, start: int, end: int) -> list[int]:
    reader = RangeReader(PulsarService("pulsar://h:1"), "t", client)
    blocks = reader.read(MessageKey(7, start, -1), MessageKey(7, end, -1))
    return [message.entry for block in blocks for message in block]


def test_a_reader_that_sees_less_than_there_is_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK_MESSAGES", 3)
    client = Client([3, 4])
    assert entries(client, 0, 9) == list(range(1, 10))
    assert client.begun == [0, 2, 5]


def test_a_range_whose_last_messages_are_gone_ends() -> None:
    assert entries(Client([], last=6), 0, 9) == list(range(1, 7))


@dataclass
class Counted:
    """A message whose id costs something."""

    key: MessageKey
    asked: list[MessageKey]

    def message_id(self) -> Any:
        self.asked.append(self.key)
        return self.key.id()

    def data(self) -> bytes:
        return b"message"


@dataclass
class Topic:
    """A topic as a client, of any messages; readers fail now and then, if there is chance."""

    keys: list[MessageKey]
    chance: random.Random | None = None
    asked: list[MessageKey] = field(default_factory=list)

    def create_reader(self, topic: str, begin: Any, start_message_id_inclusive: bool) -> Failing:
        first = MessageKey.of(begin)._replace(batch=-1)
        left = [each for each in self.keys if each._replace(batch=-1) >= first]
        return Failing([Counted(key, self.asked) for key in left], self.chance)  # type: ignore[misc]


@dataclass
class Failing(Reader):
    chance: random.Random | None = None

    def read_next(self, timeout_ms: int) -> Message:
        if self.chance is not None and self.chance.random() < 0.05:
            raise self.chance.choice([pulsar.Timeout, pulsar.ConnectError])("the broker starts again")
        return super().read_next(timeout_ms)


@pytest.mark.parametrize("seed", range(30))
def test_ranges_that_follow_each_other_have_every_message_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are batches, single messages, or markers that no reader sees; ends may be those of markers."""
    chance = random.Random(seed)
    monkeypatch.setattr(source, "BLOCK_MESSAGES", chance.choice([3, 1000]))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    keys = []
    for ledger in range(3):
        for entry in range(chance.randrange(30)):
            kind = chance.choice([0, 1, chance.randrange(2, 20)])
            keys += [MessageKey(ledger, entry, batch if kind > 1 else -1) for batch in range(kind)]
    ends = {MessageKey(chance.randrange(3), chance.randrange(30), chance.choice([-1, 3, (1 << 31) - 1]))
            for _ in range(6)}  # fmt: skip
    ends |= set(chance.sample(keys, min(6, len(keys)))) | {MessageKey(3, 0, 0)}
    reader, at, found = RangeReader(PulsarService("pulsar://h:1"), "t", Topic(keys, chance)), EARLIEST, []
    for end in sorted(ends):
        read = [message.key for block in reader.read(at, end) for message in block]
        assert read == [key for key in keys if at < key <= end]
        found += read
        at = end
    assert found == keys


@pytest.mark.parametrize("batch", [1, 100])
def test_the_ids_of_few_messages_are_looked_at(batch: int) -> None:
    """Asking the client for the id of each took two thirds of the time of reading."""
    keys = [MessageKey(7, number // batch, number % batch if batch > 1 else -1) for number in range(2000)]
    topic = Topic(keys)
    reader = RangeReader(PulsarService("pulsar://h:1"), "t", topic)
    blocks = list(reader.read(EARLIEST, keys[-1]))
    assert [message.key for block in blocks for message in block] == keys
    assert len(topic.asked) < 100
