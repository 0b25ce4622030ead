"""The metrics of a job as single values, with the names and variables of Flink's reporters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scurry.common.redaction import without_secrets
from scurry.metrics import DistributionResult, MeterResult
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import vertex_id, vertices

__all__ = ["JOB", "OPERATOR", "Sample", "samples"]

#: Flink's scopes of metrics.
JOB, OPERATOR = ("jobmanager", "job"), ("taskmanager", "job", "task", "operator")
_STATISTICS = ("count", "sum", "min", "max", "mean")


class Sample(NamedTuple):
    """One value of a metric.

    Attributes:
        scope: What it belongs to: `JOB` or `OPERATOR`.
        name: Its name there, such as `numRecordsOut`.
        variables: Flink's variables of the scope; `subtask_index` only where the value is that of a subtask.
        value: The value.
    """

    scope: tuple[str, ...]
    name: str
    variables: Mapping[str, str]
    value: float


def samples(job: ServedJob) -> Iterator[Sample]:
    """Yield all metrics of a job."""
    labels = {"job_id": job.id, "job_name": without_secrets(job.name)}
    for name, value in _of_job(job):
        yield Sample(JOB, name, labels, value)
    for name, own, value in _of_operators(job):
        yield Sample(OPERATOR, name, {**labels, **own}, value)


def _of_job(job: ServedJob) -> Iterator[tuple[str, float]]:
    checkpoints = job.client.checkpoints()
    until = job.ended_ms or int(time.time() * 1000)
    yield "uptime", until - job.started_ms
    yield "numRestarts", job.plan.settings.attempt
    yield "numberOfCompletedCheckpoints", checkpoints[-1].checkpoint_id + 1 if checkpoints else 0
    if checkpoints:
        yield "lastCheckpointDuration", checkpoints[-1].duration_ms
        if (size := checkpoints[-1].state_size_bytes) is not None:
            yield "lastCheckpointSize", size


def _of_operators(job: ServedJob) -> Iterator[tuple[str, Mapping[str, str], float]]:
    """Yield what is known by subtask as such, anything else of operators without a subtask."""
    by_subtask, known = job.client.execution.subtask_metrics(), job.client.get_metrics().result()
    named: set[str] = set()
    for vertex in vertices(job.plan):
        labels = {"operator_id": vertex_id(vertex.uid), "operator_name": without_secrets(vertex.name)}
        own = by_subtask.get(vertex.id, {})
        for metric, values in own.items():
            for subtask, value in values.items():
                yield metric, {**labels, "subtask_index": str(subtask)}, value
        prefix = f"{vertex.name}."
        # Operators of one name share their metrics, which belong to the first of them here.
        for name in [one for one in known if one.startswith(prefix) and one not in named]:
            named.add(name)
            if (metric := name.removeprefix(prefix)) not in own:
                yield from _values(metric, known[name], labels)


def _values(metric: str, value: Any, labels: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str], float]]:
    if isinstance(value, MeterResult):
        yield metric, labels, value.rate
    elif isinstance(value, DistributionResult):
        for part in _STATISTICS:
            yield f"{metric}_{part}", labels, getattr(value, part)
    elif isinstance(value, dict):
        for subtask, part in value.items():
            yield metric, {**labels, "subtask_index": str(subtask)}, part
    elif isinstance(value, int | float):
        yield metric, labels, value
