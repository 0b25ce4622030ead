"""Subscriptions and topics of Google's emulator of Pub/Sub, as streams and as tables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.pubsub import source as reading
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.pubsub import PubSubSink, PubSubSource
from scurry.errors import JobError, SourceConnectionError, SourceNotFoundError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.process import free_ports
from support.servers.pubsub import PROJECT, PubSubServer, make, publish, taken

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[PubSubServer]:
    with PubSubServer() as made:
        yield made


def source(port: int, name: str) -> PubSubSource:
    builder = PubSubSource.builder().set_project_name(PROJECT).set_host_and_port_for_emulator(f"127.0.0.1:{port}")
    return builder.set_subscription_name(name).set_value_only_deserializer(SimpleStringSchema()).build()


def sink(port: int, name: str) -> PubSubSink:
    builder = PubSubSink.builder().set_project_name(PROJECT).set_host_and_port_for_emulator(f"127.0.0.1:{port}")
    return builder.set_topic_name(name).set_value_serialization_schema(SimpleStringSchema()).build()


def messages(enumerator: Any, count: int, seconds: float = 60) -> list[reading.PubSubMessage]:
    found: list[reading.PubSubMessage] = []
    give_up = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < give_up:
        for assignment in enumerator.next_batch():
            found += [message for part in assignment.work or [] for message in part]
        time.sleep(0.01)
    return found


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


def test_what_was_not_committed_comes_again_and_what_was_assigned_is_left_out(server: PubSubServer) -> None:
    make(server.port, "again")
    publish(server.port, "again", ["1", "2"])
    first = source(server.port, "again").create_enumerator(1, BatchLimits(max_records=1))
    (assigned,) = messages(first, 1)
    position = first.position()
    first.close()  # without an acknowledgement, as if the job had died
    second = source(server.port, "again").create_enumerator(1, BatchLimits())
    second.restore(position)
    (other,) = messages(second, 1)
    assert {assigned.data, other.data} == {b"1", b"2"}
    second.committed()
    second.close()
    assert taken(server.port, "again") == []


@pytest.mark.nightly
def test_leases_are_renewed_while_a_micro_batch_is_not_committed(
    server: PubSubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_FIRST_SECONDS", 0.0)
    make(server.port, "leased")
    publish(server.port, "leased", ["1"])
    reader = source(server.port, "leased").create_enumerator(1, BatchLimits())
    assert len(messages(reader, 1)) == 1
    time.sleep(10.5)  # longer than the subscription leaves
    assert taken(server.port, "leased") == []
    reader.committed()
    reader.close()


def test_what_a_sink_publishes_is_read_once(server: PubSubServer) -> None:
    make(server.port, "all")
    texts = [str(number) for number in range(3000)]
    env = environment()
    env.from_collection(texts, Types.STRING()).sink_to(sink(server.port, "all"))
    env.execute()
    stream = environment().from_source(source(server.port, "all"), WatermarkStrategy.no_watermarks(), "messages")
    with stream.execute_and_collect() as found:
        assert sorted(islice(found, len(texts)), key=int) == texts


def test_tables_have_metadata(server: PubSubServer) -> None:
    make(server.port, "letters", enableMessageOrdering=True)
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE letters (id STRING, text STRING, headers MAP<STRING, BYTES> METADATA, subscription STRING "
        "METADATA VIRTUAL, message STRING METADATA FROM 'message-id' VIRTUAL, published TIMESTAMP_LTZ(3) METADATA FROM "
        "'timestamp' VIRTUAL, ordering STRING METADATA FROM 'ordering-key' VIRTUAL) WITH ('connector' = 'pubsub', "
        f"'project' = '{PROJECT}', 'emulator-host' = '127.0.0.1:{server.port}', 'topic' = 'letters', "
        "'subscription' = 'letters', 'format' = 'json', 'key.format' = 'raw', 'key.fields' = 'id', "
        "'value.fields-include' = 'EXCEPT_KEY')"
    )
    env.execute_sql("INSERT INTO letters VALUES ('a', 'tea', MAP['lang', CAST('en' AS BYTES)])").wait()
    columns = "id, text, headers['lang'], subscription, message IS NOT NULL, ordering, published"
    with env.execute_sql(f"SELECT {columns} FROM letters").collect() as rows:
        *row, published = tuple(next(iter(rows)))
    assert row == ["a", "tea", b"en", "letters", True, "a"]
    assert abs(published.to_epoch_milli() / 1000 - time.time()) < 60


def test_what_is_not_there_is_named_at_once(server: PubSubServer) -> None:
    began = time.monotonic()
    away = free_ports(1)[0]
    with pytest.raises(SourceConnectionError, match="does not answer .* check the address of the emulator"):
        source(away, "none").create_enumerator(1, BatchLimits()).next_batch()
    with pytest.raises(SourceNotFoundError, match="no subscription 'none' .* check subscription and project"):
        source(server.port, "none").create_enumerator(1, BatchLimits()).next_batch()
    env = environment()
    env.from_collection(["a"], Types.STRING()).sink_to(sink(server.port, "none"))
    with pytest.raises(JobError, match="no topic 'none' .* check topic and project"):
        env.execute()
    assert time.monotonic() - began < 5


def test_a_message_without_anything_in_it_is_refused(server: PubSubServer) -> None:
    env = environment()
    env.from_collection([""], Types.STRING()).sink_to(sink(server.port, "all"))
    with pytest.raises(JobError, match="Pub/Sub takes no message without data and attributes"):
        env.execute()
