"""Avro messages with a real schema registry, through a real broker."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Row
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from scurry.datastream.formats.avro import AvroSchema
from scurry.datastream.formats.avro_registry import (
    ConfluentRegistryAvroDeserializationSchema,
    ConfluentRegistryAvroSerializationSchema,
)
from scurry.errors import JobError, SchemaRegistryError
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

Environments = Callable[..., StreamExecutionEnvironment]


def version(*fields: Any) -> AvroSchema:
    return AvroSchema(json.dumps({"type": "record", "name": "Order", "fields": list(fields)}))


ID = {"name": "id", "type": "long"}
FIRST = version(ID, {"name": "item", "type": "string"})
SECOND = version(ID, {"name": "amount", "type": "int", "default": 1})


def write(env: StreamExecutionEnvironment, kafka: Kafka, registry: str, topic: str, schema: AvroSchema,
          *orders: Any) -> None:  # fmt: skip
    values = ConfluentRegistryAvroSerializationSchema.for_generic(f"{topic}-value", schema, registry)
    records = KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema(values).build()
    sink = KafkaSink.builder().set_bootstrap_servers(kafka.address).set_record_serializer(records).build()
    env.from_collection(list(orders)).sink_to(sink)
    env.execute()


def read(env: StreamExecutionEnvironment, kafka: Kafka, topic: str, schema: Any) -> list[Any]:
    source = KafkaSource.builder().set_bootstrap_servers(kafka.address).set_topics(topic)
    source.set_value_only_deserializer(schema).set_bounded(KafkaOffsetsInitializer.latest())
    with env.from_source(source.build(), None, "orders").execute_and_collect() as found:
        return list(found)


def test_records_go_through_kafka(kafka: Kafka, registry: str, env_of: Environments) -> None:
    topic = kafka.topic()
    write(env_of(), kafka, registry, topic, FIRST, Row(id=1, item="tea"), {"id": 2, "item": "cup"})
    as_dicts = ConfluentRegistryAvroDeserializationSchema.for_generic(FIRST, registry)
    as_rows = ConfluentRegistryAvroDeserializationSchema.for_row(FIRST, registry)
    assert read(env_of(), kafka, topic, as_dicts) == [{"id": 1, "item": "tea"}, {"id": 2, "item": "cup"}]
    assert read(env_of(), kafka, topic, as_rows) == [Row(id=1, item="tea"), Row(id=2, item="cup")]


def test_messages_name_the_registered_schema(kafka: Kafka, registry: str, env_of: Environments) -> None:
    topic = kafka.topic()
    write(env_of(), kafka, registry, topic, FIRST, {"id": 1, "item": "tea"})
    with urllib.request.urlopen(f"{registry}/subjects/{topic}-value/versions/latest") as answer:
        registered = json.load(answer)
    assert AvroSchema(registered["schema"]) == FIRST
    [message] = kafka.messages(topic)
    assert message.value() == b"\x00" + registered["id"].to_bytes(4) + b"\x02\x06tea"


def test_messages_of_all_versions_are_read_as_the_reader_wants(
    kafka: Kafka, registry: str, env_of: Environments
) -> None:
    topic = kafka.topic()
    write(env_of(), kafka, registry, topic, FIRST, {"id": 1, "item": "tea"})
    write(env_of(), kafka, registry, topic, SECOND, {"id": 2, "amount": 5})
    newer = ConfluentRegistryAvroDeserializationSchema.for_row(SECOND, registry)
    assert read(env_of(), kafka, topic, newer) == [Row(id=1, amount=1), Row(id=2, amount=5)]


def test_a_message_that_cannot_be_read_as_the_reader_wants_names_its_place(
    kafka: Kafka, registry: str, env_of: Environments
) -> None:
    topic = kafka.topic()
    write(env_of(), kafka, registry, topic, FIRST, {"id": 1, "item": "tea"})
    write(env_of(), kafka, registry, topic, SECOND, {"id": 2, "amount": 5})
    older = ConfluentRegistryAvroDeserializationSchema.for_row(FIRST, registry)
    with pytest.raises(JobError, match=f"topic '{topic}', partition 0, offset 1: .*item"):
        read(env_of(), kafka, topic, older)


@pytest.mark.parametrize(
    ("message", "complaint"),
    [("plain text", "does not begin with a zero"), ("\0\0\0\x7f\x7fx", "there is no schema 32639 at http")],
)
def test_a_message_of_no_registered_schema_names_its_place(
    kafka: Kafka, registry: str, env_of: Environments, message: str, complaint: str
) -> None:
    topic = kafka.topic()
    kafka.write(topic, [message])
    with pytest.raises(JobError, match=f"topic '{topic}', partition 0, offset 0: .*{complaint}"):
        read(env_of(), kafka, topic, ConfluentRegistryAvroDeserializationSchema.for_generic(FIRST, registry))


def test_a_schema_that_is_not_compatible_is_refused(kafka: Kafka, registry: str) -> None:
    subject = f"{kafka.topic()}-value"
    ConfluentRegistryAvroSerializationSchema.for_generic(subject, FIRST, registry).serialize({"id": 1, "item": "tea"})
    body = json.dumps({"compatibility": "BACKWARD"}).encode()
    kind = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
    urllib.request.urlopen(urllib.request.Request(f"{registry}/config/{subject}", body, kind, method="PUT")).close()
    changed = version({"name": "id", "type": "string"})
    with pytest.raises(SchemaRegistryError, match="not compatible with earlier versions"):
        ConfluentRegistryAvroSerializationSchema.for_generic(subject, changed, registry).serialize({"id": "1"})
