"""Handle requests about one source or operator of a job: its subtasks and their metrics, by Flink's paths."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query

from scurry.common.redaction import without_secrets
from scurry.graph.plan import OperatorPlan, SourcePlan
from scurry.metrics.scopes import path
from scurry.rest.history import busy_of
from scurry.rest.job import ServedJob
from scurry.rest.plan_json import vertex_id, vertices
from scurry.rest.routes.common import REFUSALS, Aggregations, Job, Names
from scurry.rest.routes.jobs import IO, task_state
from scurry.rest.statistics import aggregated, aggregations

router = APIRouter(responses=REFUSALS, tags=["vertices"])
VERTEX = "/jobs/{jobid}/vertices/{vertexid}"

Numbers = Annotated[str | None, Query(description="Numbers of subtasks, such as 0,2-3; all if not given.")]
_WATERMARK, _INPUT_WATERMARK = "currentOutputWatermark", "currentInputWatermark"
_RATE = "numRecordsOutPerSecond"
_STATES_BEFORE = ("CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING")
_PRESSURE, _BUSY = "backPressuredTimeMsPerSecond", "busyTimeMsPerSecond"


def subtasks_of(part: SourcePlan | OperatorPlan) -> int:
    """Return the number of subtasks of a source or operator."""
    return part.channels if isinstance(part, SourcePlan) else part.parallelism


class Vertex:
    """A source or operator, with the counts of its subtasks."""

    def __init__(self, job: ServedJob, part: SourcePlan | OperatorPlan) -> None:
        self.job, self.part = job, part
        self.subtasks = subtasks_of(part)
        execution, operator = job.client.execution, without_secrets(part.name)
        of_users = execution.user_metrics().get(part.id, {})
        known = execution.subtask_metrics().get(part.id, {}) | {
            ".".join(map(_plain, [operator, *path(name)])): values for name, values in of_users.items()
        }
        # Those of subtasks that an earlier, larger parallelism had are left out.
        self.metrics: dict[str, dict[int, float]] = {
            name: {subtask: values[subtask] for subtask in range(self.subtasks) if subtask in values}
            for name, values in known.items()
        }

    @property
    def named(self) -> dict[str, Any]:
        """Id, name and parallelism, as in Flink's messages."""
        return {
            "id": vertex_id(self.part.uid),
            "name": without_secrets(self.part.name),
            "parallelism": self.subtasks,
            "maxParallelism": self.job.plan.settings.max_parallelism,
        }


