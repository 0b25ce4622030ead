"""Streams of a real Redis, as streams and as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.redis import RedisEntry, RedisStreamSink, RedisStreamSource
from scurry.errors import ConnectorError, JobError, SourceConnectionError, SourceNotFoundError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.process import free_ports
from support.servers.redis import RedisServer

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as made:
        yield made


@pytest.fixture
def client(server: RedisServer) -> Iterator[redis.Redis]:
    with redis.Redis(port=server.port) as made:
        made.flushall()
        yield made


@pytest.fixture
def url(server: RedisServer, client: redis.Redis) -> str:
    return f"redis://127.0.0.1:{server.port}/0"


def xrange(client: Any, stream: str) -> list[Any]:
    return list(client.xrange(stream))


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


def read(builder: Any) -> list[Any]:
    stream = environment().from_source(builder.set_bounded().build(), WatermarkStrategy.no_watermarks(), "entries")
    with stream.execute_and_collect() as found:
        return list(found)


def source(url: str, *streams: str) -> Any:
    builder = RedisStreamSource.builder().set_url(url).set_streams(*streams)
    return builder.set_value_only_deserializer(SimpleStringSchema())


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE])
def test_what_a_sink_adds_is_read(url: str, client: redis.Redis, guarantee: DeliveryGuarantee) -> None:
    texts = [str(number) for number in range(5000)]
    sink = RedisStreamSink.builder().set_url(url).set_stream("there").set_delivery_guarantee(guarantee)
    sink = sink.set_value_serialization_schema(SimpleStringSchema())
    env = environment()
    env.from_collection(texts, Types.STRING()).sink_to(sink.build())
    env.execute()
    assert client.xlen("there") == len(texts)
    assert read(source(url, "there")) == texts


class Whole:
    def deserialize(self, entry: RedisEntry) -> Any:
        return None if entry.id == "2-0" else (entry.stream, entry.id, dict(entry.fields))

    def get_produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()


def test_complete_entries_begin_where_they_should(url: str, client: redis.Redis) -> None:
    for number in range(1, 6):
        client.xadd("s", {"value": f"v{number}", "more": "m"}, id=f"{number}-0")
    builder = RedisStreamSource.builder().set_url(url).set_streams("s").set_deserializer(Whole())
    assert read(builder.set_starting_position("3-0")) == [
        ("s", f"{number}-0", {b"value": f"v{number}".encode(), b"more": b"m"}) for number in (4, 5)
    ]
    assert [each[1] for each in read(builder.set_starting_position(4))] == ["4-0", "5-0"]
    assert [each[1] for each in read(builder.set_starting_position("earliest"))] == ["1-0", "3-0", "4-0", "5-0"]
    assert read(builder.set_starting_position("latest")) == []


def test_the_end_is_that_of_the_beginning_and_a_range_is_read_again(url: str, client: redis.Redis) -> None:
    client.xadd("s", {"value": "a"})
    made = source(url, "s", "none").set_bounded().build()
    enumerator = made.create_enumerator(1, BatchLimits())
    (first, *_) = enumerator.next_batch()
    client.xadd("s", {"value": "b"})
    for _ in range(2):
        assert [entry.fields for part in first.work for block in made.scan.messages(part) for entry in block] == [
            {b"value": b"a"}
        ]
    assert enumerator.next_batch() == []
    enumerator.close()


def test_a_batch_is_added_once(url: str, client: redis.Redis) -> None:
    sink = (
        RedisStreamSink.builder().set_url(url).set_stream("once").set_value_serialization_schema(SimpleStringSchema())
    )
    made = sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()
    for batch, texts in ((3, ["a", "b"]), (3, ["b", "c"]), (4, ["d"])):
        writer = made.create_writer(WriterContext(0, 1, batch, "job/1"))
        writer.write(texts)
        made.create_committer("job/1").commit(batch, writer.prepare_commit())
    assert [fields[b"value"] for _, fields in xrange(client, "once")] == [b"a", b"b", b"d"]


@pytest.mark.parametrize("guarantee", [DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE])
def test_a_key_of_another_kind_keeps_its_batch_from_being_added_in_part(
    url: str, client: redis.Redis, guarantee: DeliveryGuarantee
) -> None:
    client.set("text", "a")
    sink = RedisStreamSink.builder().set_url(url).set_stream_selector(str).set_delivery_guarantee(guarantee)
    made = sink.set_value_serialization_schema(SimpleStringSchema()).build()

    def write() -> None:
        writer = made.create_writer(WriterContext(0, 1, 3, "job/2"))
        writer.write(["there", "text"])
        made.create_committer("job/2").commit(3, writer.prepare_commit())

    for _ in range(2):  # a job that starts again must not take the batch for committed
        with pytest.raises(ConnectorError, match="'text' is a string, no stream"):
            write()
        assert client.xlen("there") == 0
    client.delete("text")
    write()
    assert (client.xlen("there"), client.xlen("text")) == (1, 1)


def test_a_stream_keeps_about_as_many_entries_as_it_should(url: str, client: redis.Redis) -> None:
    sink = RedisStreamSink.builder().set_url(url).set_stream("short").set_max_length(100)
    env = environment()
    env.from_collection(list(map(str, range(2000))), Types.STRING()).sink_to(
        sink.set_value_serialization_schema(SimpleStringSchema()).build()
    )
    env.execute()
    assert client.xlen("short") < 500


def test_tables_read_in_batch_and_in_streaming(url: str, client: redis.Redis) -> None:
    table = (
        "CREATE TABLE letters (id STRING, text STRING, headers MAP<STRING, BYTES> METADATA, "
        "`stream` STRING METADATA VIRTUAL, entry STRING METADATA FROM 'id' VIRTUAL) "
        f"WITH ('connector' = 'redis-stream', 'url' = '{url}', 'stream' = 'letters', 'value.format' = 'json', "
        "'key.format' = 'raw', 'key.fields' = 'id', 'value.fields-include' = 'EXCEPT_KEY', "
        "'scan.bounded.mode' = 'latest-offset', 'sink.delivery-guarantee' = 'exactly-once')"
    )
    for settings in (EnvironmentSettings.in_streaming_mode(), EnvironmentSettings.in_batch_mode()):
        env = TableEnvironment.create(settings)
        env.get_config().set("scurry.runner", "local")
        env.execute_sql(table)
        if settings.is_streaming_mode():
            env.execute_sql("INSERT INTO letters VALUES ('1', 'tea', MAP['h', ENCODE('v', 'UTF-8')])").wait()
        with env.execute_sql("SELECT id, text, headers, `stream` FROM letters").collect() as rows:
            assert list(map(tuple, rows)) == [("1", "tea", {"h": b"v"}, "letters")]


def test_another_kind_of_key_is_refused(url: str, client: redis.Redis) -> None:
    client.set("text", "a")
    with pytest.raises(SourceNotFoundError, match="'text' is no stream"):
        source(url, "text").build().create_enumerator(1, BatchLimits()).next_batch()


def test_a_server_that_cannot_be_used_is_one_line(url: str, client: redis.Redis) -> None:
    client.acl_setuser("ann", enabled=True, passwords=["+right"], commands=["+@all"], keys=["*"])
    for wrong, message in (
        (url.replace("redis://", "redis://ann:wzy7w@"), "it refuses the user .*; check username and password"),
        (f"redis://127.0.0.1:{free_ports(1)[0]}", "check url, and that a server runs there"),
    ):
        with pytest.raises(SourceConnectionError, match=message) as error:
            source(wrong, "s").build().create_enumerator(1, BatchLimits()).next_batch()
        assert "zy7w" not in str(error.value)
        assert "\n" not in str(error.value)


def test_a_sink_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.connectors.queues.positions.PATIENCE_SECONDS", 0)
    monkeypatch.setattr("scurry.connectors.queues.positions.patiently.__defaults__", (0.0,))
    sink = RedisStreamSink.builder().set_url(f"redis://127.0.0.1:{free_ports(1)[0]}").set_stream("s")
    env = environment()
    env.from_collection(["a"], Types.STRING()).sink_to(
        sink.set_value_serialization_schema(SimpleStringSchema()).build()
    )
    with pytest.raises(JobError, match="check url, and that a server runs there"):
        env.execute()
