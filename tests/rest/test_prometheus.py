"""Metrics for Prometheus, and the dashboard that shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scurry.metrics import DistributionResult, MeterResult
from scurry.metrics.scopes import in_group
from scurry.rest.client import RemoteProcess
from scurry.runtime.driver.checkpoint_history import CheckpointInfo
from support.rest.fake_jobs import TOKEN, FakeJob, raw

DASHBOARD = Path(__file__).parents[2] / "examples" / "deploy" / "grafana.json"
#: A line of the format: name, labels, value.
SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)\{((?:\w+="(?:[^"\\\n]|\\.)*",?)*)\} (-?[\d.e+]+)$')


@pytest.fixture(autouse=True)
def counted(job: FakeJob) -> None:
    (numbers,) = job.execution.plan.sources
    sums = next(iter(job.execution.plan.operators))
    job.metrics = {
        "numbers.pendingRecords": 12, "sums.numLateRecordsDropped": 4, "sums.numRecordsOut": 40,
        "sums.size of orders": DistributionResult(10.0, 4, 1, 4), "sums.clicks": MeterResult(90, 1.5),
    }  # fmt: skip
    odd = in_group(in_group("", "kind:of", "odd.1"), "seen")
    job.execution.of_users = {sums: {"size of orders_max": {0: 3, 1: 4}, "clicks": {0: 1.5}, odd: {1: 7}}}
    job.execution.subtasks = {
        numbers: {"backPressuredTimeMsPerSecond": {0: 600}},
        sums: {
            "numRecordsOut": {0: 30, 1: 10},
            "numRecordsOutPerSecond": {0: 3.0},
            "currentOutputWatermark": {0: 5000},
        },
    }
    job.taken = [CheckpointInfo(6, 1000, 250, 50, 4096)]


def scraped(process: RemoteProcess) -> dict[str, list[tuple[str, float]]]:
    status, text = raw(process, "/metrics", Authorization=f"Bearer {TOKEN}")
    assert status == 200
    found: dict[str, list[tuple[str, float]]] = {}
    for line in text.splitlines():
        if not line.startswith("# TYPE "):
            match = SAMPLE.match(line)
            assert match, line
            found.setdefault(match[1], []).append((match[2], float(match[3])))
    return found


def test_subtasks_have_flinks_names_and_labels(job: FakeJob, process: RemoteProcess) -> None:
    first, second = scraped(process)["flink_taskmanager_job_task_operator_numRecordsOut"]
    assert (first[1], second[1]) == (30, 10)
    for label in (f'job_id="{job.id}"', 'job_name="orders"', 'operator_name="sums"', 'subtask_index="0"'):
        assert label in first[0]


def test_metrics_of_functions_follow_by_subtask(process: RemoteProcess) -> None:
    found = {name.removeprefix("flink_taskmanager_job_task_operator_"): them for name, them in scraped(process).items()}
    assert found["clicks"][0][1] == 1.5
    assert [value for _, value in found["size_of_orders_max"]] == [3, 4]
    assert 'subtask_index="1"' in found["size_of_orders_max"][1][0]


def test_the_value_of_a_group_is_a_label_and_not_in_the_name(process: RemoteProcess) -> None:
    ((labels, value),) = scraped(process)["flink_taskmanager_job_task_operator_kind:of_seen"]
    assert 'kind_of="odd.1"' in labels and value == 7


def test_the_job_has_its_own(process: RemoteProcess) -> None:
    found = {name: them[0][1] for name, them in scraped(process).items() if name.startswith("flink_jobmanager_job_")}
    assert found["flink_jobmanager_job_lastCheckpointSize"] == 4096
    assert found["flink_jobmanager_job_numberOfCompletedCheckpoints"] == 7
    assert found["flink_jobmanager_job_uptime"] >= 0


def test_names_of_jobs_cannot_break_the_format(job: FakeJob, process: RemoteProcess) -> None:
    object.__setattr__(job.execution.plan.settings, "job_name", 'a"b\\c\nd')
    assert 'job_name="a\\"b\\\\c\\nd"' in scraped(process)["flink_jobmanager_job_uptime"][0][0]


def test_it_needs_the_token(process: RemoteProcess) -> None:
    assert raw(process, "/metrics")[0] == 401


def test_the_dashboard_shows_metrics_that_exist(process: RemoteProcess) -> None:
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    shown = {name for text in expressions for name in re.findall(r"flink_\w+", text)}
    assert shown and shown <= set(scraped(process))
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
