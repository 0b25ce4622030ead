"""What a cancelled job on Spark leaves behind is what its settings say; dead letters travel between workers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, JobStatus, WatermarkStrategy
from scurry.datastream import MapFunction, OutputTag, StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.errors import JobCancelledError, JobError

pytestmark = pytest.mark.spark


def environment(**settings: str) -> StreamExecutionEnvironment:
    base = {"parallelism.default": "2", "pipeline.max-parallelism": "8", "scurry.batch.max-records": "10"}
    configuration = Configuration.from_dict({**base, **settings})
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def numbers(env: StreamExecutionEnvironment, last: int) -> Any:
    source = NumberSequenceSource(1, last)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")


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
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert any(path.name != ".lock" for path in tmp_path.iterdir()) is kept
    begun = [each.trigger_timestamp_ms for each in checkpoints()]
    assert all(later - earlier >= 300 for earlier, later in zip(begun[1:], begun[2:], strict=False))


def test_dead_letters_leave_the_job_running() -> None:
    dead = OutputTag("dead")
    env = environment()
    inverse = numbers(env, 50).map(lambda n: 50 // (n % 25)).with_dead_letters(dead)
    inverse.print()
    with inverse.get_side_output(dead).execute_and_collect() as letters:
        found = sorted((letter.record, letter.error, letter.operator) for letter in letters)
    assert found == [(25, "ZeroDivisionError", "Map"), (50, "ZeroDivisionError", "Map")]
