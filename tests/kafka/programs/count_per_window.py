"""Counts records by key and second, from topic to topic, exactly once.

    count_per_window.py BROKER INPUT OUTPUT CHECKPOINTS
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common import Time, Types, WatermarkStrategy
from scurry.common.configuration import Configuration
from scurry.common.serialization import SimpleStringSchema
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from scurry.datastream.functions import ProcessWindowFunction
from scurry.datastream.window import TumblingEventTimeWindows


class Count(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Iterable[str]) -> Iterator[str]:
        yield f"{key},{context.window().start},{len(list(elements))}"


def main(broker: str, source_topic: str, target_topic: str, checkpoints: str) -> None:
    settings = Configuration().set_string("execution.checkpointing.dir", checkpoints)
    settings.set_string("scurry.batch.max-records", "1500")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(broker)
        .set_topics(source_topic)
        .set_group_id(f"reading-{source_topic}")
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    serializer = (
        KafkaRecordSerializationSchema.builder()
        .set_topic(target_topic)
        .set_value_serialization_schema(SimpleStringSchema())
        .build()
    )
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(broker)
        .set_record_serializer(serializer)
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .build()
    )
    stream = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "readings")
    windows = stream.key_by(lambda value: value).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    windows.process(Count(), Types.STRING()).sink_to(sink)
    env.execute("count per window")


if __name__ == "__main__":
    main(*sys.argv[1:])
