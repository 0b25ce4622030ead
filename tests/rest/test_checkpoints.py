"""Checkpoints of a job by source, operator and subtask, as Flink tells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import RequestRefusedError
from scurry.rest.client import RemoteProcess
from scurry.rest.plan_json import vertex_id
from scurry.rest.statistics import aggregated, summary
from scurry.runtime.driver.checkpoint_history import CheckpointInfo, OperatorState
from support.rest.fake_jobs import FakeJob

RECORDED = json.loads((Path(__file__).parent / "recorded" / "checkpoints_of_flink.json").read_text())
SUMS = vertex_id("sums")
DETAILS = "/checkpoints/details/8"


@pytest.fixture(autouse=True)
def taken(job: FakeJob) -> None:
    """Two checkpoints; `sums` has state in both of its subtasks."""
    sums = next(iter(job.execution.plan.operators))
    job.taken = [
        CheckpointInfo(7, 1000, 20, 5, 300, states={sums: OperatorState([200, 100], [200, 100])}),
        CheckpointInfo(8, 2000, 30, 5, 400, states={sums: OperatorState([300, 100], [250, 0])}),
    ]


def ask(process: RemoteProcess, job: FakeJob, path: str) -> Any:
    return process.request("GET", f"/jobs/{job.id}{path}")


def test_subtasks_have_the_size_of_their_state_and_of_what_was_written(process: RemoteProcess, job: FakeJob) -> None:
    found = ask(process, job, f"{DETAILS}/subtasks/{SUMS}")
    sizes = [(one["index"], one["state_size"], one["checkpointed_size"]) for one in found["subtasks"]]
    assert sizes == [(0, 300, 250), (1, 100, 0)]
    assert (found["state_size"], found["checkpointed_size"], found["num_subtasks"]) == (400, 250, 2)


def test_subtasks_are_summarized(process: RemoteProcess, job: FakeJob) -> None:
    found = ask(process, job, f"{DETAILS}/subtasks/{SUMS}")["summary"]["state_size"]
    assert (found["min"], found["max"], found["avg"], found["p50"]) == (100, 300, 200, 200)


def test_a_checkpoint_has_its_size_in_each_source_and_operator(process: RemoteProcess, job: FakeJob) -> None:
    found = ask(process, job, DETAILS)["tasks"]
    assert (found[SUMS]["state_size"], found[vertex_id("numbers")]["state_size"]) == (400, 0)


def test_checkpoints_are_summarized(process: RemoteProcess, job: FakeJob) -> None:
    found = ask(process, job, "/checkpoints")["summary"]
    assert [found["state_size"][name] for name in ("min", "max", "avg")] == [300, 400, 350]
    assert [found["checkpointed_size"][name] for name in ("min", "max", "avg")] == [250, 300, 275]


def test_an_earlier_checkpoint_has_the_subtasks_that_there_were(process: RemoteProcess, job: FakeJob) -> None:
    sums = next(iter(job.execution.plan.operators))
    job.taken = [CheckpointInfo(8, 0, 1, 1, states={sums: OperatorState([1, 2, 3], [1, 2, 3])})]
    assert ask(process, job, f"{DETAILS}/subtasks/{SUMS}")["num_subtasks"] == 3


@pytest.mark.parametrize("path", ["/checkpoints/details/6", f"/checkpoints/details/6/subtasks/{SUMS}",
                                  f"/checkpoints/details/8/subtasks/{'0' * 32}"])  # fmt: skip
def test_what_is_not_known_is_not_found(path: str, process: RemoteProcess, job: FakeJob) -> None:
    with pytest.raises(RequestRefusedError, match="checkpoint 6|has no vertex"):
        ask(process, job, path)


@pytest.mark.parametrize("path", [path for path in RECORDED if path.startswith("/")])
def test_answers_have_all_fields_of_flinks(path: str, process: RemoteProcess, job: FakeJob) -> None:
    ours = ask(process, job, path.replace("ID", "8").replace("VERTEX", SUMS))
    assert missing(RECORDED[path], ours) == []


def missing(theirs: Any, ours: Any, place: str = "") -> list[str]:
    """What is not in our answer, or of another kind there; a percentile that Flink does not know is "NaN"."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if place.endswith("tasks"):  # by the ids of vertices, which differ
            theirs, ours = (dict(enumerate(list(answer.values())[:1])) for answer in (theirs, ours))
        return [
            each
            for name, value in theirs.items()
            for each in (missing(value, ours[name], f"{place}.{name}") if name in ours else [f"{place}.{name}"])
        ]
    if isinstance(theirs, list) and isinstance(ours, list):
        return missing(theirs[0], ours[0], f"{place}[0]") if theirs else []
    if theirs is None or theirs == "NaN":
        return []
    numbers = isinstance(theirs, int | float) and isinstance(ours, int | float)
    return [] if numbers or type(theirs) is type(ours) else [f"{place} is {ours!r}"]


def test_statistics_of_subtasks_are_flinks() -> None:
    recorded = RECORDED["/vertices/VERTEX"]
    for name, theirs in recorded["aggregated"]["metrics"].items():
        assert aggregated([int(one["metrics"][name]) for one in recorded["subtasks"]]) == theirs


def test_a_percentile_is_between_the_values_next_to_it() -> None:
    found = summary(list(range(1, 101)))
    assert [found["p50"], found["p90"], found["p999"]] == pytest.approx([50.5, 90.9, 100])
