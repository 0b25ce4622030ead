"""Copies a stream, wherever it lies, to a topic, exactly once.

    copy_streams.py METADATA BROKER OUTPUT CHECKPOINTS

METADATA is a file that says in which clusters and topics the stream `numbers` lies; it may change at any time.
"""

from __future__ import annotations

import sys

from scurry.common import WatermarkStrategy
from scurry.common.configuration import Configuration
from scurry.common.serialization import SimpleStringSchema
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.dynamic_kafka import DynamicKafkaSource, FileMetadataService
from scurry.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink


def main(metadata: str, broker: str, target: str, checkpoints: str) -> None:
    settings = Configuration().set_string("execution.checkpointing.dir", checkpoints)
    settings.set_string("scurry.batch.max-records", "20")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    source = (
        DynamicKafkaSource.builder()
        .set_kafka_metadata_service(FileMetadataService(metadata))
        .set_stream_ids({"numbers"})
        .set_property("stream-metadata-discovery-interval-ms", "100")
        .set_property("scurry.channels", "4")  # as many after a restart, wherever the stream lies by then
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    schema = KafkaRecordSerializationSchema.builder().set_topic(target)
    schema.set_value_serialization_schema(SimpleStringSchema())
    sink = KafkaSink.builder().set_bootstrap_servers(broker).set_record_serializer(schema.build())
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    numbers.sink_to(sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build())
    env.execute("copy streams")


if __name__ == "__main__":
    main(*sys.argv[1:])
