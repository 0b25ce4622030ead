"""Records per second into and out of a log, files and Kafka, by jobs of the in-process runner.

    python bench/log.py [RECORDS] [--kafka]

Seconds are of this process's processors, those of Kafka's broker not among them; kinds take turns, three times.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from typing import Any

from scurry.common import Configuration, Encoder, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.sink import DiscardSink
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource, DeliveryGuarantee, FileSink, FileSource, StreamFormat
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from scurry.datastream.connectors.log import FileLogSink, FileLogSource

PAYLOAD = "x" * 90


def environment(place: str) -> StreamExecutionEnvironment:
    settings = {"scurry.runner": "local", "execution.checkpointing.dir": f"{place}/checkpoints"}
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({**settings, "scurry.progress": "off"})
    )
    env.set_parallelism(1)
    return env


def topics(kind: str, place: str, broker: Any) -> tuple[Any, Any]:
    """Return the source and the sink of a log or of Kafka."""
    log = kind.startswith("log")
    sink: Any = FileLogSink.builder().set_path(f"{place}/log") if log else KafkaSink.builder()
    source: Any = FileLogSource.builder().set_path(f"{place}/log") if log else KafkaSource.builder()
    if not log:
        sink.set_bootstrap_servers(broker.address)
        source.set_bootstrap_servers(broker.address).set_property("isolation.level", "read_committed")
    topic = "t" + str(abs(hash(place)))
    if not log:
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    sink.set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
    if kind.endswith("exactly once"):
        sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    source.set_topics(topic).set_bounded(KafkaOffsetsInitializer.latest())
    return source.set_value_only_deserializer(SimpleStringSchema()), sink.build()


def run(kind: str, records: int, broker: Any, seconds: dict[tuple[str, str], list[float]]) -> None:
    place = tempfile.mkdtemp(prefix="scurry-bench-log-")
    made: Any = None
    if kind in ("log", "log, exactly once", "kafka", "kafka, exactly once"):
        made, sink = topics(kind, place, broker)
    elif kind == "files":
        sink = FileSink.for_row_format(f"{place}/files", Encoder.simple_string_encoder()).build()
    else:
        sink = DiscardSink()
    env = environment(place)
    source = DataGeneratorSource(lambda index: f"{index:010}{PAYLOAD}", records, None, Types.STRING())
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").sink_to(sink)
    begun = time.process_time()
    env.execute()
    seconds[kind, "written"].append(time.process_time() - begun)
    if kind != "nothing":
        if kind == "files":
            made = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{place}/files")
            made.process_static_file_set()
        env = environment(f"{place}/read")
        env.from_source(made.build(), WatermarkStrategy.no_watermarks(), "read").sink_to(DiscardSink())
        begun = time.process_time()
        env.execute()
        seconds[kind, "read"].append(time.process_time() - begun)
    shutil.rmtree(place, ignore_errors=True)


def main(arguments: list[str]) -> None:
    records = next((int(each) for each in arguments if each.isdigit()), 1_000_000)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    kinds = ["nothing", "log", "log, exactly once", "files"]
    with ExitStack() as stack:
        broker = None
        if "--kafka" in arguments:
            from scurry.testing.kafka import KafkaBroker

            broker = stack.enter_context(KafkaBroker())
            kinds += ["kafka", "kafka, exactly once"]
        for _ in range(3):
            for kind in kinds:
                run(kind, records, broker, seconds)
    for (kind, what), found in seconds.items():
        middle = statistics.median(found)
        print(f"{kind:20} {what:8} {middle:7.2f} s {records / middle:12,.0f} records/s  {[round(n, 2) for n in found]}")


if __name__ == "__main__":
    main(sys.argv[1:])
