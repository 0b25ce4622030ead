"""Streams that are read by positions: a server that goes away is waited for, one that never answers is not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from scurry.connectors.messages import MessageSystem
from scurry.connectors.queues import positions
from scurry.connectors.queues.positions import PositionScan, StreamReader, patiently
from scurry.connectors.redis.streams import RedisMessages
from scurry.connectors.sink import COUNTED
from scurry.connectors.source import BatchLimits
from scurry.errors import SourceConnectionError


@dataclass
class Server:
    entries: int = 0
    is_there: bool = True


class Reader(StreamReader):
    def __init__(self, server: Server) -> None:
        self.server = server

    def streams(self) -> Sequence[str]:
        return ["s"]

    def start(self, stream: str) -> int:
        return 0

    def advance(self, stream: str, position: int, limit: int, stop: int | None) -> int:
        if not self.server.is_there:
            raise SourceConnectionError("nobody is there")
        return min(self.server.entries, position + limit, stop or self.server.entries)


@dataclass(frozen=True)
class Scan(PositionScan):
    system: ClassVar[MessageSystem] = RedisMessages()
    server: Server = field(default_factory=Server)
    bounded: bool = False

    @property
    def stop(self) -> bool:
        return self.bounded

    def create_reader(self) -> StreamReader:
        return Reader(self.server)

    def messages(self, part: tuple[str, Any, Any]) -> Iterator[Sequence[Any]]:
        yield [part]


def works(enumerator: Any) -> list[Any]:
    return [each for assignment in enumerator.next_batch() for each in assignment.work or []]


def test_a_server_that_goes_away_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(3)
    enumerator = Scan(server).create_enumerator(1, BatchLimits())
    assert works(enumerator) == [("s", 0, 3)]
    server.is_there, server.entries = False, 5
    for _ in range(3):
        assert works(enumerator) == []
    server.is_there = True
    assert works(enumerator) == [("s", 3, 5)]
    assert enumerator.metrics() == {"numReconnects": 1}
    server.is_there = False
    monkeypatch.setattr(positions, "PATIENCE_SECONDS", 0.2)
    begin = time.monotonic()
    with pytest.raises(SourceConnectionError, match="nobody is there"):
        while time.monotonic() < begin + 60:
            assert works(enumerator) == []
    assert 0.2 <= time.monotonic() - begin < 60


def test_a_server_that_never_answers_fails_at_once() -> None:
    enumerator = Scan(Server(3, is_there=False)).create_enumerator(1, BatchLimits())
    with pytest.raises(SourceConnectionError, match="nobody is there"):
        enumerator.next_batch()


def test_the_end_is_the_one_of_the_beginning_and_batches_have_limits() -> None:
    server = Server(5)
    scan = Scan(server, bounded=True)
    enumerator = scan.create_enumerator(1, BatchLimits(max_records=3))
    assert scan.parts() == [("s", 0, 5)]
    assert works(enumerator) == [("s", 0, 3)]
    server.entries = 9
    (last,) = enumerator.next_batch()
    assert (last.work, last.final) == ([("s", 3, 5)], True)


def test_what_fails_for_a_moment_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "_PAUSE_SECONDS", 0)
    failures = [SourceConnectionError("away"), SourceConnectionError("away")]

    def act() -> str:
        if failures:
            raise failures.pop()
        return "there"

    counted: list[tuple[str, int]] = []
    before = COUNTED.set(lambda *count: counted.append(count))
    assert patiently(act) == "there"
    COUNTED.reset(before)
    assert counted == [("numSendRetries", 1)] * 2
    failures.append(SourceConnectionError("away"))
    with pytest.raises(SourceConnectionError):
        patiently(act, patience=-1)
