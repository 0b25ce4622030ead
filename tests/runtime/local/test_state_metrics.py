"""What micro-batches read and write of state is counted by operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.common import Configuration, Types
from scurry.common.job_execution_result import JobExecutionResult
from scurry.connectors.sink import DiscardSink
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.state import ValueStateDescriptor


class Keep(KeyedProcessFunction):
    """Keeps a text for each key."""

    def open(self, runtime_context: Any) -> None:
        self.text = runtime_context.get_state(ValueStateDescriptor("text", Types.STRING()))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        self.text.update(f"{value:0500d}")
        yield value


def kept(keys: int, records: int) -> JobExecutionResult:
    configuration = Configuration.from_dict(
        {"scurry.runner": "local", "scurry.batch.max-records": "2000", "pipeline.max-parallelism": "4"}
    )
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    numbers = env.from_collection([number * 7919 for number in range(records)], Types.INT())
    keyed = numbers.key_by(lambda number: number % keys, key_type=Types.INT())
    keyed.process(Keep(), Types.INT()).name("keep").sink_to(DiscardSink())
    return env.execute("metrics")


def test_bytes_written_and_bytes_written_by_merges_are_counted() -> None:
    result = kept(keys=4000, records=12_000)
    written, merged = (result.get_metrics()[f"keep.stateBytes{what}"] for what in ("Written", "Merged"))
    assert written - merged > 12_000 * 500
    assert merged > 0


def test_state_in_pages_has_nothing_to_merge() -> None:
    result = kept(keys=10, records=100)
    assert result.get_metrics()["keep.stateBytesWritten"] > 10 * 500
    assert "keep.stateBytesMerged" not in result.get_metrics()
    assert "keep.localRunHits" not in result.get_metrics()
