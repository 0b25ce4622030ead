"""Queues and streams of a real RabbitMQ, as streams and as tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pika
import pytest

from scurry.common import Configuration, Instant, Types
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.log.directory import LogDirectory
from scurry.connectors.rabbitmq.sink import Publisher
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.rabbitmq import (
    RMQConnectionConfig,
    RMQSink,
    RMQSource,
    RMQStreamSink,
    RMQStreamSource,
)
from scurry.errors import (
    JobError,
    MalformedRecordError,
    SinkConnectionError,
    SourceConnectionError,
    SourceNotFoundError,
)
from scurry.table import EnvironmentSettings, TableEnvironment
from support.queues import rabbit
from support.servers.process import free_ports
from support.servers.rabbitmq import RabbitServer

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[RabbitServer]:
    with RabbitServer() as made:
        yield made


@pytest.fixture
def channel(server: RabbitServer) -> Iterator[Any]:
    connection = server.connect()
    yield connection.channel()
    connection.close()


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


def taken(source: Any, count: int) -> list[Any]:
    with environment().add_source(source).execute_and_collect() as found:
        return list(islice(found, count))


def publish(channel: Any, queue: str, *texts: str, **properties: Any) -> None:
    for text in texts:
        channel.basic_publish("", queue, text.encode(), pika.BasicProperties(delivery_mode=2, **properties))


def test_what_a_sink_publishes_is_read_and_acknowledged(server: RabbitServer, channel: Any) -> None:
    texts = [str(number) for number in range(5000)]
    env = environment()
    env.from_collection(texts, Types.STRING()).add_sink(RMQSink(rabbit(server.port), "there", SimpleStringSchema()))
    env.execute()
    assert channel.queue_declare("there", passive=True).method.message_count == len(texts)
    assert taken(RMQSource(rabbit(server.port), "there", False, SimpleStringSchema()), len(texts)) == texts
    give_up = time.monotonic() + 60
    while channel.queue_declare("there", passive=True).method.message_count:
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_a_message_that_comes_again_is_known_by_its_correlation_id(server: RabbitServer, channel: Any) -> None:
    channel.queue_declare("ids", durable=True)
    source = RMQSource(rabbit(server.port), "ids", True, SimpleStringSchema())
    for text in ("a", "b", "a", "c"):
        publish(channel, "ids", text, correlation_id=text)
    assert taken(source, 3) == ["a", "b", "c"]
    first = source.create_enumerator(1, BatchLimits())
    publish(channel, "ids", "d", correlation_id="d")
    assert [message.body for message in messages(first, 1)] == [b"d"]
    position = first.position()
    first.close()  # without an acknowledgement, as if the job had died
    publish(channel, "ids", "e", correlation_id="e")
    second = source.create_enumerator(1, BatchLimits())
    second.restore(position)
    assert [message.body for message in messages(second, 1)] == [b"e"]
    second.committed()
    second.close()


def messages(enumerator: Any, count: int) -> list[Any]:
    found: list[Any] = []
    give_up = time.monotonic() + 60
    while len(found) < count:
        found += [
            message for assignment in enumerator.next_batch() for part in assignment.work or [] for message in part
        ]
        assert time.monotonic() < give_up
    return found


def test_a_message_without_a_correlation_id_is_refused_where_ids_are_needed(server: RabbitServer, channel: Any) -> None:
    channel.queue_declare("no-ids", durable=True)
    publish(channel, "no-ids", "a")
    enumerator = RMQSource(rabbit(server.port), "no-ids", True, SimpleStringSchema()).create_enumerator(
        1, BatchLimits()
    )
    with pytest.raises(MalformedRecordError, match="it has no correlation id"):
        messages(enumerator, 1)
    enumerator.close()


def test_a_stream_is_read_again_from_its_offset(server: RabbitServer, channel: Any) -> None:
    channel.queue_declare("log", durable=True, arguments={"x-queue-type": "stream"})
    channel.confirm_delivery()
    publish(channel, "log", "a", "b", "c", "d")
    source = RMQStreamSource(rabbit(server.port), "log", SimpleStringSchema(), start=1)
    for _ in range(2):
        assert taken(source, 3) == ["b", "c", "d"]
    first = source.create_enumerator(1, BatchLimits(max_records=1))
    (message,) = messages(first, 1)
    assert (message.body, message.offset) == (b"b", 1)
    second = source.create_enumerator(1, BatchLimits())
    second.restore(first.position())
    assert [each.body for each in messages(second, 2)] == [b"c", b"d"]
    second.close()
    first.close()


def test_a_stream_that_has_lost_messages_is_refused(server: RabbitServer, channel: Any) -> None:
    small = {"x-queue-type": "stream", "x-max-length-bytes": 20_000, "x-stream-max-segment-size-bytes": 5000}
    channel.queue_declare("short", durable=True, arguments=small)
    channel.confirm_delivery()
    publish(channel, "short", *["x" * 2000] * 60)
    enumerator = RMQStreamSource(rabbit(server.port), "short", SimpleStringSchema()).create_enumerator(1, BatchLimits())
    enumerator.restore({"next": 1})
    with pytest.raises(SourceNotFoundError, match="the message at offset 1 was deleted before it was read"):
        enumerator.next_batch()
    enumerator.close()


def test_a_stream_drops_what_an_earlier_driver_published(
    server: RabbitServer, channel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = RMQStreamSink(rabbit(server.port), "once", SimpleStringSchema(), str(tmp_path), server.stream_port)

    def dies(*given: Any) -> None:
        raise KeyboardInterrupt  # what was published is in the stream, and not noted

    for batch, texts in enumerate([["a", "a"], [str(number) for number in range(25_000)], ["d"]]):
        for attempt in (texts, ["of another attempt"]):
            writer = made.create_writer(WriterContext(0, 1, batch, "job/1"))
            writer.write(attempt)
            committer = made.create_committer("job/1")
            with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
                if attempt is texts:
                    patch.setattr(LogDirectory, "commit", dies)
                committer.commit(batch, writer.prepare_commit())
            committer.finish()
    found = taken(RMQStreamSource(rabbit(server.port), "once", SimpleStringSchema()), 25_003)
    assert found == ["a", "a", *map(str, range(25_000)), "d"]


def test_a_stream_written_exactly_once_has_keys_times_and_headers(
    server: RabbitServer, channel: Any, tmp_path: Path
) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE t (id STRING, text STRING, sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', "
        "correlation STRING METADATA FROM 'correlation-id' VIRTUAL, headers MAP<STRING, BYTES> METADATA, "
        "`offset` BIGINT METADATA VIRTUAL) "
        f"WITH ('connector' = 'rabbitmq', 'queue' = 'whole', 'port' = '{server.port}', 'queue.type' = 'stream', "
        f"'stream.port' = '{server.stream_port}', 'sink.delivery-guarantee' = 'exactly-once', 'format' = 'json', "
        f"'sink.staging-dir' = '{tmp_path}', 'key.format' = 'raw', 'key.fields' = 'id')"
    )
    env.execute_sql("INSERT INTO t VALUES ('k', 'tea', TO_TIMESTAMP_LTZ(1700000000000, 3), MAP['h', x'76'])").wait()
    with env.execute_sql("SELECT id, text, sent, correlation, headers['h'], `offset` FROM t").collect() as rows:
        (row,) = islice(rows, 1)
    assert (*row,)[:2] == ("k", "tea")
    assert row[2] == Instant.of_epoch_milli(1_700_000_000_000)
    assert (*row,)[3:] == ("k", b"v", 0)


def test_the_port_of_streams_is_named_where_nothing_listens(server: RabbitServer, channel: Any, tmp_path: Path) -> None:
    sink = RMQStreamSink(rabbit(server.port), "once", SimpleStringSchema(), str(tmp_path), free_ports(1)[0])
    begin = time.monotonic()
    with pytest.raises(SinkConnectionError, match="check the port of streams, that the plugin rabbitmq_stream is"):
        sink.create_committer("job/2").commit(0, [[("once", None, b"a", 0, None)]])
    assert time.monotonic() - begin < 5


def test_tables_have_metadata_and_write_headers(server: RabbitServer) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE letters (id STRING, text STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', "
        "headers MAP<STRING, BYTES> METADATA, `queue` STRING METADATA VIRTUAL, "
        "correlation STRING METADATA FROM 'correlation-id' VIRTUAL) "
        f"WITH ('connector' = 'rabbitmq', 'queue' = 'letters', 'port' = '{server.port}', 'value.format' = 'json', "
        "'key.format' = 'raw', 'key.fields' = 'id', 'scan.correlation-id.enabled' = 'true')"
    )
    env.execute_sql(
        "INSERT INTO letters VALUES ('1', 'tea', TO_TIMESTAMP_LTZ(5000, 3), MAP['h', ENCODE('v', 'UTF-8')])"
    ).wait()
    found = env.execute_sql(
        "SELECT id, text, UNIX_TIMESTAMP(CAST(ts AS STRING)), headers, `queue`, correlation FROM letters"
    )
    with found.collect() as rows:
        row = next(iter(rows))
    assert (row[0], row[1], row[4], row[5]) == ("1", "tea", "letters", "1")
    assert row[3] == {"h": b"v"}


def test_an_exchange_without_a_queue_for_it_fails_the_job(server: RabbitServer, channel: Any) -> None:
    channel.exchange_declare("nowhere")
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE t (a STRING) WITH ('connector' = 'rabbitmq', 'queue' = 'q', 'sink.exchange' = 'nowhere', "
        f"'port' = '{server.port}', 'format' = 'json')"
    )
    with pytest.raises(JobError, match="no queue takes messages of exchange 'nowhere'"):
        env.execute_sql("INSERT INTO t VALUES ('a')").wait()


def test_a_message_that_cannot_be_written_fails_once_and_no_thread_stays(server: RabbitServer, channel: Any) -> None:
    channel.queue_declare("long", durable=True)
    before = set(threading.enumerate())
    publisher = Publisher(rabbit(server.port)._broker, "long", False)
    publisher.send("", "long", [("long", b"1", b"a", 0, None)])
    publisher.flush()
    publisher.send("", "long", [("long", b"k" * 300, b"b", 0, None)])
    with pytest.raises(SinkConnectionError, match="a message cannot be written: ShortStringTooLong"):
        publisher.flush()
    publisher.close()
    give_up = time.monotonic() + 120
    while set(threading.enumerate()) - before:
        assert time.monotonic() < give_up
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda builder: builder.set_password("pzy7w"), "refuses the user; check username and password"),
        (lambda builder: builder.set_virtual_host("none"), "virtual-host"),
        (lambda builder: builder.set_port(free_ports(1)[0]), "check host and port, and that a broker runs there"),
        (lambda builder: builder.set_host("no.such.host.invalid"), "check host"),
    ],
)
def test_a_broker_that_cannot_be_used_is_one_line_that_names_what_to_check(
    server: RabbitServer, change: Any, message: str
) -> None:
    builder = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(server.port).set_virtual_host("/")
    config = change(builder.set_user_name("guest").set_password("guest")).build()
    with pytest.raises(SourceConnectionError) as error:
        RMQSource(config, "q", False, SimpleStringSchema()).create_enumerator(1, BatchLimits()).next_batch()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert "zy7w" not in str(error.value)
    env = environment()
    env.from_collection(["a"], Types.STRING()).add_sink(RMQSink(config, "q", SimpleStringSchema()))
    with pytest.raises(JobError, match=message):
        env.execute()


def test_a_queue_that_is_gone_after_a_broken_connection_is_named(
    server: RabbitServer, channel: Any, caplog: pytest.LogCaptureFixture
) -> None:
    publisher = Publisher(rabbit(server.port)._broker, "forgotten", False)
    assert "gone" not in caplog.text
    channel.queue_delete("forgotten")
    publisher._session.close()
    publisher.send("", "forgotten", [("forgotten", None, b"a", 0, None)])
    publisher.flush()
    publisher.close()
    assert "queue 'forgotten' is gone" in caplog.text
    assert channel.basic_get("forgotten", auto_ack=True)[2] == b"a"


def test_a_source_whose_queue_is_deleted_names_it_and_reads_on(
    server: RabbitServer, channel: Any, caplog: pytest.LogCaptureFixture
) -> None:
    channel.queue_declare("deleted", durable=True)
    source = RMQSource(rabbit(server.port), "deleted", False, SimpleStringSchema())
    enumerator = source.create_enumerator(1, BatchLimits())
    publish(channel, "deleted", "a")
    assert [message.body for message in messages(enumerator, 1)] == [b"a"]
    channel.queue_delete("deleted")
    give_up = time.monotonic() + 120
    while not enumerator.metrics()["numReconnects"]:
        assert time.monotonic() < give_up
        enumerator.next_batch()
    assert "queue 'deleted' is gone" in caplog.text
    publish(channel, "deleted", "b")
    assert [message.body for message in messages(enumerator, 1)] == [b"b"]
    enumerator.close()
