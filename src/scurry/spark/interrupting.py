"""BATCH jobs on Spark while they run: they end as soon as they are stopped, and tell how many tasks have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark import SparkContext

    from scurry.runtime.driver.job import JobExecution

#: Seconds between two attempts to cancel: the first may come before Spark has begun a job.
_CANCEL_SECONDS = 0.1
#: Seconds between two counts of tasks.
_COUNT_SECONDS = 0.5


@contextmanager
def interruptible(
    job: JobExecution, context: SparkContext, counted: Callable[[], dict[tuple[int, str], int]] | None = None
) -> Iterator[None]:
    """Cancel the jobs of Spark that begin within a `with` block when the job is stopped, and count their tasks.

    Args:
        counted: Returns what the tasks that have ended have counted; None if that is known at the end only.

    Raises:
        JobCancelledError: It was stopped.
    """
    tag, over = f"scurry-{job.job_id}-{job.attempt}", threading.Event()
    watch = threading.Thread(
        target=_watch, args=(job, context, tag, counted, over), name="scurry-spark-tasks", daemon=True
    )
    context.addJobTag(tag)
    context.setInterruptOnCancel(True)
    watch.start()
    try:
        with job.interrupted_by(lambda: context.cancelJobsWithTag(tag)):
            yield
        job.check_running()
    except Exception:
        job.check_running()
        raise
    finally:
        over.set()
        watch.join()
        context.removeJobTag(tag)


def _watch(
    job: JobExecution,
    context: SparkContext,
    tag: str,
    counted: Callable[[], dict[tuple[int, str], int]] | None,
    over: threading.Event,
) -> None:
    while not over.wait(_CANCEL_SECONDS if job.stopping.is_set() else _COUNT_SECONDS):
        try:
            if job.stopping.is_set():
                context.cancelJobsWithTag(tag)
            else:
                job.tasks = _tasks(context, tag)
        except Exception:
            if context._jsc is None:  # somebody has stopped Spark, which the job's own thread reports
                return
            raise
        if counted is not None and not job.stopping.is_set():
            job.totals.uncommitted = counted()


def _tasks(context: SparkContext, tag: str) -> tuple[int, int]:
    """Return the number of tasks that have ended, and of all that are known, of the jobs with a tag."""
    tracker, ended, known = context.statusTracker(), 0, 0
    jobs = context._jsc.sc().statusTracker().getJobIdsForTag(tag)
    for number in list(jobs):
        found = tracker.getJobInfo(number)
        for stage in () if found is None else map(tracker.getStageInfo, found.stageIds):
            if stage is not None:
                ended, known = ended + stage.numCompletedTasks, known + stage.numTasks
    return ended, known
