"""The tasks of BATCH jobs on Spark are counted while Spark runs."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.spark import interrupting


class Context:
    """A context of Spark whose tasks cannot be counted, for another reason if Spark is running."""

    def __init__(self, running: bool) -> None:
        self._jsc = object() if running else None


def watch(context: Any) -> None:
    job: Any = SimpleNamespace(stopping=threading.Event())
    interrupting._watch(job, context, "tag", None, threading.Event())


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupting, "_COUNT_SECONDS", 0)


def test_counting_ends_quietly_when_somebody_has_stopped_spark() -> None:
    watch(Context(running=False))


def test_other_failures_of_counting_are_seen() -> None:
    with pytest.raises(AttributeError):
        watch(Context(running=True))


class Job:
    """A job of Spark, as its store describes it."""

    def __init__(self, ended: int, known: int, skipped: int = 0, over: bool = False) -> None:
        self.numCompletedTasks, self.numTasks, self.numSkippedTasks = lambda: ended, lambda: known, lambda: skipped
        self.completionTime = lambda: SimpleNamespace(isDefined=lambda: over)


class Spark:
    """A context of Spark with jobs, and the numbers of those that were asked for."""

    def __init__(self, jobs: dict[int, Job]) -> None:
        self.jobs, self.asked = jobs, list[int]()
        spark = SimpleNamespace(
            statusTracker=lambda: SimpleNamespace(getJobIdsForTag=lambda tag: list(self.jobs)),
            statusStore=lambda: SimpleNamespace(job=self._job),
        )
        self._jsc = SimpleNamespace(sc=lambda: spark)
        self._jvm = SimpleNamespace(java=SimpleNamespace(util=SimpleNamespace(Arrays=SimpleNamespace(toString=str))))

    def _job(self, number: int) -> Job:
        self.asked.append(number)
        return self.jobs[number]


def test_the_tasks_of_all_jobs_are_counted_but_those_that_were_skipped() -> None:
    spark: Any = Spark({3: Job(4, 4, over=True), 5: Job(1, 6, skipped=2)})
    assert interrupting._Tasks(spark, "tag").count() == (5, 8)


def test_a_job_that_has_ended_is_asked_once() -> None:
    spark: Any = Spark({3: Job(4, 4, over=True), 5: Job(1, 6)})
    tasks = interrupting._Tasks(spark, "tag")
    assert (tasks.count(), tasks.count()) == ((5, 10), (5, 10))
    assert spark.asked == [3, 5, 5]
