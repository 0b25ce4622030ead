"""Handle requests about one subtask of a source or operator, by Flink's paths."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path

from scurry.rest.routes.common import REFUSALS, Names
from scurry.rest.routes.vertices import VERTEX, One, vertex

router = APIRouter(responses=REFUSALS, tags=["vertices"])
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
def accumulators(one: One, subtaskindex: Index, attempt: Index) -> dict[str, Any]:
    """Return no accumulators: those of functions belong to the job."""
    _only_attempt(attempt)
    return {"subtask": _known(one, subtaskindex), "attempt": 0, "id": "", "user-accumulators": []}


@router.get(f"{_SUBTASK}/metrics")
def metrics(one: One, subtaskindex: Index, get: Names = None) -> list[dict[str, str]]:
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
