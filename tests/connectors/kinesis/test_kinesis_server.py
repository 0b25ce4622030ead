"""Streams of a simulated Kinesis, as streams and as tables."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.kinesis import (
    KinesisDeserializationSchema,
    KinesisRecord,
    KinesisStreamsSink,
    KinesisStreamsSource,
    PartitionKeyGenerator,
)
from scurry.errors import JobError, SinkConnectionError, SourceNotFoundError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.kinesis import KinesisServer, client_of, properties_of

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[KinesisServer]:
    with KinesisServer() as made:
        yield made


@pytest.fixture(scope="module")
def client(server: KinesisServer) -> Any:
    return client_of(server.port)


@pytest.fixture
def stream(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)[:120]


def create(client: Any, stream: str, shards: int = 2) -> None:
    client.create_stream(StreamName=stream, ShardCount=shards)
    wait_until_active(client, stream)


def wait_until_active(client: Any, stream: str) -> None:
    while client.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamStatus"] != "ACTIVE":
        time.sleep(0.05)


def put(client: Any, stream: str, texts: list[str]) -> None:
    records = [{"Data": text.encode(), "PartitionKey": text[0]} for text in texts]
    assert client.put_records(StreamName=stream, Records=records)["FailedRecordCount"] == 0


def environment(parallelism: int = 2, settings: Mapping[str, str] | None = None) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local", **(settings or {})}))
    env.set_parallelism(parallelism)
    return env


def source(server: KinesisServer, stream: str, **options: str) -> Any:
    config = properties_of(server.port) | {"source.init.position": "TRIM_HORIZON"} | options
    builder = KinesisStreamsSource.builder().set_stream_arn(stream).set_source_config(config)
    return builder.set_deserialization_schema(SimpleStringSchema())


def sink(server: KinesisServer, stream: str) -> Any:
    builder = KinesisStreamsSink.builder().set_stream_name(stream).set_serialization_schema(SimpleStringSchema())
    builder.set_kinesis_client_properties(properties_of(server.port))
    return builder.set_partition_key_generator(PartitionKeyGenerator.random())


def read(builder: Any, parallelism: int = 2) -> list[Any]:
    made = builder.set_bounded().build()
    stream = environment(parallelism).from_source(made, WatermarkStrategy.no_watermarks(), "kinesis")
    with stream.execute_and_collect() as found:
        return list(found)


def test_what_a_sink_writes_is_read_once(server: KinesisServer, client: Any, stream: str) -> None:
    create(client, stream, 3)
    texts = [f"v{number:05}" for number in range(3000)]
    env = environment()
    env.from_collection(texts, Types.STRING()).sink_to(sink(server, stream).build())
    env.execute()
    assert sorted(read(source(server, stream))) == texts


class Whole(KinesisDeserializationSchema):
    def deserialize(self, record: KinesisRecord) -> Any:
        return record.shard_id[-1], record.partition_key, record.data.decode()

    def get_produced_type(self) -> Any:
        return Types.PICKLED_BYTE_ARRAY()


@pytest.mark.parametrize("parallelism", [1, 3])
def test_children_of_shards_are_read_after_their_parents(
    server: KinesisServer, client: Any, stream: str, parallelism: int
) -> None:
    create(client, stream, 1)
    put(client, stream, [f"{key}1" for key in "abcdef"])
    middle = str(1 << 127)
    client.split_shard(StreamName=stream, ShardToSplit="shardId-000000000000", NewStartingHashKey=middle)
    wait_until_active(client, stream)
    put(client, stream, [f"{key}2" for key in "abcdef"])
    client.merge_shards(
        StreamName=stream, ShardToMerge="shardId-000000000001", AdjacentShardToMerge="shardId-000000000002"
    )
    wait_until_active(client, stream)
    put(client, stream, [f"{key}3" for key in "abcdef"])
    found = read(source(server, stream).set_deserialization_schema(Whole()), parallelism)
    assert [text[1] for _, _, text in found] == ["1"] * 6 + ["2"] * 6 + ["3"] * 6
    assert {shard for shard, _, text in found if text[1] == "2"} == {"1", "2"}
    assert {(key, text[0]) for _, key, text in found} == {(key, key) for key in "abcdef"}


def test_reading_begins_where_it_should(server: KinesisServer, client: Any, stream: str) -> None:
    create(client, stream)
    put(client, stream, ["a", "b"])
    time.sleep(0.05)
    between = time.time()
    time.sleep(0.05)
    put(client, stream, ["c"])
    at = {"source.init.position": "AT_TIMESTAMP", "source.init.timestamp": str(between)}
    assert sorted(read(source(server, stream))) == ["a", "b", "c"]
    assert read(source(server, stream, **at)) == ["c"]
    assert read(source(server, stream, **{"source.init.position": "LATEST"})) == []


@pytest.mark.parametrize("batch", [True, False])
def test_tables(server: KinesisServer, client: Any, stream: str, batch: bool) -> None:
    create(client, stream)
    env = TableEnvironment.create(
        EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    )
    env.get_config().set("scurry.runner", "local")
    options = "".join(f"'{key}' = '{value}', " for key, value in properties_of(server.port).items())
    options = options.replace("credentials.provider.", "credentials.")
    arn = client.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamARN"]
    env.execute_sql(
        "CREATE TABLE t (k STRING, d DATE, n INT, shard STRING METADATA FROM 'shard-id' VIRTUAL, "
        "at_time TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL) PARTITIONED BY (k, d) WITH "
        f"('connector' = 'kinesis', 'stream.arn' = '{arn}', {options}'format' = 'json', "
        "'source.init.position' = 'TRIM_HORIZON', 'scan.bounded.mode' = 'latest-offset')"
    )
    env.execute_sql("INSERT INTO t VALUES ('a', DATE '2020-01-02', 1), ('b', DATE '2020-01-02', 2)").wait()
    query = "SELECT k, n, shard LIKE 'shardId-%', at_time > TIMESTAMP '2020-01-01 00:00:00' FROM t"
    with env.execute_sql(query).collect() as rows:
        assert sorted(map(tuple, rows)) == [("a", 1, True, True), ("b", 2, True, True)]
    scan = source(server, stream).set_deserialization_schema(Whole())
    assert sorted((key, text[6]) for _, key, text in read(scan)) == [("a|2020-01-02", "a"), ("b|2020-01-02", "b")]


def test_a_stream_that_does_not_exist_is_named(server: KinesisServer) -> None:
    enumerator = source(server, "nowhere").build().create_enumerator(1, BatchLimits())
    with pytest.raises(SourceNotFoundError, match="nowhere.*check the name of the stream"):
        enumerator.next_batch()
    env = environment(settings={"restart-strategy.type": "none"})
    env.from_collection(["a"], Types.STRING()).sink_to(sink(server, "nowhere").build())
    with pytest.raises((JobError, SinkConnectionError), match="nowhere.*check the name of the stream"):
        env.execute()
