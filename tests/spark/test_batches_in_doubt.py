"""A job that ends between the commits of sinks and Spark goes on as another plan: nothing is lost or comes twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import ScurryError

pytestmark = pytest.mark.spark

RECORDS = 40


@dataclass(frozen=True)
class Batches(Sink):
    """Keeps batches by their ids, as transactions of a database do: one that it knows is left out."""

    path: str
    #: the commit, counted from 0, after which the job dies, before Spark commits
    dies_after: int = -1

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _Writer()

    def create_committer(self, sink_id: str) -> Committer:
        return _Committer(Path(self.path), self.dies_after)


class _Writer(SinkWriter):
    def __init__(self) -> None:
        self._values: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._values += values

    def prepare_commit(self) -> list[Any]:
        return self._values


class _Committer(Committer):
    def __init__(self, path: Path, dies_after: int) -> None:
        self._path, self._dies_after = path, dies_after

    def commit(self, batch_id: int, committables: Any) -> None:
        known = json.loads(self._path.read_text()) if self._path.exists() else {}
        known.setdefault(str(batch_id), list(committables))
        self._path.write_text(json.dumps(known))
        if len(known) > self._dies_after >= 0:
            raise OSError("the job dies")


class Count(KeyedProcessFunction):
    """Emits each number with how many of its key came before."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        seen = self.seen.value() or 0
        self.seen.update(seen + 1)
        yield value, seen


def run(directory: Path, sink: Sink, parallelism: int, doubled: bool = False) -> None:
    settings = {
        "execution.checkpointing.dir": str(directory / "checkpoints"),
        "scurry.batch.max-records": "10",
        "scurry.runner": "spark",
        "restart-strategy.type": "none",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(parallelism)
    source = NumberSequenceSource(0, RECORDS - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).uid("numbers")
    counted = numbers.key_by(lambda n: n % 4, Types.LONG()).process(Count(), Types.PICKLED_BYTE_ARRAY()).uid("count")
    counted._sink(sink, "batches").uid("batches")
    if doubled:
        numbers.key_by(lambda n: n, Types.LONG()).process(Count(), Types.PICKLED_BYTE_ARRAY()).uid("other").print()
    env.execute()


@pytest.mark.parametrize("dies_after", [0, 2])
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda directory, sink: run(directory, sink, 3), id="rescaled"),
        pytest.param(lambda directory, sink: run(directory, sink, 2, doubled=True), id="another program"),
        pytest.param(lambda directory, sink: run(directory, sink, 2), id="the same"),
    ],
)
def test_a_batch_that_sinks_have_committed_is_not_computed_as_another_one(
    tmp_path: Path, dies_after: int, changed: Callable[[Path, Sink], None]
) -> None:
    path = tmp_path / "batches"
    with pytest.raises(ScurryError, match="the job dies"):
        run(tmp_path, Batches(str(path), dies_after), 2)
    assert len(json.loads(path.read_text())) == dies_after + 1
    changed(tmp_path, Batches(str(path)))
    values = [tuple(each) for batch in json.loads(path.read_text()).values() for each in batch]
    assert sorted(n for n, _ in values) == list(range(RECORDS))
    assert sorted((n % 4, seen) for n, seen in values) == [
        (key, seen) for key in range(4) for seen in range(RECORDS // 4)
    ]


def test_a_damaged_note_of_a_batch_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "batches"
    with pytest.raises(ScurryError, match="the job dies"):
        run(tmp_path, Batches(str(path), 0), 2)
    note = tmp_path / "checkpoints" / "generation-1" / "prepared"
    note.write_bytes(note.read_bytes()[:-1])
    with pytest.raises(ScurryError, match="as it was once more"):
        run(tmp_path, Batches(str(path)), 3)
    run(tmp_path, Batches(str(path)), 2)
    numbers = [n for batch in json.loads(path.read_text()).values() for n, _ in batch]
    assert sorted(numbers) == list(range(RECORDS))
