"""A generation never gives other output an id by which sinks know a batch: on the model of Spark, without a JVM."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import CheckpointCorruptedError, CheckpointMismatchError
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.requests import SavepointRequest
from scurry.runtime.savepoint.restore import Restore
from scurry.spark.streaming.runner import StreamingRunner
from scurry.testing import plans
from scurry.testing.simulation.determined import determined
from scurry.testing.simulation.machine import KilledError, Machine, running_machine
from support.simulated.jvm import Stream
from support.simulated.spark import Cluster, Query, spark_of

RECORDS, KEYS = 40, 4


@dataclass(frozen=True)
class Batches(Sink):
    """Keeps batches by their ids, as transactions of a database do: one that it knows is left out."""

    #: the id of the batch after whose commit the process dies, before Spark commits it
    dies_after: int | None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _Writer()

    def create_committer(self, sink_id: str) -> Committer:
        return _Committer(self.dies_after)


class _Writer(SinkWriter):
    def __init__(self) -> None:
        self._values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._values += values

    def prepare_commit(self) -> list[Any]:
        return self._values


class _Committer(Committer):
    def __init__(self, dies_after: int | None) -> None:
        self._dies_after = dies_after

    def commit(self, batch_id: int, committables: Any) -> None:
        running_machine().outside.setdefault("batches", {}).setdefault(batch_id, list(committables))
        if batch_id == self._dies_after:
            raise KilledError


class Count(KeyedProcessFunction):
    """Emits each number with how many of its key came before."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        seen = self.seen.value() or 0
        self.seen.update(seen + 1)
        yield value, seen


class Runs:
    """Runs of the program, one after the other, on one checkpoint directory."""

    def __init__(self, root: Path) -> None:
        self.machine = Machine(1, (), str(root))
        self.checkpoints = root / "checkpoints"
        #: numbers that the sink has from before
        self.earlier: list[int] = []
        self.savepoint = str(root / "savepoint")
        #: a job, and the batch after which it is asked for a savepoint
        self._saving: tuple[JobExecution, int] | None = None

    def run(
        self,
        parallelism: int = 2,
        dies_after: int | None = None,
        most: int = 10,
        savepoint: str | None = None,
        saves_after: int | None = None,
    ) -> None:
        settings = {
            "execution.checkpointing.dir": str(self.checkpoints),
            "scurry.batch.max-records": str(most),
            "scurry.runner": "spark",
            "spark.sql.shuffle.partitions": "2",
            "pipeline.max-parallelism": "16",
            **({} if savepoint is None else {"execution.state-recovery.path": savepoint}),
        }
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
        env.set_parallelism(parallelism)
        source = NumberSequenceSource(0, RECORDS - 1)
        numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
        counted = numbers.key_by(lambda n: n % KEYS, Types.LONG()).process(Count(), Types.PICKLED_BYTE_ARRAY())
        counted.uid("count")._sink(Batches(dies_after), "batches").uid("batches")
        job = JobExecution(plans.job_plan_of(env), clock=self.machine.clock)
        self._saving = None if saves_after is None else (job, saves_after)
        spark = spark_of(self.machine, str(self.checkpoints), self._wait)
        with job.cleanup, self.machine.running(), determined(self.machine), spark:
            StreamingRunner().run(job)

    def dies(self, after: int, **run: Any) -> None:
        with pytest.raises(KilledError):
            self.run(dies_after=after, **run)

    def _wait(self, cluster: Cluster, seconds: float) -> None:
        assert cluster.query is not None
        self.machine.passes(seconds)
        cluster.query.step()
        if self._saving is not None and self._saving[1] in self.batches:
            self._saving[0].requests.ask(SavepointRequest(self.savepoint))
            self._saving = None

    @property
    def batches(self) -> dict[int, list[Any]]:
        return self.machine.outside.get("batches", {})

    def damage(self, name: str) -> None:
        (self.checkpoints / "generation-1" / "spark" / name).write_text("v1\n{")

    def numbers(self) -> list[int]:
        return sorted(self.earlier + [n for batch in self.batches.values() for n, _ in batch])


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def roll_back(runs: Runs) -> None:
    """Damage two committed batches before one that is in doubt, and let another plan be refused."""
    runs.damage("commits/1")
    runs.damage("commits/2")
    refused = r"parallelism was 2, now is 3.*at parallelism 2, until batch 3 is"
    with pytest.raises(CheckpointMismatchError, match=refused):
        runs.run(3, most=7)


