"""Flink's adaptive scheduler on Spark: a job runs as many subtasks as its executors have task slots."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scurry.errors import TopologyError
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import RescaleRequest
from scurry.runtime.driver.scaling import Scaling, ScalingPolicy, Stability
from scurry.spark.workers.partitioning import task_slots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Milliseconds between two checks of the executors.
_LOOK_EVERY = 1000
#: Milliseconds without any slot after which the job reports that it waits for executors.
_PATIENCE = 10_000


def adaptive_scheduler(job: JobExecution, spark: SparkSession, scaling: Scaling) -> AdaptiveScheduler | None:
    """Return the scheduler of a job, or None and a note to the user if its parallelism cannot change."""
    reason = _why_fixed(job.plan, spark)
    if reason is None:
        if not job.attempt:
            _warn_of_dynamic_allocation(job, spark)
        return AdaptiveScheduler(job, spark, scaling)
    if scaling.reactive and not job.attempt:
        job.log.note(f"scheduler-mode reactive: the parallelism stays {job.plan.settings.parallelism}: {reason}")
    return None


def _why_fixed(plan: JobPlan, spark: SparkSession) -> str | None:
    master = spark.sparkContext.master or ""
    if master.startswith("local") and not master.startswith("local-cluster"):
        return f"Spark's master is {master}, where no executors come and go"
    for source in plan.sources.values():
        if not source.source.native and not source.source.bounded:
            return (
                f"source {source.name!r} ({source.origin}) is a streaming DataFrame, which Spark cannot move to another"
            )
    return None


def _warn_of_dynamic_allocation(job: JobExecution, spark: SparkSession) -> None:
    if spark.sparkContext.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        job.log.note(
            "spark.dynamicAllocation.enabled: Spark asks for executors only while tasks wait for a slot, and with as "
            "many subtasks as slots none do: the job will shrink, but not grow; set it to false"
        )


class AdaptiveScheduler:
    """Watch the executors of a job and request the parallelism that fits them.

    Args:
        scaling: Bounds and delays of rescaling.
        clock: Returns the milliseconds of a monotonic clock.
        slots: Counts the task slots.
    """

    def __init__(
        self,
        job: JobExecution,
        spark: SparkSession,
        scaling: Scaling,
        clock: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
        slots: Callable[[Any], int] = task_slots,
    ) -> None:
        self._job, self._spark, self._scaling = job, spark, scaling
        self._clock, self._slots = clock, slots
        self._policy = ScalingPolicy(scaling)
        self._next_look = 0
        #: parallelisms at which the program could not be planned
        self._impossible: set[int] = set()

    def start(self) -> JobPlan | None:
        """Wait until Spark has executors and their number is stable.

        Returns:
            The plan to begin with, None if the job was stopped while waiting.
        """
        stability, began, waiting = Stability(), self._clock(), False
        plan = self._job.plan
        while not self._job.stopping.wait(0.1):
            now, slots = self._clock(), self._slots(self._spark)
            if stability.observe(slots, now) >= self._scaling.submission_stabilization_ms and slots:
                return self._at(min(slots, self._scaling.most, plan.settings.max_parallelism))
            if not slots and not waiting and now - began > _PATIENCE:
                waiting = True
                self._job.log.note(f"waiting for executors: {self._spark.sparkContext.master} has given none yet")
        return None

    def _at(self, parallelism: int) -> JobPlan:
        plan = self._job.plan
        if plan.settings.parallelism == parallelism:
            return plan
        assert plan.rebuild is not None
        return plan.rebuild(replace(plan.settings, parallelism=parallelism))

    def bound(self, parallelism: int) -> None:
        """Limit the parallelism to the requested one."""
        self._scaling = replace(self._scaling, most=parallelism)
        self._policy = ScalingPolicy(self._scaling)

    def began(self) -> None:
        """Note that the job now runs with its present parallelism."""
        self._policy.began(self._clock())

    def request(self) -> RescaleRequest | None:
        """Return a request for another parallelism if one is due; check the executors once a second."""
        now = self._clock()
        if now < self._next_look:
            return None
        self._next_look = now + _LOOK_EVERY
        parallelism = self._job.plan.settings.parallelism
        slots = min(self._slots(self._spark), self._job.plan.settings.max_parallelism)
        wanted = self._policy.observe(slots, parallelism, now)
        if wanted is None or wanted in self._impossible:
            return None
        try:
            self._at(wanted)
        except TopologyError as error:
            self._impossible.add(wanted)
            self._job.log.note(
                f"cannot follow the executors to parallelism {wanted}, staying at {parallelism}: {error}"
            )
            return None
        self._job.log.note(f"following the executors: parallelism {wanted} instead of {parallelism}")
        return RescaleRequest(wanted, asked_by="scheduler-mode reactive")
