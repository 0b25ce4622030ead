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


def assigned(channel: int = 0) -> SplitAssignment:
    return SplitAssignment(0, channel, (0, 1), False)


def stream_after_a_rollback(replays: list[int], committed: int = -1) -> AssignmentStream:
    entries = [LogEntry([LoggedAssignment(offset, assigned())], POSITIONS) for offset in range(4)]
    log: Any = MagicMock()
    log.offsets.return_value = range(4)
    stream = AssignmentStream(MagicMock(), log, RestartPoint(0, entries, replays, committed), lambda entry: None)
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


def test_input_that_no_batch_had_follows_one_assignment_of_a_channel_in_a_batch(shown: list[int]) -> None:
    stream = stream_after_a_rollback([1])
    assert shown == [0, 1]
    for read in ([0, 1, 2], [0, 1, 2, 3]):
        assert stream.replaying
        stream.batch_ended()
        assert shown == read
    assert not stream.replaying
    stream.add([assigned()], POSITIONS)
    assert shown == [0, 1, 2, 3]
    stream.batch_ended()
    assert shown == [0, 1, 2, 3, 4]


def test_an_assignment_of_a_committed_batch_keeps_nothing_waiting(shown: list[int]) -> None:
    stream = stream_after_a_rollback([], committed=0)
    assert shown == [0, 1]
    assert stream.replaying


def test_assignments_of_several_channels_are_read_together(shown: list[int]) -> None:
    stream = stream_after_a_rollback([], committed=3)
    stream.add([assigned(0), assigned(1)], POSITIONS)
    assert shown == [0, 1, 2, 3, 4, 5]
    stream.add([assigned(1), assigned(2)], POSITIONS)
    stream.add([assigned(3)], POSITIONS)
    assert shown == [0, 1, 2, 3, 4, 5], "what is assigned later is not read before"
    stream.batch_ended()
    assert shown == [*range(9)]


def test_nothing_is_added_to_a_batch_that_spark_may_have_planned(shown: list[int]) -> None:
    stream = stream_after_a_rollback([], committed=3)
    stream.add([assigned(0)], POSITIONS)
    stream.add([assigned(1)], POSITIONS)
    assert shown == [0, 1, 2, 3, 4], "else nobody knew in which batch it is, and who may follow it"
    assert stream.shown_end == 5
    stream.batch_ended()
    assert (shown, stream.shown_end) == ([0, 1, 2, 3, 4, 5], 6)
    stream.add([assigned(1)], POSITIONS)
    assert stream.shown_end == 6
