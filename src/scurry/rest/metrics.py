"""The metrics of a job: as single values, and as text of Prometheus."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scurry.common.redaction import without_secrets
from scurry.metrics.scopes import identifier, logical, path
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import vertex_id, vertices

#: Flink's scopes of metrics.
JOB, OPERATOR = ("jobmanager", "job"), ("taskmanager", "job", "task", "operator")


class Sample(NamedTuple):
    """One value of a metric.

    Attributes:
        scope: What it belongs to: `JOB` or `OPERATOR`.
        name: Its name there, such as `numRecordsOut`; with its groups, but without their values.
        variables: Flink's variables of the scope, and the values of its groups by their keys; `subtask_index` only
            where the value is that of a subtask.
        path: Its name there with its groups, keys and values among them.
    """

    scope: tuple[str, ...]
    name: str
    variables: Mapping[str, str]
    value: float
    path: Sequence[str]


def samples(job: ServedJob) -> Iterator[Sample]:
    labels = {"job_id": job.id, "job_name": without_secrets(job.name)}
    for name, value in _of_job(job):
        yield Sample(JOB, name, labels, value, [name])
    for name, own, value in _of_operators(job):
        shown, pairs = logical(name)
        yield Sample(OPERATOR, shown, {**labels, **own, **pairs}, value, path(name))


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
    """Yield metrics of subtasks with their subtask, other metrics of operators without one."""
    execution = job.client.execution
    by_subtask, of_users, totals = execution.subtask_metrics(), execution.user_metrics(), execution.operator_metrics()
    for vertex in vertices(job.plan):
        labels = {"operator_id": vertex_id(vertex.uid), "operator_name": without_secrets(vertex.name)}
        own = {**by_subtask.get(vertex.id, {}), **of_users.get(vertex.id, {})}
        for metric, values in own.items():
            for subtask, value in values.items():
                yield metric, {**labels, "subtask_index": str(subtask)}, value
        shown = {identifier(metric) for metric in own}
        for metric, value in totals.get(vertex.id, {}).items():
            if metric not in shown and isinstance(value, int | float):
                yield metric, labels, value


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def prometheus_text(job: ServedJob) -> str:
    """Return all metrics of a job; all are gauges, as in Flink, whose counters may go down."""
    by_name: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for scope, metric, labels, value, _ in samples(job):
        by_name.setdefault(_name("_".join(("flink", *scope, metric)), also=":"), []).append((labels, value))
    lines = []
    for name, values in sorted(by_name.items()):
        lines.append(f"# TYPE {name} gauge\n")
        for labels, value in values:
            shown = ",".join(f'{_name(label)}="{_escaped(text)}"' for label, text in labels.items())
            lines.append(f"{name}{{{shown}}} {value}\n")
    return "".join(lines)


def _name(text: str, also: str = "") -> str:
    return re.sub(f"[^a-zA-Z0-9_{also}]", "_", text)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
