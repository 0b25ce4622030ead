"""Builders, subscribers and metadata services of the dynamic source; no broker is asked."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.kafka.dynamic.topics import DynamicTopics
from scurry.connectors.messages import RecordDecoder, ValueDecoder
from scurry.datastream.connectors.dynamic_kafka import (
    ClusterMetadata,
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    FileMetadataService,
    KafkaRecordDeserializationSchema,
    KafkaStream,
    KafkaStreamSetSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)
from scurry.datastream.connectors.kafka import ConsumerRecord, KafkaOffsetsInitializer, KafkaSource
from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError, SourceNotFoundError

SERVERS = {"bootstrap.servers": "b:1"}
STREAMS = [
    {
        "streamId": "orders",
        "clusterMetadataList": [
            {"clusterId": "east", "bootstrapServers": "e:1", "topics": ["orders", "more"]},
            {"bootstrapServers": "w:1", "topics": ["orders"], "properties": {"client.rack": "r"}},
        ],
    }
]
YAML = """
- streamId: orders
  clusterMetadataList:
    - clusterId: east
      bootstrapServers: e:1
      topics:
        - orders
        - more
    - bootstrapServers: w:1
      topics: [orders]
      properties:
        client.rack: r
"""


#: Types do not let programs pass what is refused here.
untyped: Any = DynamicKafkaSource
Cluster: Any = ClusterMetadata
Schema: Any = KafkaRecordDeserializationSchema


def builder() -> DynamicKafkaSourceBuilder:
    made = DynamicKafkaSource.builder().set_kafka_metadata_service(SingleClusterTopicMetadataService("a", SERVERS))
    return made.set_stream_ids({"t"}).set_value_only_deserializer(SimpleStringSchema())


def scan_of(source: DynamicKafkaSource) -> DynamicTopics:
    assert isinstance(source.scan, DynamicTopics)
    return source.scan


def test_a_source_has_what_the_builder_was_given() -> None:
    latest = KafkaOffsetsInitializer.latest()
    source = (
        builder()
        .set_starting_offsets(latest)
        .set_bounded(latest)
        .set_group_id("g")
        .set_client_id_prefix("c")
        .set_property("stream-metadata-discovery-interval-ms", "50")
        .set_properties({"stream-metadata-discovery-failure-threshold": "3"})
        .build()
    )
    scan = scan_of(source)
    assert source.bounded
    assert (scan.start, scan.stop, scan.group, scan.discovery_ms, scan.failure_threshold) == (
        latest,
        latest,
        "g",
        50,
        3,
    )
    assert scan.properties == {"group.id": "g", "client.id": "c"}


def test_by_default_it_is_unbounded_and_asks_the_service_once() -> None:
    source = builder().build()
    assert not source.bounded
    assert scan_of(source).discovery_ms == -1 and scan_of(source).failure_threshold == 1


def test_sources_travel_and_do_not_show_secrets() -> None:
    service = SingleClusterTopicMetadataService("a", SERVERS | {"sasl.password": "open-sesame"})
    made = DynamicKafkaSource.builder().set_kafka_metadata_service(service).set_stream_pattern("t.*")
    built = made.set_property("ssl.key.password", "mellon").set_value_only_deserializer(SimpleStringSchema()).build()
    shipped = scan_of(pickle.loads(pickle.dumps(built)))
    assert shipped.properties == {"ssl.key.password": "mellon"}
    assert not {"open-sesame", "mellon"} & set(repr(built).replace("'", " ").split())
    assert "open-sesame" not in repr(service.describe_streams(["t"]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DynamicKafkaSource.builder().build(), "no metadata service: call set_kafka_metadata_service"),
        (
            lambda: DynamicKafkaSource.builder()
            .set_kafka_metadata_service(SingleClusterTopicMetadataService("a", SERVERS))
            .build(),
            "nothing to read: call set_stream_ids or set_stream_pattern",
        ),
        (lambda: builder().set_stream_pattern("x"), "either stream ids, a stream pattern"),
        (lambda: builder().set_bounded(KafkaOffsetsInitializer.earliest()), "takes an end"),
        (lambda: builder().set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build(), "set_group_id"),
        (lambda: builder().set_property("fetch.min.byte", "1").build(), "No such configuration property"),
        (lambda: builder().set_property("auto.offset.reset", "first").build(), "earliest, latest or none"),
        (
            lambda: builder().set_property("stream-metadata-discovery-interval-ms", "1 s").build(),
            "stream-metadata-discovery-interval-ms must be a whole number, got '1 s'",
        ),
        (lambda: DynamicKafkaSource.builder().set_stream_ids(set()), "stream_ids are a set of names"),
        (lambda: untyped.builder().set_stream_ids("t"), "stream_ids are a set of names, got 't'"),
        (lambda: DynamicKafkaSource.builder().set_stream_pattern("("), "stream pattern"),
        (lambda: untyped.builder().set_kafka_metadata_service("a"), "takes a KafkaMetadataService"),
        (lambda: untyped.builder().set_kafka_stream_subscriber("a"), "takes a KafkaStreamSubscriber"),
        (lambda: untyped.builder().set_deserializer(SimpleStringSchema()), "KafkaRecordDeserialization"),
        (lambda: SingleClusterTopicMetadataService("a", {}), "need 'bootstrap.servers'"),
        (lambda: SingleClusterTopicMetadataService("", SERVERS), "kafka_cluster_id is a name"),
        (lambda: Cluster("t", SERVERS), "a collection of names, got 't'"),
        (lambda: Schema.value_only("json"), "takes a DeserializationSchema"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ScurryError, match=message) as caught:
        build()
    assert isinstance(caught.value, ArgumentError | ArgumentTypeError)


@pytest.mark.parametrize("make", [builder, KafkaSource.builder])
def test_a_value_only_schema_reads_values_as_if_it_were_given_itself(make: Callable[[], Any]) -> None:
    schema = KafkaRecordDeserializationSchema.value_only(SimpleStringSchema())
    made = make().set_deserializer(schema)
    assert isinstance(made._decoder, ValueDecoder)
    record = ConsumerRecord("t", 0, 0, 0, None, b"a", ())
    assert schema.deserialize(record) == "a" and schema.deserialize(record._replace(value=None)) is None


def test_other_schemas_read_complete_records() -> None:
    class Offsets(KafkaRecordDeserializationSchema):
        def deserialize(self, record: ConsumerRecord) -> Any:
            return record.offset

    assert isinstance(builder().set_deserializer(Offsets()).build().decoder, RecordDecoder)


@pytest.mark.parametrize(("name", "text"), [("m.json", json.dumps(STREAMS)), ("m.yaml", YAML), ("m.yml", YAML)])
def test_a_file_lists_streams_as_in_flinks_tests(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    service = FileMetadataService(tmp_path / name, {"client.id": "c"})
    east = ClusterMetadata(frozenset({"orders", "more"}), {"bootstrap.servers": "e:1", "client.id": "c"})
    west = ClusterMetadata(frozenset({"orders"}), {"bootstrap.servers": "w:1", "client.id": "c", "client.rack": "r"})
    assert list(service.get_all_streams()) == [KafkaStream("orders", {"east": east, "w:1": west})]
    assert service.is_cluster_active("east") and not service.is_cluster_active("north")
    assert set(service.describe_streams({"orders", "other"})) == {"orders"}


def test_a_file_is_read_again_each_time(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(STREAMS))
    service = FileMetadataService(path)
    assert len(service.get_all_streams()) == 1
    path.write_text("[]")
    assert len(service.get_all_streams()) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "m.json: Expecting property name"),
        ("{}", None),
        ('[{"streamId": "a"}]', "expected a list of streams .*KeyError: 'clusterMetadataList'"),
        ('["a"]', "expected a list of streams"),
        ("3", "expected a list of streams"),
        ('[{"streamId": "a", "clusterMetadataList": [{"topics": []}]}]', "KeyError: 'bootstrapServers'"),
    ],
)
def test_a_malformed_file_is_an_error_that_says_what_is_expected(
    tmp_path: Path, text: str, message: str | None
) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    if message is None:
        assert list(FileMetadataService(path).get_all_streams()) == []
        return
    with pytest.raises(ArgumentError, match=message):
        FileMetadataService(path).get_all_streams()


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match=r"none\.json cannot be read: No such file"):
        FileMetadataService(tmp_path / "none.json").get_all_streams()


def test_subscribers_choose_streams(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps([{"streamId": each, "clusterMetadataList": []} for each in ("a1", "a2", "ba1")]))
    service = FileMetadataService(path)
    by_id = KafkaStreamSetSubscriber({"a2", "none"}).get_subscribed_streams(service)
    by_pattern = StreamPatternSubscriber(r"a\d").get_subscribed_streams(service)
    assert [stream.stream_id for stream in by_id] == ["a2"]
    assert sorted(stream.stream_id for stream in by_pattern) == ["a1", "a2"]
