"""A job slower than its source reads no more than it gets done in time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.sequence import NumberSequenceSource
from scurry.datastream import StreamExecutionEnvironment

PARALLELISM = 2


def batches(records: int, per_record: float, **configuration: str) -> list[int]:
    """Runs a job whose sink takes so many seconds for a record; returns how many each micro-batch read."""
    settings = {"scurry.batch.max-records": "1000", "scurry.batch.target-duration": "200 ms", **configuration}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    env.set_parallelism(PARALLELISM)

    def slowly(value: Any) -> bool:
        time.sleep(per_record)
        return False

    stream = env.from_source(NumberSequenceSource(1, records), WatermarkStrategy.no_watermarks(), "numbers")
    stream.filter(slowly).map(lambda value: value, output_type=Types.LONG()).print()
    client: Any = env.execute_async("slow")
    client.get_job_execution_result().result()
    return [checkpoint.records for checkpoint in client.checkpoints() if checkpoint.records]


def test_a_slow_sink_makes_the_next_batches_smaller() -> None:
    read = batches(3000, 0.001, **{"scurry.runner": "local"})
    assert sum(read) == 3000
    assert read[0] == 1000  # half a second's work
    assert max(read[1:]) < 700


def test_a_quick_job_reads_as_much_as_it_may() -> None:
    read = batches(3000, 0, **{"scurry.runner": "local", "scurry.batch.target-duration": "5 s"})
    assert read == [1000, 1000, 1000]


@pytest.mark.spark
def test_a_slow_sink_on_spark_makes_the_next_batches_smaller() -> None:
    settings = {"scurry.batch.max-records": "4000", "scurry.batch.target-duration": "1 s"}
    read = batches(9000, 0.001, **settings)
    assert sum(read) == 9000
    assert read[0] == 4000  # two seconds' work at least, and the workers have to start
    assert read[1] < 3000
