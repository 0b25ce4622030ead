"""Submit a plan to the runner that its settings name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID, uuid5

from scurry.common._config.replay import REPLAY_CAPTURE
from scurry.common.job_id import JobID
from scurry.connectors.collect_sink import CollectSink
from scurry.graph import operators as ops
from scurry.graph.dependencies import JobDependencies
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.client import RunningJob
from scurry.runtime.driver.job import JobExecution, Runner
from scurry.runtime.driver.scaling import Scaling
from scurry.runtime.engines import spark

#: Number of jobs of this process by configured id, including ids derived from it.
_jobs_with_id: Counter[str] = Counter()


def submit(plan: JobPlan, runner: Runner | None = None, job_id: JobID | None = None) -> RunningJob:
    """Start a job and return its client.

    Args:
        runner: What executes it; None for the runner that the settings name.
        job_id: Its id, which `reserved_id` has returned; None to reserve one.

    Raises:
        ConfigError: Python code that the configuration names does not exist.
    """
    plan.settings = replace(plan.settings, dependencies=JobDependencies(plan.settings.configuration))
    job = JobExecution(plan, job_id or _own_id(plan))
    plan.settings = replace(plan.settings, job_id=str(job.job_id))
    runner = runner or _runner(plan)
    _note_what_is_fixed(job)
    return RunningJob(job, runner)


def reserved_id(configuration: Mapping[str, str]) -> JobID:
    """Return the id of a job that keeps no checkpoints and begins later.

    Args:
        configuration: Its settings.
    """
    return JobID(_next(configuration)[1])


def _own_id(plan: JobPlan) -> JobID:
    """Return the id of a job, and let it keep its checkpoints in a session.

    There jobs keep their checkpoints by their ids; not those whose results a program that runs again needs.
    """
    configuration = plan.settings.configuration
    name, digits = _next(configuration)
    directory = configuration.get("$internal.session.checkpoints")
    keeps = plan.settings.checkpoint_dir is None and plan.settings.mode == "STREAMING" and not _collects(plan)
    if name is not None and directory is not None and keeps:
        plan.settings = replace(plan.settings, checkpoint_dir=f"{directory}/{name}")
    return JobID(digits)


def _next(configuration: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return name and id of the next job; None for a new id.

    The first job of this process has the configured id, others have the same one in each run of a program.
    """
    digits = configuration.get("$internal.pipeline.job-id")
    if digits is None:
        return None, None
    number = _jobs_with_id[digits]
    _jobs_with_id[digits] += 1
    return (f"{digits}-{number}", uuid5(UUID(digits), str(number)).hex) if number else (digits, digits)


def _collects(plan: JobPlan) -> bool:
    operators = [op.operator for op in plan.operators.values()]
    return any(isinstance(one, ops.Sink) and isinstance(one.function, CollectSink) for one in operators)


def _note_what_is_fixed(job: JobExecution) -> None:
    settings = job.plan.settings
    if settings.mode == "BATCH" and REPLAY_CAPTURE.of(settings.configuration) != "off":
        job.log.note(f"{REPLAY_CAPTURE.key}: nothing is captured, as BATCH has no micro-batches")
    scaling = Scaling.of(settings)
    if scaling is not None and scaling.reactive and (settings.mode == "BATCH" or settings.runner == "local"):
        kind = "BATCH jobs do" if settings.mode == "BATCH" else "the in-process runner does"
        job.log.note(f"scheduler-mode reactive: the parallelism stays {settings.parallelism}: {kind} not change it")


def _runner(plan: JobPlan) -> Runner:
    if plan.settings.runner == "local":
        from scurry.runtime.local.runner import LocalRunner

        return LocalRunner()
    return spark("runner").runner_for(plan)  # type: ignore[no-any-return]
