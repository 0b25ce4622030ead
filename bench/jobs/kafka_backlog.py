"""A backlog in Kafka, worked off; a PyFlink program that runs unmodified on both engines (see bench/kafka_backlog.py).

kafka_backlog.py BROKER TOPIC JOB OUT       JOB: count (per key, in state) or window (10 s of event time)
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.serialization import SimpleStringSchema
from pyflink.datastream import FlatMapFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource
from pyflink.datastream.functions import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])


class Count(KeyedProcessFunction):
    """Emits each key's count so far."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        """Count one record."""
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class Tally(FlatMapFunction):
    """Counts records and adds up their second field; each subtask leaves its figures in a file when it closes."""

    def __init__(self, out: str) -> None:
        """Take the directory of the files."""
        self.out = out

    def open(self, runtime_context: RuntimeContext) -> None:
        """Begin."""
        self.rows = self.sum = 0

    def flat_map(self, value: tuple[int, int]) -> Iterable[Any]:
        """Take a result."""
        self.rows += 1
        self.sum += value[1]
        return ()

    def close(self) -> None:
        """Leave the figures."""
        if self.rows:
            with open(os.path.join(self.out, uuid.uuid4().hex), "w") as file:
                file.write(f"{self.rows} {self.sum}")
            self.rows = 0


def pair(text: str) -> tuple[int, int]:
    """Return key and value of a message."""
    key, value = text.split(",")
    return int(key), int(value)


def main(broker: str, topic: str, job: str, out: str) -> None:
    """Run the job over what the topic holds."""
    settings = Configuration()
    if "FLINK_JARS" in os.environ:
        settings.set_string("pipeline.jars", os.environ["FLINK_JARS"])
        settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(broker)
        .set_topics(topic)
        .set_group_id(f"reading-{topic}")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    messages = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "backlog")
    keyed = messages.map(pair, output_type=PAIR).key_by(lambda record: record[0], key_type=Types.LONG())
    if job == "count":
        results = keyed.process(Count(), output_type=PAIR)
    else:
        windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(10)))
        results = windows.reduce(lambda one, other: (one[0], one[1] + other[1]), output_type=PAIR)
    results.flat_map(Tally(out), output_type=PAIR).print()
    seconds = env.execute("backlog").get_net_runtime() / 1000
    print(f"RESULT {seconds}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
