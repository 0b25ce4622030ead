"""What sender and receiver rely on is asserted at both ends: a fault stops the job where it is made or arrives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import CheckpointCorruptedError
from scurry.graph.plan import JobPlan
from scurry.runtime.driver.metrics import JobMetrics
from scurry.runtime.driver.sink_commits import SinkCommits
from scurry.runtime.exchange.input_gate import InputGate
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import DATA, PROGRESS, WireRow, channel_id, pack, sender_of
from scurry.runtime.exchange.writers import edge_writer
from scurry.runtime.keys import key_hash, subtask_of
from scurry.runtime.state.runs import Run, _joined, built, to_merge
from scurry.runtime.state.store import DictStore, RunInfo
from scurry.runtime.tasks.level_task import LevelTask
from scurry.testing import job_plan_of


@pytest.fixture
def plan() -> JobPlan:
    local = Configuration.from_dict({"scurry.runner": "local", "parallelism.default": "2"})
    env = StreamExecutionEnvironment.get_execution_environment(local)
    env.from_collection([(1, 1)]).key_by(lambda each: each[0]).reduce(lambda a, b: a).print()
    return job_plan_of(env)


class TestChannels:
    @pytest.mark.parametrize(("task", "subtask"), [(-1, 0), (1 << 15, 0), (0, 1 << 16)])
    def test_a_sender_has_a_number_that_fits(self, task: int, subtask: int) -> None:
        with pytest.raises(AssertionError, match="no channel"):
            channel_id(task, subtask)

    def test_a_receiver_knows_the_sender(self) -> None:
        with pytest.raises(AssertionError, match="no channel"):
            sender_of(-1)


class TestBlocks:
    def test_a_sender_packs_columns_of_one_length(self, plan: JobPlan) -> None:
        edge = next(iter(plan.edges.values()))
        writer = edge_writer(edge, plan.subtask_ids, 0, 0, plan.operators[edge.target])
        writer._buckets[0].values.extend(["a", "b"])
        writer._buckets[0].keys.append(1)
        with pytest.raises(AssertionError, match="1 keys of 2 records"):
            writer.flush(0, 0)

    @pytest.mark.parametrize(
        ("block", "told"),
        [
            ((["k"], [1, 2], None, 0), "1 keys of 2 records"),
            ((None, [1], [1, 2], 0), "2 timestamps of 1 records"),
        ],
    )
    def test_a_receiver_gets_columns_of_one_length(self, plan: JobPlan, block: Any, told: str) -> None:
        with pytest.raises(AssertionError, match=told):
            receive(plan, 0, pack(block))

    def test_a_receiver_gets_its_own_keys(self, plan: JobPlan) -> None:
        own = subtask_of(key_hash(7), plan.settings.max_parallelism, 2)
        block = pack(([7], [(7, 1)], None, 0))
        receive(plan, own, block)
        with pytest.raises(AssertionError, match=f"key 7 belongs to subtask {own}"):
            receive(plan, 1 - own, block)


def receive(plan: JobPlan, subtask: int, block: bytes) -> None:
    edge = next(iter(plan.edges.values()))
    task = LevelTask(lambda: plan, edge.level)
    row = WireRow(plan.subtask_ids[subtask], edge.id, DATA, channel_id(edge.senders[0].task), 0, block)
    list(task.process(plan.subtask_ids[subtask], [row], DictStore()))


class TestProgress:
    def test_a_sender_goes_forward(self, plan: JobPlan) -> None:
        edge = next(iter(plan.edges.values()))
        writer = edge_writer(edge, plan.subtask_ids, 0, 0, plan.operators[edge.target])
        writer.point(2, 0)
        with pytest.raises(AssertionError, match="position 1 goes back"):
            writer.point(1, 0)

    def test_a_receiver_sees_it_go_forward(self, plan: JobPlan) -> None:
        edge = next(iter(plan.edges.values()))
        points = pack([(2, 0, 0, 0), (1, 0, 0, 0)])
        with pytest.raises(AssertionError, match="progress goes back"):
            InputGate([edge], {}).add(WireRow(0, edge.id, PROGRESS, channel_id(edge.senders[0].task), 0, points))

    def test_no_records_come_from_strangers(self, plan: JobPlan) -> None:
        edge = next(iter(plan.edges.values()))
        with pytest.raises(AssertionError, match="does not send to this operator"):
            InputGate([edge], {}).add(WireRow(0, edge.id, DATA, channel_id(77), 0, b""))


class TestReportsAndCommits:
    def test_no_counter_falls(self, plan: JobPlan) -> None:
        with pytest.raises(AssertionError, match="numRecordsIn of operator 1 fell by 3"):
            JobMetrics(plan).add(TaskReport(counters={(1, "numRecordsIn"): -3}))

    def test_batches_are_committed_in_order(self, plan: JobPlan) -> None:
        sinks = SinkCommits(plan)
        sinks.commit(4, {})
        sinks.commit(4, {})
        with pytest.raises(AssertionError, match="batch 3 is committed after batch 4"):
            sinks.commit(3, {})

    def test_only_sinks_commit(self, plan: JobPlan) -> None:
        with pytest.raises(AssertionError, match="not all have committers"):
            SinkCommits(plan).commit(0, {99: [b""]})


class TestPlans:
    def test_a_plan_fits_together_where_it_is_made_and_where_it_is_loaded(self, plan: JobPlan) -> None:
        edge = next(iter(plan.edges.values()))
        plan.edges[edge.id] = replace(edge, level=7)
        with pytest.raises(AssertionError, match="on level 7"):
            LevelTask(lambda: plan, 1)


class TestRuns:
    def test_the_keys_of_a_run_are_sorted_when_it_is_written(self) -> None:
        hashes, ends = np.array([2, 1], np.uint32), np.array([1, 2], np.uint32)
        with pytest.raises(AssertionError, match="not sorted"):
            _joined([hashes, ends, ends, b"kk", b"vv"], [None, None])

    def test_its_entries_end_where_it_says_when_it_is_read(self) -> None:
        run = bytearray(built([1, 2], [b"k", b"l"], [b"v", b"w"]))
        Run(bytes(run))
        run[-8] ^= 1  # the end of the last value
        with pytest.raises(CheckpointCorruptedError, match="end elsewhere"):
            Run(bytes(run))

    def test_runs_are_not_merged_to_one_that_is_too_large(self) -> None:
        small, large = (RunInfo(number, 1, 1, size) for number, size in ((1, 10), (2, 1 << 31)))
        assert to_merge([small, small]) is not None
        assert to_merge([large, large]) is None
