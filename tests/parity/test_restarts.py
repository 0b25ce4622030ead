"""A job that fails goes on where it committed, on every runner: nothing is lost and nothing doubled."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Encoder, Types, WatermarkStrategy
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.functions import RuntimeContext
from scurry.datastream.state import ValueStateDescriptor

RESTARTS = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "2",
            "restart-strategy.fixed-delay.delay": "10 ms"}  # fmt: skip


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


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=pytest.mark.spark)])
@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_without_a_checkpoint_directory_is_restarted_exactly_once(
    tmp_path: Path, mode: str, runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other processes keep checkpoints in the machine's.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    settings = {"parallelism.default": "2", "pipeline.max-parallelism": "8", "scurry.batch.max-records": "10",
                "execution.runtime-mode": mode, "scurry.runner": runner, **RESTARTS}  # fmt: skip
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    numbers = env.from_source(NumberSequenceSource(1, 100), WatermarkStrategy.no_watermarks(), "numbers")
    counts = numbers.key_by(lambda n: n % 5).process(Count(), Types.STRING())
    counts.sink_to(FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder()).build())
    client = env.execute_async()
    client.get_job_execution_result().result()
    assert lines_of(tmp_path / "out") == expected_counts(100)
    failures = client.execution.failures  # type: ignore[attr-defined]
    assert [(each.attempt, each.error) for each in failures] == [(0, "ConnectionError"), (1, "ConnectionError")]
    assert all("record: 77" in failure.text for failure in failures)
    restored = client.execution.restored_checkpoints  # type: ignore[attr-defined]
    assert restored == (2 if mode == "STREAMING" else 0)
    assert not list(temporary.glob("scurry-checkpoint-*"))
    if mode == "STREAMING":
        checkpoints = client.checkpoints()  # type: ignore[attr-defined]
        assert sum(each.records for each in checkpoints) == 100
        ids = [each.checkpoint_id for each in checkpoints]
        assert len(ids) > 5 and ids == list(range(len(ids)))
        assert any((each.state_size_bytes or 0) > 0 for each in checkpoints)
        assert checkpoints[-1].source_positions
