"""Submit a plan to the runner that its settings name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scurry.common.job_id import JobID
from scurry.dependencies import JobDependencies
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.job import JobExecution, Runner
from scurry.runtime.driver.scaling import Scaling

#: The configured ids that jobs of this process have.
_taken: set[str] = set()


def submit(plan: JobPlan) -> RunningJob:
    """Start a job and return its client.

    Raises:
        ConfigError: Python code that the configuration names does not exist.
    """
    plan.settings = replace(plan.settings, dependencies=JobDependencies(plan.settings.configuration))
    job = JobExecution(plan, _fixed_id(plan))
    plan.settings = replace(plan.settings, job_id=str(job.job_id))
    runner = _runner(plan)
    _note_what_is_fixed(job)
    return RunningJob(job, runner)


def _fixed_id(plan: JobPlan) -> JobID | None:
    """Return the id that is configured for the first job of this process, which then keeps its checkpoints by it."""
    configuration = plan.settings.configuration
    digits = configuration.get("$internal.pipeline.job-id")
    if digits is None or digits in _taken:
        return None
    _taken.add(digits)
    directory = configuration.get("$internal.session.checkpoints")
    if directory is not None and plan.settings.checkpoint_dir is None and plan.settings.mode == "STREAMING":
        plan.settings = replace(plan.settings, checkpoint_dir=f"{directory}/{digits}")
    return JobID(digits)


def _note_what_is_fixed(job: JobExecution) -> None:
    settings = job.plan.settings
    scaling = Scaling.of(settings)
    if scaling is not None and scaling.reactive and (settings.mode == "BATCH" or settings.runner == "local"):
        kind = "BATCH jobs do" if settings.mode == "BATCH" else "the in-process runner does"
        job.log.note(f"scheduler-mode reactive: the parallelism stays {settings.parallelism}: {kind} not change it")


def _runner(plan: JobPlan) -> Runner:
    if plan.settings.runner == "local":
        from scurry.runtime.local.runner import LocalRunner

        return LocalRunner()
    import importlib

    spark: Any = importlib.import_module("scurry.spark.runner")  # the only import of Spark's package from this one
    return spark.runner_for(plan)  # type: ignore[no-any-return]
