"""BATCH jobs on Spark while they run: they end as soon as they are stopped, and tell how many tasks have ended."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

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
    tasks: _Tasks | None = None
    while not over.wait(_CANCEL_SECONDS if job.stopping.is_set() else _COUNT_SECONDS):
        try:
            if job.stopping.is_set():
                context.cancelJobsWithTag(tag)
            else:
                tasks = tasks or _Tasks(context, tag)
                job.tasks = tasks.count()
        except Exception:
            if context._jsc is None:  # somebody has stopped Spark, which the job's own thread reports
                return
            raise
        if counted is not None and not job.stopping.is_set():
            job.totals.uncommitted = counted()


class _Tasks:
    """Count the tasks of the jobs of Spark with a tag.

    Each call into the JVM takes from what the job computes with: a job that has ended is asked once, and no stages are.
    """

    def __init__(self, context: SparkContext, tag: str) -> None:
        spark = context._jsc.sc()
        self._tracker, self._store, self._tag = spark.statusTracker(), spark.statusStore(), tag
        self._text: Any = cast("Any", context._jvm).java.util.Arrays.toString  # the ids in one call
        self._ended: dict[int, tuple[int, int]] = {}

    def count(self) -> tuple[int, int]:
        """Return the number of tasks that have ended, and of all that are known."""
        ids: list[int] = json.loads(self._text(self._tracker.getJobIdsForTag(self._tag)))
        counts = [self._ended.get(each) or self._of(each) for each in ids]
        return sum(ended for ended, _ in counts), sum(known for _, known in counts)

    def _of(self, number: int) -> tuple[int, int]:
        job = self._store.job(number)
        counts = job.numCompletedTasks(), job.numTasks() - job.numSkippedTasks()
        if job.completionTime().isDefined():
            self._ended[number] = counts
        return counts
