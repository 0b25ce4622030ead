"""Submits a plan to the runner its settings name."""

from __future__ import annotations

from typing import Any

from scurry.graph.plan import JobPlan
from scurry.runtime.job import JobExecution, Runner, RunningJob


def submit(plan: JobPlan) -> RunningJob:
    """Starts a job and returns its client."""
    job = JobExecution(plan)
    runner = _runner(plan)
    return RunningJob(job, runner)


def _runner(plan: JobPlan) -> Runner:
    if plan.settings.runner == "local":
        from scurry.runtime.local.runner import LocalRunner

        return LocalRunner()
    import importlib

    spark: Any = importlib.import_module("scurry.spark.runner")  # the one way down from here to Spark
    return spark.runner_for(plan)  # type: ignore[no-any-return]