def test_another_plan_waits_until_batches_that_were_rolled_back_are_computed_again(runs: Runs) -> None:
    runs.dies(3)
    roll_back(runs)
    runs.dies(2)
    with pytest.raises(CheckpointMismatchError):  # batch 3 was known, too
        runs.run(3, most=7)
    runs.dies(3)
    runs.run(3, most=7)
    assert runs.numbers() == list(range(RECORDS))


@contextmanager
def planned_early() -> Iterator[None]:
    """Let Spark plan each batch when it sees the first of the assignments that are added together: others wait."""
    start, add = Query.__init__, Stream.addData
    queries: list[Query] = []

    def started(query: Query, *args: Any) -> None:
        start(query, *args)
        queries[:] = [query]

    def added(stream: Stream, values: list[bytes]) -> None:
        add(stream, values)
        if queries and queries[0].isActive:
            queries[0].plan()

    with mock.patch.object(Query, "__init__", started), mock.patch.object(Stream, "addData", added):
        yield


@pytest.fixture
def saved(runs: Runs) -> Runs:
    """Runs whose second batch has one of two splits, after a savepoint of it; the third one is in doubt."""
    with planned_early():
        runs.dies(2, saves_after=1)
    assert [len(runs.batches[batch]) for batch in (0, 1)] == [10, 5]
    return runs


@pytest.fixture
def restored(saved: Runs, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs from the savepoint on an empty directory, which restore the state in two micro-batches."""
    whole = Restore.batches
    monkeypatch.setattr(Restore, "batches", lambda of: [[work] for batch in whole(of) for work in batch])
    saved.earlier = [n for batch in (0, 1) for n, _ in saved.batches[batch]]
    saved.batches.clear()
    saved.checkpoints = saved.checkpoints.with_name("next")
    return saved


@pytest.mark.parametrize("dies_after", [0, 1, 2])
def test_a_batch_in_doubt_is_committed_before_state_is_restored_again(restored: Runs, dies_after: int) -> None:
    restored.dies(dies_after, savepoint=restored.savepoint)
    restored.run(savepoint=restored.savepoint)
    assert restored.numbers() == list(range(RECORDS))


def test_a_damaged_note_of_such_a_batch_is_an_error_that_says_what_to_do(restored: Runs) -> None:
    restored.dies(1, savepoint=restored.savepoint)
    note = restored.checkpoints / "generation-1" / "prepared"
    note.write_bytes(note.read_bytes()[:-1])
    with pytest.raises(CheckpointCorruptedError, match="Restore that file from a copy"):
        restored.run(savepoint=restored.savepoint)


@pytest.mark.parametrize("dies_after", [2, 3])
def test_damage_before_state_was_restored_whole_is_an_error_if_sinks_have_later_batches(
    restored: Runs, dies_after: int
) -> None:
    """The state would be restored anew, with the ids of the batches that followed."""
    restored.dies(dies_after, savepoint=restored.savepoint)
    for batch in range(1, dies_after):
        restored.damage(f"commits/{batch}")
    for parallelism in (2, 2, 3):
        with pytest.raises(CheckpointCorruptedError, match="before the state of .* was restored whole"):
            restored.run(parallelism, savepoint=restored.savepoint)


def test_damage_after_state_was_restored_whole_is_rolled_back(restored: Runs) -> None:
    restored.dies(3, savepoint=restored.savepoint)
    restored.damage("commits/2")
    restored.run(savepoint=restored.savepoint)
    assert restored.numbers() == list(range(RECORDS))


def test_a_start_from_an_earlier_savepoint_leaves_out_the_id_of_a_batch_in_doubt(saved: Runs) -> None:
    saved.batches[2].clear()  # the user takes out what came after it; the sink still knows the id
    saved.run(savepoint=saved.savepoint)
    assert saved.numbers() == list(range(RECORDS))


def test_a_start_from_a_savepoint_leaves_out_the_ids_of_batches_that_were_rolled_back(runs: Runs) -> None:
    runs.dies(3, saves_after=0)
    roll_back(runs)
    for batch in (1, 2, 3):
        runs.batches[batch].clear()
    runs.run(savepoint=runs.savepoint)
    assert runs.numbers() == list(range(RECORDS))
