"""Keys with many records in BATCH: whole keys are processed at once as soon as their records are found to be quick."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.common import Configuration, Time, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.functions import ProcessJoinFunction
from scurry.runtime.operators.batch.interval_join import BatchIntervalJoinOperator
from scurry.runtime.tasks import batch_task

KEYS, RECORDS = "abcdef", 1_500


class Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class Pairs(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        yield left[0], left[1], right[1]


def joined(keys: str) -> list[Any]:
    """Return the pairs of records of two streams, whose records alternate."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    left, right = (
        env.from_collection(
            [(key, time) for key in keys for time in range(first, 2 * RECORDS, 2)],
            Types.TUPLE([Types.STRING(), Types.LONG()]),
        )
        .assign_timestamps_and_watermarks(times)
        .key_by(lambda each: each[0], Types.STRING())
        for first in (0, 1)
    )
    pairs = left.interval_join(right).between(Time.milliseconds(0), Time.milliseconds(1)).process(Pairs())
    with pairs.execute_and_collect() as collected:
        return sorted(collected)


def test_keys_after_the_first_are_joined_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts: set[Any] = set()
    process = BatchIntervalJoinOperator.process_input

    def noted(self: Any, index: int, keys: Any, values: Any, timestamps: Any) -> None:
        in_parts.update(keys)
        process(self, index, keys, values, timestamps)

    monkeypatch.setattr(BatchIntervalJoinOperator, "process_input", noted)
    monkeypatch.setattr(batch_task, "time", SimpleNamespace(monotonic=lambda: 0.0))  # all records are quick
    assert joined(KEYS) == [(key, time, time + 1) for key in KEYS for time in range(0, 2 * RECORDS, 2)]
    assert in_parts == {"a"}
