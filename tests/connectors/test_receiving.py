"""Queues that hand messages out: what the driver receives is assigned, and acknowledged when it is committed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from scurry.connectors.queues import receiving
from scurry.connectors.queues.receiving import Receiver, ReceivingEnumerator, SeenIds
from scurry.connectors.source import BatchLimits
from scurry.errors import SourceConnectionError


class Tap(Receiver):
    """A queue in memory, whose connection the test breaks."""

    def __init__(self) -> None:
        super().__init__()
        self.unacknowledged: list[str] = []
        self.pushed: list[str] = []
        self.is_there = True
        self.breaks = threading.Event()
        self.connections = 0
        self._taken = 0

    def connect(self) -> None:
        if not self.is_there:
            raise SourceConnectionError("nobody is there")
        self.connections += 1
        self.pushed = list(self.unacknowledged)
        self._taken = 0

    def put(self, *texts: str) -> None:
        self.unacknowledged += texts
        self.pushed.extend(texts)

    def receive(self) -> None:
        if self.breaks.is_set():
            self.breaks.clear()
            raise OSError("broken")
        while self.pushed:
            self.received(self.pushed.pop(0))
        time.sleep(0.001)

    def failure(self, reason: Exception) -> SourceConnectionError:
        return SourceConnectionError(f"it breaks: {reason}")

    def disconnect(self) -> None:
        self.pushed = []

    def size(self, message: str) -> int:
        return len(message)

    def accepted(self, messages: list[Any]) -> list[Any]:
        self._taken += len(messages)
        return messages

    def acknowledge(self) -> None:
        del self.unacknowledged[: self._taken]
        self._taken = 0


def until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.001)


@pytest.fixture
def tap(monkeypatch: pytest.MonkeyPatch) -> Tap:
    monkeypatch.setattr(receiving, "_PAUSE_SECONDS", 0.001)
    return Tap()


def works(enumerator: ReceivingEnumerator) -> list[Any]:
    return [assignment.work for assignment in enumerator.next_batch()]


def test_the_first_assignment_is_there_without_messages_so_that_time_waits_for_the_queue(tap: Tap) -> None:
    enumerator = ReceivingEnumerator(tap, BatchLimits())
    assert works(enumerator) == [None]
    assert works(enumerator) == []
    enumerator.close()


def test_messages_are_assigned_within_limits_and_acknowledged_when_they_are_committed(tap: Tap) -> None:
    enumerator = ReceivingEnumerator(tap, BatchLimits(max_bytes=100, max_records=2))
    assert works(enumerator) == [None]
    tap.put("a", "b", "c", "d")
    until(lambda: tap.waiting == 4)
    assert works(enumerator) == [[["a", "b"]]]
    assert enumerator.backlog().records == 2
    assert tap.unacknowledged == ["a", "b", "c", "d"]
    enumerator.committed()
    assert tap.unacknowledged == ["c", "d"]
    enumerator.limit(BatchLimits(max_bytes=1, max_records=9), {})
    assert works(enumerator) == [[["c"]]]
    enumerator.close()


def test_messages_that_wait_are_limited_in_number_and_in_bytes(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_WAITING", 4)
    monkeypatch.setattr(receiving, "MOST_WAITING_BYTES", 10)
    enumerator = ReceivingEnumerator(tap, BatchLimits(max_records=1))
    works(enumerator)
    tap.put("a", "b", "c")
    until(lambda: tap.waiting == 3)
    assert not tap.is_full
    tap.put("12345678")
    until(lambda: tap.waiting == 4)
    assert tap.is_full
    for _ in range(2):
        works(enumerator)
    assert not tap.is_full  # nine bytes and two messages are left
    tap.breaks.set()
    until(lambda: tap.connections == 2 and tap.waiting == 4)
    assert tap.is_full  # what comes again counts once
    enumerator.close()


def test_what_was_not_taken_when_the_connection_breaks_comes_again(tap: Tap) -> None:
    enumerator = ReceivingEnumerator(tap, BatchLimits(max_records=1))
    works(enumerator)
    tap.put("a", "b")
    until(lambda: tap.waiting == 2)
    assert works(enumerator) == [[["a"]]]
    enumerator.committed()
    tap.breaks.set()
    until(lambda: tap.connections == 2 and tap.waiting == 1)
    assert works(enumerator) == [[["b"]]]
    enumerator.close()


def test_connections_that_break_before_a_message_comes_fail_the_job(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "PATIENCE_SECONDS", 0.05)
    enumerator = ReceivingEnumerator(tap, BatchLimits())
    works(enumerator)

    def receive() -> None:
        raise OSError("broken")

    monkeypatch.setattr(tap, "receive", receive)
    with pytest.raises(SourceConnectionError, match="it breaks: broken"):
        until(lambda: bool(works(enumerator)))
    assert tap.connections > 1
    enumerator.close()


def test_connections_that_break_after_a_message_came_are_made_again(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "PATIENCE_SECONDS", 0.05)
    enumerator = ReceivingEnumerator(tap, BatchLimits())
    works(enumerator)
    for number in range(10):
        tap.put(str(number))
        until(lambda: tap.waiting > 0)
        assert works(enumerator) == [[[str(number)]]]
        enumerator.committed()
        time.sleep(0.01)
        tap.breaks.set()
        until(lambda number=number: tap.connections == number + 2)  # type: ignore[misc]
    until(lambda: enumerator.metrics()["numReconnects"] == 10)
    enumerator.close()


def test_a_server_that_stays_away_fails_the_job(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "PATIENCE_SECONDS", 0.05)
    enumerator = ReceivingEnumerator(tap, BatchLimits())
    works(enumerator)
    tap.is_there = False
    tap.breaks.set()
    until(lambda: tap._error is not None)
    with pytest.raises(SourceConnectionError, match="nobody is there"):
        enumerator.next_batch()
    enumerator.close()


def test_an_error_of_the_connector_itself_fails_the_job(tap: Tap, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ValueError("wrong")

    enumerator = ReceivingEnumerator(tap, BatchLimits())
    works(enumerator)
    monkeypatch.setattr(tap, "receive", fail)
    until(lambda: tap._error is not None)
    with pytest.raises(ValueError, match="wrong"):
        enumerator.next_batch()
    enumerator.close()


def test_ids_tell_messages_that_come_again_until_long_after_their_acknowledgement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiving, "MOST_ACKNOWLEDGED", 2)
    seen = SeenIds(unacknowledged=1)
    assert [seen.add(key) for key in "abca"] == [True, True, True, False]
    assert seen.listed() == ["a", "b", "c"]
    seen.acknowledged()
    assert seen.listed() == ["b", "c"]
    assert [seen.add(key) for key in "bd"] == [False, True]


def test_all_ids_that_a_server_may_send_again_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_ACKNOWLEDGED", 2)
    seen = SeenIds(unacknowledged=3)
    for key in "abcd":
        seen.add(key)
    seen.acknowledged()  # the connection breaks before the server knows
    assert [seen.add(key) for key in "bcd"] == [False, False, False]


def test_ids_do_not_grow_with_the_number_of_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "MOST_RESTORED", 3)
    listed: list[str] = []
    for key in "abcdef":
        seen = SeenIds()
        seen.restore(listed)
        seen.add(key)
        listed = seen.listed()
    assert listed == ["c", "d", "e", "f"]


def test_restored_ids_are_known_for_some_minutes() -> None:
    now = [0.0]
    seen = SeenIds(now=lambda: now[0])
    seen.restore(["a"])
    seen.acknowledged()
    assert not seen.add("a")
    now[0] = 601
    seen.acknowledged()
    assert seen.listed() == []