def _vertex(job: Job, vertexid: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> Vertex:
    for part in vertices(job.plan):
        if vertex_id(part.uid) == vertexid:
            return Vertex(job, part)
    raise HTTPException(404, f"the job has no vertex {vertexid}; GET /jobs/{job.id} for those it has")


One = Annotated[Vertex, Depends(_vertex)]


@router.get("/jobs/{jobid}/subtasks")
def all_subtasks(job: Job) -> dict[str, Any]:
    """Return all sources and operators with the metrics of their subtasks; scurry's own."""
    found = []
    for one in (Vertex(job, part) for part in vertices(job.plan)):
        rates, state = (_statistics(one.metrics.get(name, {}), one.subtasks) for name in (_RATE, "stateSize"))
        subtasks = [{"subtask": number, **counts} for number, counts in enumerate(_by_subtask(one))]
        counted = _statistics(one.metrics.get("numRecordsOut", {}), one.subtasks)
        found.append(
            {
                **one.named,
                "rate": rates["sum"],
                "busy": busy_of(job.plan, one.metrics),
                "skew": counted["skew"],
                "state": state,
                "subtasks": subtasks,
            }
        )
    return {"vertices": found}


@router.get(VERTEX)
def vertex(one: One) -> dict[str, Any]:
    """Return a source or operator and its subtasks."""
    counted = [
        {**IO, "read-records": counts.get("numRecordsIn", 0), "write-records": counts.get("numRecordsOut", 0)}
        for counts in _by_subtask(one)
    ]
    durations = {**dict.fromkeys(_STATES_BEFORE, 0), "RUNNING": one.job.duration_ms}
    subtasks = [
        {
            "subtask": number,
            "status": task_state(one.job).upper(),
            "attempt": 0,
            "endpoint": "",
            "taskmanager-id": "",
            **_times(one.job),
            "metrics": figures,
            "status-duration": durations,
            "other-concurrent-attempts": [],
        }
        for number, figures in enumerate(counted)
    ]
    figures_of_all = {name: aggregated([int(one[name]) for one in counted]) for name in IO if type(IO[name]) is int}
    durations_of_all = {state: aggregated([duration] * one.subtasks) for state, duration in durations.items()}
    return {
        **one.named,
        "now": int(time.time() * 1000),
        "subtasks": subtasks,
        "aggregated": {"metrics": figures_of_all, "status-duration": durations_of_all},
    }


@router.get(f"{VERTEX}/subtasktimes")
def subtask_times(one: One) -> dict[str, Any]:
    """Return since when the subtasks run."""
    subtasks = [
        {"subtask": number, "endpoint": "", **_times(one.job), "timestamps": {"RUNNING": one.job.started_ms}}
        for number in range(one.subtasks)
    ]
    return {**one.named, "now": int(time.time() * 1000), "subtasks": subtasks}


@router.get(f"{VERTEX}/taskmanagers")
def task_managers(one: One) -> dict[str, Any]:
    """Return no task managers: the executors are Spark's."""
    return {**one.named, "now": int(time.time() * 1000), "taskmanagers": []}


@router.get(f"{VERTEX}/watermarks")
def watermarks(one: One) -> list[dict[str, str]]:
    """Return the watermark of each subtask that has one."""
    known = one.metrics.get(_WATERMARK, {})
    return [{"id": f"{number}.{_INPUT_WATERMARK}", "value": str(value)} for number, value in known.items()]


@router.get(f"{VERTEX}/backpressure")
def back_pressure(one: One) -> dict[str, Any]:
    """Return how much of the last minute each subtask was held back, known for sources, and has worked."""
    held, busy = one.metrics.get(_PRESSURE, {}), one.metrics.get(_BUSY, {})
    ratios = [held.get(number, 0) / 1000 for number in range(one.subtasks)]
    loads = [min(1.0, busy.get(number, 0) / 1000) for number in range(one.subtasks)]
    subtasks = [
        {
            "subtask": number,
            "attempt-number": 0,
            "backpressure-level": _level(ratio),
            "ratio": ratio,
            "idleRatio": max(0.0, 1 - ratio - load),
            "busyRatio": load,
            "other-concurrent-attempts": [],
        }
        for number, (ratio, load) in enumerate(zip(ratios, loads, strict=True))
    ]
    return {
        "status": "ok",
        "backpressure-level": _level(max(ratios)),
        "end-timestamp": int(time.time() * 1000),
        "subtasks": subtasks,
    }


@router.get(f"{VERTEX}/accumulators")
def accumulators(one: One) -> dict[str, Any]:
    """Return no accumulators: those of functions belong to the job."""
    return {"id": one.named["id"], "user-accumulators": []}


@router.get(f"{VERTEX}/subtasks/accumulators")
def subtask_accumulators(one: One) -> dict[str, Any]:
    """Return the subtasks, without accumulators: those of functions belong to the job."""
    subtasks = [
        {"subtask": number, "attempt": 0, "endpoint": "", "user-accumulators": []} for number in range(one.subtasks)
    ]
    return {"id": one.named["id"], "parallelism": one.subtasks, "subtasks": subtasks}


@router.get(f"{VERTEX}/metrics")
def metrics(one: One, get: Names = None) -> list[dict[str, str]]:
    """Return the metrics of all subtasks, named `subtask.metric`: all names, or the values of the requested ones."""
    values = {
        f"{subtask}.{name}": value for name, by_subtask in one.metrics.items() for subtask, value in by_subtask.items()
    }
    if get is None:
        return [{"id": name} for name in values]
    return [{"id": name, "value": str(values[name])} for name in get.split(",") if name in values]


@router.get(f"{VERTEX}/subtasks/metrics")
def aggregated_metrics(
    one: One, get: Names = None, agg: Aggregations = None, subtasks: Numbers = None
) -> list[dict[str, Any]]:
    """Return metrics over all subtasks: all names, or minimum, maximum, sum, average and skew of the requested ones."""
    if get is None:
        return [{"id": name} for name in one.metrics]
    numbers = range(one.subtasks) if subtasks is None else _numbers(subtasks, one.subtasks)
    return [
        {"id": name, **aggregations([one.metrics[name].get(number, 0) for number in numbers], agg)}
        for name in get.split(",")
        if one.metrics.get(name)
    ]


def _numbers(text: str, subtasks: int) -> list[int]:
    """Return the numbers of a list such as `0,2-3`."""
    if re.fullmatch(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*", text) is None:
        raise HTTPException(400, f"subtasks={text}: not of the form 0,2-3")
    bounds = [part.partition("-") for part in text.split(",")]
    wanted = {number for low, _, high in bounds for number in range(int(low), int(high or low) + 1)}
    found = sorted(number for number in wanted if number < subtasks)
    if not found:
        raise HTTPException(404, f"there are {subtasks} subtasks: 0 to {subtasks - 1}")
    return found


def _by_subtask(one: Vertex) -> list[dict[str, float]]:
    return [
        {name: values[number] for name, values in one.metrics.items() if number in values}
        for number in range(one.subtasks)
    ]


def _statistics(values: Mapping[int, float], subtasks: int) -> dict[str, float]:
    """Return the aggregations of Flink; a subtask that has counted nothing counts as 0."""
    return aggregations([values.get(number, 0) for number in range(subtasks)])


def _plain(name: str) -> str:
    """Return a name without the separators of ids and of their lists, as Flink does."""
    return re.sub("[ .:,]", "_", name)


def _times(job: ServedJob) -> dict[str, int]:
    return {
        "start-time": job.started_ms,
        "start_time": job.started_ms,
        "end-time": job.ended_ms or -1,
        "duration": job.duration_ms,
    }


def _level(ratio: float) -> str:
    # Flink's bounds.
    return "ok" if ratio <= 0.1 else "low" if ratio <= 0.5 else "high"


_SUBTASK = VERTEX + "/subtasks/{subtaskindex}"
_ATTEMPT = _SUBTASK + "/attempts/{attempt}"

Index = Annotated[int, Path(ge=0)]


@router.get(_SUBTASK)
def subtask(one: One, subtaskindex: Index) -> dict[str, Any]:
    """Return one subtask."""
    found: dict[str, Any] = vertex(one)["subtasks"][_known(one, subtaskindex)]
    return found


@router.get(_ATTEMPT)
def attempt(one: One, subtaskindex: Index, attempt: Index) -> dict[str, Any]:
    """Return one subtask; Spark repeats tasks without Flink's attempts, so there is one attempt, 0."""
    _only_attempt(attempt)
    return subtask(one, subtaskindex)


@router.get(f"{_ATTEMPT}/accumulators")
def attempt_accumulators(one: One, subtaskindex: Index, attempt: Index) -> dict[str, Any]:
    """Return no accumulators: those of functions belong to the job."""
    _only_attempt(attempt)
    return {"subtask": _known(one, subtaskindex), "attempt": 0, "id": "", "user-accumulators": []}


@router.get(f"{_SUBTASK}/metrics")
def subtask_metrics(one: One, subtaskindex: Index, get: Names = None) -> list[dict[str, str]]:
    """Return the metrics of one subtask: all names, or the values of the requested ones."""
    number = _known(one, subtaskindex)
    values = {name: by_subtask[number] for name, by_subtask in one.metrics.items() if number in by_subtask}
    if get is None:
        return [{"id": name} for name in values]
    return [{"id": name, "value": str(values[name])} for name in get.split(",") if name in values]


def _known(one: One, number: int) -> int:
    if number >= one.subtasks:
        raise HTTPException(404, f"there are {one.subtasks} subtasks: 0 to {one.subtasks - 1}")
    return number


def _only_attempt(number: int) -> None:
    if number != 0:
        raise HTTPException(404, "a subtask has one attempt, 0")
