"""A near-empty micro-batch: scurry's keyed count next to a bare Spark query with one Python transformWithState.

    python bench/near_empty.py [BATCHES]

Both run in one session with the same settings, take turns twice, and see one record per batch.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from scurry.common import Types, WatermarkStrategy
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor

BATCHES = int(sys.argv[1]) if len(sys.argv) > 1 and __name__ == "__main__" else 60


class OneByOne(Source):
    """One record per micro-batch."""

    bounded = True

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return _OneByOne()

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        yield [work], None


class _OneByOne(Enumerator):
    dealt = 0

    def next_batch(self) -> list[Assignment]:
        if self.dealt >= BATCHES:
            return []
        self.dealt += 1
        return [Assignment(0, self.dealt, self.dealt >= BATCHES)]

    def position(self) -> dict[str, Any]:
        return {"dealt": self.dealt}

    def restore(self, position: dict[str, Any]) -> None:
        self.dealt = position["dealt"]


class Count(KeyedProcessFunction):
    """Counts per key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value()


class CountWithTimers(Count):
    """The same with a timer for each key, so that all subtasks take part in every batch."""

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        ctx.timer_service().register_event_time_timer(1 << 50)
        yield from super().process_element(value, ctx)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[int]:
        yield from ()


def ours(parallelism: int = 2, timed: bool = False) -> float:
    """Median seconds of scurry's batches at some parallelism."""
    return measured(parallelism, timed)[0]


def measured(
    parallelism: int = 2, timed: bool = False, processor_seconds: Callable[[], float] = time.process_time
) -> tuple[float, float]:
    """Median seconds of scurry's batches at some parallelism, and processor seconds of a batch.

    Args:
        parallelism: The parallelism.
        timed: Whether the job has watermarks and timers.
        processor_seconds: Returns the processor seconds so far, those of this process unless given.
    """
    from scurry.connectors.collect_sink import CollectSink

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    strategy = WatermarkStrategy.for_monotonous_timestamps() if timed else WatermarkStrategy.no_watermarks()
    records = env.from_source(OneByOne(), strategy, "one by one")
    results = records.key_by(lambda n: n % 10).process(CountWithTimers() if timed else Count())
    results._sink(CollectSink(lambda block: None), "drop")
    client: Any = env.execute_async("near empty")
    seconds: list[float] = []
    used: list[float] = []

    def committed(report: Any) -> None:
        seconds.append(report.seconds)
        used.append(processor_seconds())

    client.execution.listeners.append(committed)
    client.get_job_execution_result().result()
    first = len(seconds) // 3
    return statistics.median(seconds[first:]), (used[-1] - used[first]) / (len(used) - 1 - first)


def bare() -> float:
    """Median seconds of a hand-written query's batches."""
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    from scurry.spark.session.session import QUERY_CONF

    class CountPerKey(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.state = handle.getValueState("count", "n long")

        def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Any]:
            before = self.state.get()
            count = (before[0] if before else 0) + sum(1 for _ in rows)
            self.state.update((count,))
            yield Row(key=key[0], n=count)

        def close(self) -> None:
            pass

    spark = SparkSession.builder.getOrCreate().newSession()
    for key, value in QUERY_CONF.items():
        spark.conf.set(key, value)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).option("numPartitions", 1).load()
    query = (
        stream.selectExpr("value % 10 as key", "value")
        .groupBy("key")
        .transformWithState(CountPerKey(), "key long, n long", "append", "none")
        .writeStream.outputMode("append")
        .foreachBatch(lambda frame, _: frame.collect() and None)
        .option("checkpointLocation", tempfile.mkdtemp())
        .start()
    )
    while query.lastProgress is None or query.lastProgress.batchId < BATCHES:
        if query.exception():
            raise query.exception()
        query.awaitTermination(1)
    times = [p.durationMs["triggerExecution"] / 1000 for p in query.recentProgress]
    query.stop()
    return statistics.median(times[len(times) // 3 :])


if __name__ == "__main__":
    ours()  # starts and warms the session
    pairs = [(ours(), bare()) for _ in range(2)]
    for mine, theirs in pairs:
        print(f"scurry {mine * 1000:.0f} ms, bare query {theirs * 1000:.0f} ms: {mine / theirs:.2f} x")
