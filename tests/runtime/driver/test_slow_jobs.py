"""A job slower than its source reads no more than it gets done in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.ranges import NumberSequenceSource
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.clock import Clock
from support.clock import FakeTime

PARALLELISM = 2
TIME = FakeTime()


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock by which jobs measure their batches is `TIME`."""
    monkeypatch.setattr(Clock, "monotonic", lambda _: TIME.monotonic())


def slow(value: Any) -> bool:
    TIME.sleep(0.001)
    return False


def slow_on_spark(value: Any) -> bool:
    time.sleep(0.001)
    return False


def quick(value: Any) -> bool:
    return False


def batches(records: int, function: Callable[[Any], bool], **configuration: str) -> list[int]:
    """Runs a job with a filter; returns how many records each micro-batch read."""
    settings = {"scurry.batch.max-records": "1000", "scurry.batch.target-duration": "200 ms", **configuration}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(PARALLELISM)

    stream = env.from_source(NumberSequenceSource(1, records), WatermarkStrategy.no_watermarks(), "numbers")
    stream.filter(function).map(lambda value: value, output_type=Types.LONG()).print()
    client: Any = env.execute_async("slow")
    client.get_job_execution_result().result()
    return [checkpoint.records for checkpoint in client.checkpoints() if checkpoint.records]


@pytest.mark.usefixtures("fake_time")
def test_a_slow_function_makes_the_next_batches_smaller() -> None:
    read = batches(3000, slow, **{"scurry.runner": "local"})
    assert read == [1000] + [200] * 10  # a second's work, then 200 ms each


@pytest.mark.usefixtures("fake_time")
def test_a_quick_job_reads_as_much_as_it_may() -> None:
    read = batches(3000, quick, **{"scurry.runner": "local", "scurry.batch.target-duration": "5 s"})
    assert read == [1000, 1000, 1000]


@pytest.mark.spark
def test_a_slow_function_on_spark_makes_the_next_batches_smaller() -> None:
    settings = {"scurry.batch.max-records": "4000", "scurry.batch.target-duration": "1 s"}
    read = batches(9000, slow_on_spark, **settings)
    assert sum(read) == 9000
    assert read[0] == 4000  # two seconds' work at least, and the workers have to start
    assert read[1] < 3000
