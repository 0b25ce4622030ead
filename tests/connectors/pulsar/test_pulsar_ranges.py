"""Ranges of messages, read by a reader whose broker starts again meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pulsar
import pytest

from scurry.connectors.pulsar import source
from scurry.connectors.pulsar.client import MessageKey, PulsarService
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
