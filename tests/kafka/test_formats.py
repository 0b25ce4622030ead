"""What comes of malformed messages in a topic, by format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from scurry.common import Row, Types
from scurry.common.serialization import ByteArraySchema
from scurry.datastream import OutputTag, StreamExecutionEnvironment
from scurry.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource, KafkaSourceBuilder
from scurry.datastream.formats.avro import AvroRowDeserializationSchema
from scurry.datastream.formats.csv import CsvRowDeserializationSchema
from scurry.datastream.formats.json import JsonRowDeserializationSchema
from scurry.datastream.formats.protobuf import ProtobufRowDeserializationSchema
from scurry.errors import JobError
from support.kafka.broker import Kafka

pytestmark = pytest.mark.kafka

Environments = Callable[..., StreamExecutionEnvironment]

PLAIN = Types.ROW_NAMED(["id"], [Types.INT()])
JSON = JsonRowDeserializationSchema.builder().type_info(PLAIN)
CSV = CsvRowDeserializationSchema.Builder(PLAIN)
AVRO = '{"type": "record", "name": "R", "fields": [{"name": "value", "type": "string"}]}'
STRICT = {
    "json": (JSON.build(), ['{"id": 1}', "nope", '{"id": 2}']),
    "csv": (CSV.build(), ["1", "1,2,3", "2"]),
    "avro": (AvroRowDeserializationSchema(avro_schema_string=AVRO), ["\x02a", "\x08b", "\x02c"]),
    "protobuf": (ProtobufRowDeserializationSchema(StringValue), ["\n\x01a", "\n\x05b", "\n\x01c"]),
}
FORGIVING = {
    "json": (JsonRowDeserializationSchema.builder().type_info(PLAIN).ignore_parse_errors().build(), [1, 2]),
    "csv": (CsvRowDeserializationSchema.Builder(PLAIN).set_ignore_parse_errors(True).build(), [1, 2]),
    "protobuf": (ProtobufRowDeserializationSchema(StringValue, ignore_parse_errors=True), ["a", "c"]),
}


def builder(kafka: Kafka, topic: str, schema: Any) -> KafkaSourceBuilder:
    source = KafkaSource.builder().set_bootstrap_servers(kafka.address).set_topics(topic)
    return source.set_value_only_deserializer(schema).set_bounded(KafkaOffsetsInitializer.latest())


def records(env: StreamExecutionEnvironment, kafka: Kafka, topic: str, schema: Any) -> Any:
    return env.from_source(builder(kafka, topic, schema).build(), None, "messages")


def written(kafka: Kafka, form: str) -> str:
    topic = kafka.topic()
    kafka.write(topic, STRICT[form][1])
    return topic


@pytest.mark.parametrize("form", STRICT)
def test_a_malformed_message_fails_the_job_and_names_its_place(kafka: Kafka, env_of: Environments, form: str) -> None:
    topic = written(kafka, form)
    with pytest.raises(JobError, match=f"topic '{topic}', partition 0, offset 1: malformed record"):
        list(records(env_of(), kafka, topic, STRICT[form][0]).execute_and_collect())


@pytest.mark.parametrize("form", FORGIVING)
def test_a_format_that_ignores_errors_skips_it(kafka: Kafka, env_of: Environments, form: str) -> None:
    schema, values = FORGIVING[form]
    found = list(records(env_of(), kafka, written(kafka, form), schema).execute_and_collect())
    assert [row[0] for row in found] == values


@pytest.mark.parametrize("form", STRICT)
def test_a_source_with_dead_letters_sets_it_aside(kafka: Kafka, env_of: Environments, form: str) -> None:
    schema, messages = STRICT[form]
    topic, malformed = written(kafka, form), OutputTag("malformed")
    rows = records(env_of(), kafka, topic, schema).with_dead_letters(malformed)
    aside = rows.get_side_output(malformed).map(lambda letter: (letter.place, letter.record))
    found = list(rows.map(lambda row: row).union(aside).execute_and_collect())
    assert sum(isinstance(each, Row) for each in found) == 2
    assert (f"topic '{topic}', partition 0, offset 1", messages[1].encode()) in found


def test_a_source_may_be_told_to_leave_it_out(kafka: Kafka, env_of: Environments) -> None:
    schema = STRICT["json"][0]
    source = builder(kafka, written(kafka, "json"), schema).drop_malformed_records().build()
    found = list(env_of().from_source(source, None, "messages").execute_and_collect())
    assert [row[0] for row in found] == [1, 2]


@pytest.mark.parametrize("form", STRICT)
def test_a_map_with_dead_letters_sets_it_aside(kafka: Kafka, env_of: Environments, form: str) -> None:
    schema, messages = STRICT[form]
    malformed = OutputTag("malformed")
    parsed = (
        records(env_of(), kafka, written(kafka, form), ByteArraySchema())
        .map(schema.deserialize, output_type=schema.get_produced_type())
        .with_dead_letters(malformed)
    )
    aside = parsed.get_side_output(malformed).map(lambda letter: letter.record)
    found = list(parsed.map(lambda row: row).union(aside).execute_and_collect())
    assert sum(isinstance(each, Row) for each in found) == 2
    assert messages[1].encode() in found
