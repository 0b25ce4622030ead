"""Many subtasks on few cores share Spark's partitions: what a micro-batch costs does not grow with their number."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.collect_sink import CollectSink
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import JobCancelledError
from scurry.spark.streaming import partitions
from scurry.spark.streaming.engine import SparkEngine
from scurry.spark.streaming.partitions import (
    PARTITIONS_PER_CORE,
    configured_partitions,
    cores,
    fitting_partitions,
    partitions_to_keep,
)

SUBTASKS, KEYS, RECORDS = 64, 500, 2000
PIECE, GIVE_UP_SECONDS = 250, 300


class Numbers(Source):
    """Numbers from 0 to a limit, some in each micro-batch; more of them in a later start."""

    bounded = False

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return _Dealing(self.limit)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        yield list(range(work, work + PIECE)), None


class _Dealing(Enumerator):
    dealt = 0

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def next_batch(self) -> list[Assignment]:
        if self.dealt >= self._limit:
            return []
        self.dealt += PIECE
        return [Assignment(0, self.dealt - PIECE, False)]

    def position(self) -> dict[str, Any]:
        return {"dealt": self.dealt}

    def restore(self, position: dict[str, Any]) -> None:
        self.dealt = position["dealt"]


class Count(KeyedProcessFunction):
    """Yields the key and how often it has come."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        self.count.update((self.count.value() or 0) + 1)
        yield value % KEYS, self.count.value()


class Counting:
    """Jobs on one checkpoint directory, which count numbers by key; each goes on where the one before was cancelled."""

    def __init__(self, root: Path) -> None:
        self.root, self.found = root, set[Any]()

    def run(self, limit: int = RECORDS, parallelism: int = SUBTASKS, partitions: int | None = None) -> Any:
        given = {"scurry.runner": "spark", "scurry.progress": "off", "execution.checkpointing.dir": str(self.root)}
        if partitions is not None:
            given["spark.sql.shuffle.partitions"] = str(partitions)
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(given))
        env.set_parallelism(parallelism)
        env.set_max_parallelism(128)
        numbers = env.from_source(Numbers(limit), WatermarkStrategy.no_watermarks(), "numbers")
        counts = numbers.key_by(lambda number: number % KEYS, Types.LONG()).process(Count()).uid("counts")
        counts._sink(CollectSink(self.found.update), "counts")
        client: Any = env.execute_async("counting")
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while self.found != counts_of(limit):
            assert time.monotonic() < give_up and not client.get_job_status().result().is_terminal_state()
            time.sleep(0.05)
        return client

    def stop(self, client: Any) -> None:
        client.cancel().result()
        with pytest.raises(JobCancelledError):
            client.get_job_execution_result().result()

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.root / "scurry.json").read_text())
        return content

    def now(self) -> tuple[int, int | None, int]:
        """The generation, the partitions it says it has, and those in which Spark has state."""
        state = self.root / f"generation-{self.content['generation']}" / "spark" / "state" / "0"
        return self.content["generation"], self.content.get("partitions"), len([*state.glob("[0-9]*")])

    def stores(self) -> Counter[str]:
        """How many state stores have committed each version."""
        state = self.root / f"generation-{self.content['generation']}" / "spark" / "state" / "0"
        return Counter(file.name.split(".")[0] for file in state.glob("[0-9]*/*.changelog"))

    def of_earlier_release(self) -> None:
        """Let the directory look as if a release that knew of no partitions had written it."""
        content = self.content
        del content["partitions"]
        (self.root / "scurry.json").write_text(json.dumps(content))


