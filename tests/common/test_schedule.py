"""Schedules: the times of cron expressions in time zones, and work that was missed."""

from __future__ import annotations

import threading
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from scurry.common._process.schedule import Periodic, Schedule
from scurry.errors import ValidationError
from scurry.sql.catalog.materialized import IntervalFreshness


def ms(text: str, zone: str = "UTC", fold: int = 0) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp() * 1000)


@pytest.mark.parametrize(
    ("number", "unit", "zone", "at", "last", "following"),
    [
        (10, "SECOND", "UTC", "2024-01-01 00:00:09", "2024-01-01 00:00:00", "2024-01-01 00:00:10"),
        (10, "SECOND", "UTC", "2024-01-01 00:00:10", "2024-01-01 00:00:10", "2024-01-01 00:00:20"),
        (30, "SECOND", "UTC", "2024-01-01 00:00:59", "2024-01-01 00:00:30", "2024-01-01 00:01:00"),
        (15, "MINUTE", "Asia/Kathmandu", "2024-01-01 00:14:59", "2024-01-01 00:00:00", "2024-01-01 00:15:00"),
        (8, "HOUR", "Europe/Berlin", "2024-01-01 23:00:00", "2024-01-01 16:00:00", "2024-01-02 00:00:00"),
        (1, "DAY", "Europe/Berlin", "2024-03-30 12:00:00", "2024-03-30 00:00:00", "2024-03-31 00:00:00"),
        (1, "DAY", "Europe/Berlin", "2024-03-31 12:00:00", "2024-03-31 00:00:00", "2024-04-01 00:00:00"),
    ],
)
def test_times_are_those_of_cron(number: int, unit: str, zone: str, at: str, last: str, following: str) -> None:
    schedule = Schedule(number, unit, zone)
    assert schedule.last(ms(at, zone)) == ms(last, zone)
    assert schedule.following(ms(at, zone)) == ms(following, zone)


def test_an_hour_that_there_is_twice_is_two_times() -> None:
    schedule, at = Schedule(1, "HOUR", "Europe/Berlin"), ms("2024-10-27 01:30:00", "Europe/Berlin")
    found = [at]
    for _ in range(3):
        found.append(schedule.following(found[-1]))
    assert all(later > earlier for earlier, later in zip(found, found[1:], strict=False))
    assert found[1] == ms("2024-10-27 02:00:00", "Europe/Berlin")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30])
@pytest.mark.parametrize("unit", ["SECOND", "MINUTE"])
def test_the_following_time_is_the_first_one(number: int, unit: str) -> None:
    schedule, at = Schedule(number, unit, "UTC"), ms("2024-02-29 23:59:31")
    for _ in range(5):
        later = schedule.following(at)
        assert schedule.last(later) == later > at and schedule.last(later - 1) <= at
        at = later


def test_cron_expressions_are_flinks() -> None:
    crons = {str(IntervalFreshness(n, unit)): IntervalFreshness(n, unit).cron() for n, unit in _CRONS}
    assert crons == {
        "INTERVAL '30' SECOND": "0/30 * * * * ? *",
        "INTERVAL '5' MINUTE": "0 0/5 * * * ? *",
        "INTERVAL '12' HOUR": "0 0 0/12 * * ? *",
        "INTERVAL '1' DAY": "0 0 0 * * ? *",
    }
    for number, unit in ((60, "SECOND"), (7, "MINUTE"), (24, "HOUR"), (5, "HOUR"), (2, "DAY")):
        with pytest.raises(ValidationError, match="In full refresh mode"):
            IntervalFreshness(number, unit).cron()


_CRONS = ((30, "SECOND"), (5, "MINUTE"), (12, "HOUR"), (1, "DAY"))


def test_missed_work_is_done_once_and_failures_end_nothing() -> None:
    clock, done, news = [ms("2024-01-01 00:10:30")], [], threading.Event()

    def work(due_ms: int) -> None:
        done.append(due_ms)
        clock[0] += 60_000 if len(done) < 3 else 0
        if len(done) == 3:
            news.set()
        raise ValueError("as always")

    periodic = Periodic(Schedule(1, "MINUTE"), work, ms("2024-01-01 00:05:00"), lambda: clock[0])
    periodic.start()
    assert news.wait(60)
    periodic.stop()
    assert done == [ms("2024-01-01 00:10:00"), ms("2024-01-01 00:11:00"), ms("2024-01-01 00:12:00")]


def test_times_that_pass_while_work_goes_on_are_left_out_and_counted() -> None:
    clock, news = [ms("2024-01-01 00:10:30")], threading.Event()
    done: list[int] = []
    skipped: list[int] = []

    def work(due_ms: int) -> None:
        done.append(due_ms)
        clock[0] += {1: 60_000, 2: 190_000}.get(len(done), 0)
        if len(done) == 3:
            news.set()

    periodic = Periodic(
        Schedule(1, "MINUTE"), work, ms("2024-01-01 00:05:00"), lambda: clock[0], skipped=skipped.append
    )
    periodic.start()
    assert news.wait(60)
    periodic.stop()
    assert done == [ms("2024-01-01 00:10:00"), ms("2024-01-01 00:11:00"), ms("2024-01-01 00:14:00")]
    assert skipped == [2]
