"""Answer Prometheus: the metrics of a job in its text format, with the names and labels of Flink's reporter."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from scurry.common.redaction import without_secrets
from scurry.metrics import DistributionResult, MeterResult
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import vertex_id, vertices
from scurry.rest.routes.common import PLAIN_TEXT, REFUSALS

router = APIRouter(responses=REFUSALS, tags=["metrics"])

_JOB, _OPERATOR = "flink_jobmanager_job_", "flink_taskmanager_job_task_operator_"
_STATISTICS = ("count", "sum", "min", "max", "mean")

#: (name, labels, value)
Sample = tuple[str, Mapping[str, str], float]


@router.get("/metrics", response_model=None, responses=PLAIN_TEXT)
def prometheus(request: Request) -> Any:
    """Return the metrics of the job in the text format of Prometheus."""
    return PlainTextResponse(
        "".join(_lines(request.app.state.job)), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


def _lines(job: ServedJob) -> Iterator[str]:
    by_name: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    labels = {"job_id": job.id, "job_name": without_secrets(job.name)}
    for name, own, value in [*_of_job(job), *_of_operators(job)]:
        by_name.setdefault(re.sub(r"[^a-zA-Z0-9:_]", "_", name), []).append(({**labels, **own}, value))
    for name, samples in sorted(by_name.items()):
        # All are gauges, as in Flink, whose counters may go down.
        yield f"# TYPE {name} gauge\n"
        for own, value in samples:
            shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in own.items())
            yield f"{name}{{{shown}}} {value}\n"


def _of_job(job: ServedJob) -> Iterator[Sample]:
    checkpoints = job.client.checkpoints()
    until = job.ended_ms or int(time.time() * 1000)
    yield f"{_JOB}uptime", {}, until - job.started_ms
    yield f"{_JOB}numRestarts", {}, job.plan.settings.attempt
    yield f"{_JOB}numberOfCompletedCheckpoints", {}, checkpoints[-1].checkpoint_id + 1 if checkpoints else 0
    if checkpoints:
        yield f"{_JOB}lastCheckpointDuration", {}, checkpoints[-1].duration_ms
        if (size := checkpoints[-1].state_size_bytes) is not None:
            yield f"{_JOB}lastCheckpointSize", {}, size


def _of_operators(job: ServedJob) -> Iterator[Sample]:
    """Yield what is known by subtask as such, anything else of operators without a subtask."""
    by_subtask, known = job.client.execution.subtask_metrics(), job.client.get_metrics().result()
    named: set[str] = set()
    for vertex in vertices(job.plan):
        labels = {"operator_id": vertex_id(vertex.uid), "operator_name": without_secrets(vertex.name)}
        own = by_subtask.get(vertex.id, {})
        for metric, values in own.items():
            for subtask, value in values.items():
                yield _OPERATOR + metric, {**labels, "subtask_index": str(subtask)}, value
        prefix = f"{vertex.name}."
        # Operators of one name share their metrics, which belong to the first of them here.
        for name in [one for one in known if one.startswith(prefix) and one not in named]:
            named.add(name)
            if (metric := name.removeprefix(prefix)) not in own:
                yield from _samples(metric, known[name], labels)


def _samples(metric: str, value: Any, labels: Mapping[str, str]) -> Iterator[Sample]:
    if isinstance(value, MeterResult):
        yield _OPERATOR + metric, labels, value.rate
    elif isinstance(value, DistributionResult):
        for part in _STATISTICS:
            yield f"{_OPERATOR}{metric}_{part}", labels, getattr(value, part)
    elif isinstance(value, dict):
        for subtask, part in value.items():
            yield _OPERATOR + metric, {**labels, "subtask_index": str(subtask)}, part
    elif isinstance(value, int | float):
        yield _OPERATOR + metric, labels, value


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