def counts_of(limit: int) -> set[tuple[int, int]]:
    return {(number % KEYS, number // KEYS + 1) for number in range(limit)}


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "cores", lambda spark, enough: 2)


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Spark's queries, as they are started."""
    started: list[Any] = []
    start = SparkEngine.start

    def noted(engine: SparkEngine) -> None:
        start(engine)
        started.append(engine._query)

    monkeypatch.setattr(SparkEngine, "start", noted)
    return started


def tasks_of_last_batch(query: Any) -> int:
    tracker = query._jsq.sparkSession().sparkContext().statusTracker()
    jobs = sorted(tracker.getJobIdsForGroup(str(query.runId)))
    stages = tracker.getJobInfo(jobs[-1]).get().stageIds()
    return sum(tracker.getStageInfo(stage).get().numTasks() for stage in stages)


@pytest.mark.spark
def test_a_micro_batch_of_64_subtasks_has_as_many_tasks_and_state_stores_as_the_cores_need(
    tmp_path: Path, two_cores: None, queries: list[Any]
) -> None:
    job = Counting(tmp_path)
    client = job.run()
    shared = 2 * PARTITIONS_PER_CORE
    assert tasks_of_last_batch(queries[-1]) == 1 + shared  # that of the source, and those of the level
    (number,) = (op.id for op in client.execution.plan.operators.values() if op.uid == "counts")
    counted = client.execution.subtask_metrics()[number]["numRecordsIn"]
    assert set(counted) == set(range(SUBTASKS)) and sum(counted.values()) == RECORDS
    job.stop(client)
    stores = job.stores()
    assert len(stores) >= 3 and set(stores.values()) == {shared}


@pytest.mark.spark
def test_another_number_of_partitions_takes_over_the_state_and_only_if_it_is_asked_for(
    tmp_path: Path, two_cores: None
) -> None:
    job = Counting(tmp_path)
    job.stop(job.run(500, 8, partitions=8))
    job.of_earlier_release()
    job.stop(job.run(1000, 8))
    assert job.now() == (1, None, 8)
    job.stop(job.run(1500, 8, partitions=3))
    assert job.now() == (2, 3, 3)
    job.stop(job.run(2000, 16))
    shared = 2 * PARTITIONS_PER_CORE
    assert job.now() == (3, shared, shared)


# ------------------------------------------------------------------ the number; none of this starts Spark


def session(master: str, **settings: str) -> Any:
    conf = SimpleNamespace(get=lambda key, default=None: settings.get(key.replace(".", "_"), default))
    return SimpleNamespace(sparkContext=SimpleNamespace(master=master, getConf=lambda: conf))


class Clock:
    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The slots that Spark reports, one after another; the last one again and again."""
    numbers: list[int] = []
    monkeypatch.setattr(partitions, "task_slots", lambda spark: numbers.pop(0) if len(numbers) > 1 else numbers[0])
    clock = Clock()
    monkeypatch.setattr(partitions, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=clock.sleep))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    return numbers


@pytest.mark.parametrize(("parallelism", "expected"), [(1, 1), (3, 3), (12, 12), (13, 12), (256, 12)])
def test_subtasks_share_partitions_once_they_outnumber_the_cores(
    parallelism: int, expected: int, slots: list[int]
) -> None:
    slots.append(67)  # local[67]: slots for sources that wait, not cores
    assert fitting_partitions(parallelism, session("local[67]")) == expected


def test_a_cluster_is_counted_when_its_executors_have_come(slots: list[int]) -> None:
    slots += [0, 0, 2, 2, 2, 4, 4, 8]
    assert fitting_partitions(100, session("spark://host:7077")) == 8 * PARTITIONS_PER_CORE


def test_no_executors_are_waited_for_once_there_are_enough(slots: list[int]) -> None:
    slots += [2, 99]
    assert fitting_partitions(2 * PARTITIONS_PER_CORE, session("spark://host:7077")) == 2 * PARTITIONS_PER_CORE
    assert slots == [99]


def test_a_cluster_without_executors_has_those_it_is_configured_to_get(slots: list[int]) -> None:
    slots.append(0)
    configured = session("yarn", spark_executor_instances="3", spark_executor_cores="2")
    assert fitting_partitions(100, configured) == 6 * PARTITIONS_PER_CORE


def test_dynamic_allocation_needs_a_task_for_each_subtask(slots: list[int]) -> None:
    slots.append(2)
    assert fitting_partitions(100, session("yarn", spark_dynamicAllocation_enabled="true")) == 100


@pytest.mark.parametrize(("there", "expected"), [(64, 64), (24, 24), (8, 8), (6, 24), (1, 24)])
def test_a_checkpoint_keeps_its_partitions_unless_cores_would_be_idle(
    there: int, expected: int, slots: list[int]
) -> None:
    slots.append(8)
    assert partitions_to_keep(there, 64, session("spark://host:7077")) == expected


def test_there_is_always_a_core(slots: list[int]) -> None:
    slots.append(0)
    assert cores(session("local[2]"), 1) == cores(session("spark://host:7077"), 1) == 1


@pytest.mark.parametrize(("given", "expected"), [({}, None), ({"spark.sql.shuffle.partitions": "5"}, 5)])
def test_sparks_own_setting_is_the_number_of_partitions(given: dict[str, str], expected: int | None) -> None:
    plan: Any = SimpleNamespace(settings=SimpleNamespace(configuration=given))
    assert configured_partitions(plan) == expected
