"""How far sources are behind and when they will have caught up, told batch by batch."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.connectors.source import Backlog
from scurry.runtime.driver.backlog import BacklogTracker, CatchUpLog


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def behind(clock: Clock) -> BacklogTracker:
    return BacklogTracker(clock)


def batch(behind: BacklogTracker, clock: Clock, left: Backlog, seconds: float, source: int = 1) -> None:
    behind.left(source, left)
    clock.now += seconds
    behind.worked(seconds, {source} if left.more else ())


def test_the_time_to_catch_up_follows_from_how_fast_the_backlog_gets_smaller(
    behind: BacklogTracker, clock: Clock
) -> None:
    batch(behind, clock, Backlog(1000), 2)
    assert behind.seconds is None  # one batch tells no speed
    batch(behind, clock, Backlog(900), 2)
    assert behind.backlog == Backlog(900)
    assert behind.seconds == 18
    clock.now += 3
    assert behind.seconds == 15


def test_who_falls_behind_further_has_no_time_to_catch_up(behind: BacklogTracker, clock: Clock) -> None:
    batch(behind, clock, Backlog(1000), 2)
    batch(behind, clock, Backlog(1100), 2)
    assert behind.seconds is None
    assert behind.held_back


def test_who_has_read_everything_has_caught_up(behind: BacklogTracker, clock: Clock) -> None:
    batch(behind, clock, Backlog(0), 2)
    assert behind.seconds == 0
    assert not behind.held_back


def test_the_slowest_source_says_when_the_job_has_caught_up(behind: BacklogTracker, clock: Clock) -> None:
    for records, size in ((1000, 5000), (900, 4000)):
        behind.left(1, Backlog(records))
        behind.left(2, Backlog(bytes=size))
        clock.now += 1
        behind.worked(1, {1, 2})
    assert behind.backlog == Backlog(900, 4000)
    assert behind.seconds == 9


def test_only_the_last_minute_tells_the_speed(behind: BacklogTracker, clock: Clock) -> None:
    batch(behind, clock, Backlog(100_000), 10)
    for left in range(9000, 1900, -100):
        batch(behind, clock, Backlog(left), 1)
    assert behind.seconds == pytest.approx(20)


def test_a_source_that_goes_on_to_count_otherwise_begins_anew(behind: BacklogTracker, clock: Clock) -> None:
    batch(behind, clock, Backlog(bytes=10**9), 2)
    batch(behind, clock, Backlog(bytes=10**8), 2)
    batch(behind, clock, Backlog(1000), 2)
    assert behind.seconds is None
    batch(behind, clock, Backlog(900), 2)
    assert behind.seconds == 18


def without_idle_time(behind: BacklogTracker) -> dict[tuple[int, str], int]:
    return {place: value for place, value in behind.metrics().items() if place[1] != "sourceIdleTime"}


def test_sources_that_cannot_know_say_nothing(behind: BacklogTracker, clock: Clock) -> None:
    behind.left(1, None)
    behind.left(2, Backlog())
    clock.now += 1
    behind.worked(1, {2})
    assert behind.backlog == Backlog()
    assert behind.seconds is None
    assert without_idle_time(behind) == {(2, "backPressuredTimeMsPerSecond"): 1000}


def test_a_source_has_metrics_of_its_own(behind: BacklogTracker) -> None:
    behind.left(1, None, {"numReconnects": 3})
    assert without_idle_time(behind) == {(1, "numReconnects"): 3}


def test_a_source_is_idle_since_it_had_something_to_read(behind: BacklogTracker, clock: Clock) -> None:
    behind.left(1, None)
    clock.now += 2
    behind.left(1, None, is_idle=True)
    assert behind.metrics() == {(1, "sourceIdleTime"): 2000}
    behind.left(1, None)
    assert behind.metrics() == {(1, "sourceIdleTime"): 0}


def test_metrics_have_the_names_of_flink(behind: BacklogTracker, clock: Clock) -> None:
    batch(behind, clock, Backlog(70), 3)
    batch(behind, clock, Backlog(0), 1)
    assert without_idle_time(behind) == {(1, "pendingRecords"): 0, (1, "backPressuredTimeMsPerSecond"): 750}


def test_a_source_that_is_held_back_has_the_time_until_it_has_caught_up(behind: BacklogTracker, clock: Clock) -> None:
    batch(behind, clock, Backlog(1000), 2)
    batch(behind, clock, Backlog(900), 2)
    metrics = behind.metrics()
    assert metrics[1, "pendingDrainedPerSecond"] == 50
    assert metrics[1, "catchUpTimeMs"] == 18_000
    batch(behind, clock, Backlog(1400), 2)
    assert behind.metrics()[1, "pendingDrainedPerSecond"] == -100
    assert (1, "catchUpTimeMs") not in behind.metrics()


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def write(self, event: str, text: str) -> None:
        self.lines.append((event, text))


def test_the_log_tells_how_far_behind_a_job_is_and_when_it_has_caught_up(behind: BacklogTracker, clock: Clock) -> None:
    log: Any = Log()
    report = CatchUpLog(behind, log, clock)
    for left in range(1_000_000, -1, -10_000):
        batch(behind, clock, Backlog(left), 1)
        report.batch_ended()
    assert log.lines == [
        ("catching up", "900,000 records behind, 10,000 records less with every second: caught up in about 90 s"),
        ("catching up", "300,000 records behind, 10,000 records less with every second: caught up in about 30 s"),
        ("caught up", "caught up after 100 s"),
    ]


def test_a_job_that_is_behind_for_a_moment_logs_nothing(behind: BacklogTracker, clock: Clock) -> None:
    log: Any = Log()
    report = CatchUpLog(behind, log, clock)
    for left in (100, 50, 0, 100, 0):
        batch(behind, clock, Backlog(left), 2)
        report.batch_ended()
    assert log.lines == []


def test_the_log_tells_that_a_job_falls_behind_further(behind: BacklogTracker, clock: Clock) -> None:
    for left in (1000, 2000):
        batch(behind, clock, Backlog(bytes=left << 20), 1)
    assert behind.describe() == "2.1 GB behind, 1.0 GB more with every second: not catching up"
