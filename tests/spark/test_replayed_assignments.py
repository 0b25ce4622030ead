"""A batch that is rebuilt after a rollback gets what it had, and nothing more."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from scurry.runtime.exchange.wire import SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.assignment_log import LogEntry, LoggedAssignment
from scurry.spark.checkpoint.rollback import RestartPoint
from scurry.spark.streaming.assignment_stream import AssignmentStream

POSITIONS = MagicMock(spec=SourcePositions)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Offsets of the assignments that Spark can see."""
    found: list[int] = []
    monkeypatch.setattr(AssignmentStream, "_show", lambda self, logged: found.append(logged.offset))
    return found


def assigned() -> SplitAssignment:
    return SplitAssignment(0, 0, (0, 1), False)


def stream_after_a_rollback(replays: list[int]) -> AssignmentStream:
    entries = [LogEntry([LoggedAssignment(offset, assigned())], POSITIONS) for offset in range(4)]
    log: Any = MagicMock()
    log.offsets.return_value = range(4)
    stream = AssignmentStream(MagicMock(), log, RestartPoint(0, entries, replays), lambda entry: None)
    stream.recover()
    return stream


def test_new_input_waits_until_the_last_rebuilt_batch_has_ended(shown: list[int]) -> None:
    stream = stream_after_a_rollback([1, 3])
    assert shown == [0, 1]
    stream.batch_ended()
    assert shown == [0, 1, 2, 3]
    assert stream.replaying
    stream.add([assigned()], POSITIONS)
    assert shown == [0, 1, 2, 3]
    stream.batch_ended()
    assert shown == [0, 1, 2, 3, 4]
    assert not stream.replaying


def test_input_that_no_batch_had_is_followed_by_new_input_at_once(shown: list[int]) -> None:
    stream = stream_after_a_rollback([1])
    stream.batch_ended()
    assert not stream.replaying
    stream.add([assigned()], POSITIONS)
    assert shown == [0, 1, 2, 3, 4]
