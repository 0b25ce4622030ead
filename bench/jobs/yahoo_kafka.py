"""The Yahoo streaming benchmark from topic to topic; a PyFlink program that runs unmodified on both engines.

yahoo_kafka.py BROKER EVENTS RESULTS CAMPAIGNS MODE     CAMPAIGNS: JSON, ad -> campaign; MODE: bounded or live
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.serialization import SimpleStringSchema
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import MapFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.functions import AggregateFunction, ProcessWindowFunction, RuntimeContext
from pyflink.datastream.window import TumblingEventTimeWindows

VIEW = Types.TUPLE([Types.STRING(), Types.LONG()])
WINDOW_MS = 10_000


class Join(MapFunction):
    """Replaces an ad by its campaign."""

    def __init__(self, file: str) -> None:
        """Take the table's file."""
        self.file = file

    def open(self, runtime_context: RuntimeContext) -> None:
        """Load the table."""
        with open(self.file) as file:
            self.campaigns = json.load(file)

    def map(self, value: tuple[str, int]) -> tuple[str, int]:
        """Look up one ad."""
        return self.campaigns[value[0]], value[1]


class EventTime(TimestampAssigner):
    """The time in the event."""

    def extract_timestamp(self, value: tuple[str, int], record_timestamp: int) -> int:
        """Return it."""
        return value[1]


class Count(AggregateFunction):
    """Counts."""

    def create_accumulator(self) -> int:
        """Begin."""
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        """Count one."""
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        """Return the count."""
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        """Add two counts."""
        return acc_a + acc_b


class Result(ProcessWindowFunction):
    """Writes campaign, start of the window and count."""

    def process(self, key: str, context: Any, elements: Iterable[int]) -> Iterator[str]:
        """Write the one count of a window."""
        for count in elements:
            yield f"{key},{context.window().start},{count}"


def main(broker: str, events: str, results: str, campaigns: str, mode: str) -> None:
    """Run the job."""
    settings = Configuration()
    if "FLINK_JARS" in os.environ:
        settings.set_string("pipeline.jars", os.environ["FLINK_JARS"])
        settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(broker)
        .set_topics(events)
        .set_group_id(f"reading-{events}")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
    )
    if mode == "bounded":
        source = source.set_bounded(KafkaOffsetsInitializer.latest())
    serializer = KafkaRecordSerializationSchema.builder().set_topic(results)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(broker)
        .set_record_serializer(serializer.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .build()
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(EventTime())
    (
        env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "events")
        .map(json.loads)
        .filter(lambda event: event["event_type"] == "view")
        .map(lambda event: (event["ad_id"], event["event_time"]), output_type=VIEW)
        .map(Join(campaigns), output_type=VIEW)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda view: view[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
        .aggregate(Count(), Result(), accumulator_type=Types.LONG(), output_type=Types.STRING())
        .sink_to(sink)
    )
    seconds = env.execute("yahoo").get_net_runtime() / 1000
    print(f"RESULT {seconds}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
