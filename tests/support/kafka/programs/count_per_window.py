"""Counts readings by key and second, exactly once, from a topic to a topic, or from files and then a topic.

    count_per_window.py BROKER INPUT OUTPUT CHECKPOINTS ENDS [HISTORY SWITCHED]

A reading is `milliseconds,key`. ENDS are the offsets where the partitions of INPUT end, now or later: `0:500,1:480`.
HISTORY is a directory of files, each named by the time of the first reading behind it; where the last of them ends,
reading of INPUT begins. SWITCHED is a file that is written when that happens.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scurry.common import Time, Types, WatermarkStrategy
from scurry.common.configuration import Configuration
from scurry.common.serialization import SimpleStringSchema
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee, FileSource, HybridSource, StreamFormat
from scurry.datastream.connectors.hybrid_source import SourceSwitchContext
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
)
from scurry.datastream.functions import ProcessWindowFunction
from scurry.datastream.window import TumblingEventTimeWindows


class Milliseconds(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value.partition(",")[0])


class Count(ProcessWindowFunction):
    def process(self, key: str, context: Any, elements: Iterable[str]) -> Iterator[str]:
        yield f"{key},{context.window().start},{len(list(elements))}"


def topic_source(broker: str, topic: str, ends: dict[int, int], start: KafkaOffsetsInitializer) -> KafkaSource:
    stop = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, number): end for number, end in ends.items()})
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(broker)
        .set_topics(topic)
        .set_group_id(f"reading-{topic}")
        .set_starting_offsets(start)
        .set_unbounded(stop)
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )


def history_and_topic(history: str, switched: str, broker: str, topic: str, ends: dict[int, int]) -> HybridSource:
    def where_the_files_end(context: SourceSwitchContext) -> KafkaSource:
        Path(switched).write_text(str(time.time()))
        _, newest = context.previous_position["newest"]
        return topic_source(broker, topic, ends, KafkaOffsetsInitializer.timestamp(int(Path(newest).stem)))

    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), history).build()
    return HybridSource.builder(files).add_source(where_the_files_end, channels=len(ends)).build()


def topic_sink(broker: str, topic: str) -> KafkaSink:
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    schema.set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(broker).set_record_serializer(schema.build())
    return builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()


def main(broker: str, source: str, target: str, checkpoints: str, ends: str, history: str = "", switched: str = "") -> None:  # fmt: skip  # noqa: E501
    settings = Configuration().set_string("execution.checkpointing.dir", checkpoints)
    settings.set_string("scurry.batch.max-records", "400").set_string("scurry.batch.max-bytes", "5000")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    partitions = {int(number): int(end) for number, _, end in (each.partition(":") for each in ends.split(","))}
    readings = (
        history_and_topic(history, switched, broker, source, partitions)
        if history
        else topic_source(broker, source, partitions, KafkaOffsetsInitializer.earliest())
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Milliseconds())
    stream = env.from_source(readings, strategy, "readings")
    windows = stream.key_by(lambda value: value.partition(",")[2]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    windows.process(Count(), Types.STRING()).sink_to(topic_sink(broker, target))
    env.execute("count per window")


if __name__ == "__main__":
    main(*sys.argv[1:])
