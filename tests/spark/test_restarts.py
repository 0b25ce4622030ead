"""Jobs on Spark that fail go on where they committed, and what they leave behind is what their settings say."""

from __future__ import annotations

import glob
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Encoder, JobStatus, Types, WatermarkStrategy
from scurry.datastream import KeyedProcessFunction, MapFunction, OutputTag, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.functions import RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.errors import JobError

pytestmark = pytest.mark.spark

RESTARTS = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "2",
            "restart-strategy.fixed-delay.delay": "10 ms"}  # fmt: skip


def environment(**settings: str) -> StreamExecutionEnvironment:
    base = {"parallelism.default": "2", "pipeline.max-parallelism": "8", "scurry.batch.max-records": "10", **RESTARTS}
    configuration = Configuration.from_dict({**base, **settings})
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def numbers(env: StreamExecutionEnvironment, last: int) -> Any:
    source = NumberSequenceSource(1, last)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")


class Count(KeyedProcessFunction):
    """Counts per key, and fails on one record until the job was restarted twice."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.attempt = runtime_context.get_attempt_number()
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        if value == 77 and self.attempt < 2:
            raise ConnectionError(f"attempt {self.attempt}")
        self.count.update((self.count.value() or 0) + 1)
        yield f"{ctx.get_current_key()}:{self.count.value()}"


def lines_of(directory: Path) -> list[str]:
    return sorted(line for file in directory.rglob("part-*") for line in file.read_text().splitlines())


def expected_counts(last: int) -> list[str]:
    return sorted(f"{key}:{n}" for key in range(5) for n in range(1, last // 5 + 1))


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_without_a_checkpoint_directory_is_restarted_exactly_once(tmp_path: Path, mode: str) -> None:
    before = set(glob.glob(f"{tempfile.gettempdir()}/scurry-*"))
    env = environment(**{"execution.runtime-mode": mode})
    counts = numbers(env, 100).key_by(lambda n: n % 5).process(Count(), Types.STRING())
    counts.sink_to(FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build())
    client = env.execute_async()
    client.get_job_execution_result().result()
    assert lines_of(tmp_path / "out") == expected_counts(100)
    failures = client.execution.failures  # type: ignore[attr-defined]
    assert [(failure.attempt, failure.error) for failure in failures] == [(0, "ConnectionError"), (1, "ConnectionError")]
    assert all("record: 77" in failure.text for failure in failures)
    assert not [path for path in glob.glob(f"{tempfile.gettempdir()}/scurry-*") if path not in before]
    if mode == "STREAMING":
        checkpoints = client.checkpoints()  # type: ignore[attr-defined]
        assert sum(each.records for each in checkpoints) == 100
        ids = [each.checkpoint_id for each in checkpoints]
        assert len(ids) > 5 and ids == list(range(len(ids)))
        assert any((each.state_size_bytes or 0) > 0 for each in checkpoints)
        assert checkpoints[-1].source_positions


class Slow(MapFunction):
    def map(self, value: Any) -> Any:
        time.sleep(0.01)
        return value


@pytest.mark.parametrize(
    ("retention", "kept"), [(None, True), ("RETAIN_ON_CANCELLATION", True), ("DELETE_ON_CANCELLATION", False)]
)
def test_cancelling_keeps_checkpoints_unless_told_otherwise(tmp_path: Path, retention: str | None, kept: bool) -> None:
    settings = {"execution.checkpointing.dir": str(tmp_path), "execution.checkpointing.min-pause": "300 ms"}
    if retention is not None:
        settings["execution.checkpointing.externalized-checkpoint-retention"] = retention
    env = environment(**settings)
    numbers(env, 100_000).map(Slow()).filter(lambda n: False).print()
    client = env.execute_async()
    checkpoints = client.checkpoints  # type: ignore[attr-defined]
    while len(checkpoints()) < 3:
        time.sleep(0.05)
    if retention is None:  # while it runs nobody else may use the directory
        rival = environment(**settings)
        numbers(rival, 100_000).map(Slow()).filter(lambda n: False).print()
        with pytest.raises(JobError, match="is in use by process"):
            rival.execute()
    client.cancel().result()
    assert client.get_job_status().result() is JobStatus.CANCELED
    assert any(path.name != ".lock" for path in tmp_path.iterdir()) is kept
    begun = [each.trigger_timestamp_ms for each in checkpoints()]
    assert all(later - earlier >= 300 for earlier, later in zip(begun[1:], begun[2:], strict=False))


def test_dead_letters_leave_the_job_running(tmp_path: Path) -> None:
    dead = OutputTag("dead")
    env = environment()
    inverse = numbers(env, 50).map(lambda n: 50 // (n % 25)).with_dead_letters(dead)
    inverse.print()
    with inverse.get_side_output(dead).execute_and_collect() as letters:
        found = sorted((letter.record, letter.error, letter.operator) for letter in letters)
    assert found == [(25, "ZeroDivisionError", "Map"), (50, "ZeroDivisionError", "Map")]
