"""Topics of a real broker of MQTT, as streams and as tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.sink import WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.mqtt import MqttSink, MqttSource
from scurry.errors import ArgumentError, JobError, SourceConnectionError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.mosquitto import MosquittoServer
from support.servers.process import free_ports

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[MosquittoServer]:
    with MosquittoServer() as made:
        yield made


def source(server: MosquittoServer, topic: str) -> Any:
    builder = MqttSource.builder().set_broker("127.0.0.1", server.port).set_topics(topic)
    return builder.set_client_id(f"job-{topic[0]}").set_value_only_deserializer(SimpleStringSchema())


def sink(server: MosquittoServer, topic: str) -> Any:
    builder = MqttSink.builder().set_broker("127.0.0.1", server.port).set_topic(topic)
    return builder.set_value_serialization_schema(SimpleStringSchema())


def publish(server: MosquittoServer, topic: str, *texts: str) -> None:
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", server.port)
    client.loop_start()
    for text in texts:
        client.publish(topic, text, qos=1).wait_for_publish(60)
    client.disconnect()
    client.loop_stop()


def bodies(enumerator: Any, count: int) -> list[bytes]:
    found: list[bytes] = []
    give_up = time.monotonic() + 60
    while len(found) < count:
        for assignment in enumerator.next_batch():
            found += [message.payload for part in assignment.work or [] for message in part]
        assert time.monotonic() < give_up
    return found


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))


def test_what_is_published_while_nobody_reads_is_kept_for_the_session(server: MosquittoServer) -> None:
    made = source(server, "a/#").build()
    first = made.create_enumerator(1, BatchLimits())
    first.next_batch()
    first.close()
    publish(server, "a/x", "1", "2")
    second = made.create_enumerator(1, BatchLimits())
    assert bodies(second, 2) == [b"1", b"2"]
    second.close()  # without an acknowledgement, as if the job had died
    third = made.create_enumerator(1, BatchLimits())
    assert bodies(third, 2) == [b"1", b"2"]
    third.committed()
    publish(server, "a/x", "3")
    assert bodies(third, 1) == [b"3"]
    third.committed()
    time.sleep(0.5)
    third.close()
    fourth = made.create_enumerator(1, BatchLimits())
    publish(server, "a/x", "4")
    assert bodies(fourth, 1) == [b"4"]
    fourth.close()


def test_what_a_sink_publishes_is_read(server: MosquittoServer) -> None:
    made = source(server, "b").build()
    made.create_enumerator(1, BatchLimits()).next_batch()
    texts = [str(number) for number in range(3000)]
    env = environment()
    env.from_collection(texts, Types.STRING()).sink_to(sink(server, "b").build())
    env.execute()
    stream = environment().from_source(made, WatermarkStrategy.no_watermarks(), "messages")
    with stream.execute_and_collect() as found:
        assert sorted(islice(found, len(texts)), key=int) == texts


@pytest.mark.parametrize("qos", [0, 1])
def test_a_sink_waits_for_a_broker_that_is_away_between_two_batches(server: MosquittoServer, qos: int) -> None:
    made = sink(server, f"d/{qos}").set_qos(qos).set_retain(True).build()

    def write(text: str) -> None:
        writer = made.create_writer(WriterContext(0, 1, 1, "job/1"))
        writer.write([text])
        writer.prepare_commit()

    write("before")
    server.kill()
    time.sleep(0.5)
    later = threading.Timer(1, server.start)
    later.start()
    write("after")
    later.join()
    reader = source(server, f"d/{qos}").build().create_enumerator(1, BatchLimits())
    assert bodies(reader, 1) == [b"after"]
    reader.close()


def test_tables_have_metadata(server: MosquittoServer) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE letters (text STRING, topic STRING METADATA VIRTUAL, qos INT METADATA VIRTUAL) WITH ("
        f"'connector' = 'mqtt', 'host' = '127.0.0.1', 'port' = '{server.port}', 'topic' = 'c/letters', "
        "'client-id' = 'sql', 'format' = 'json')"
    )
    with env.execute_sql("SELECT text, topic, qos FROM letters").collect() as rows:
        threading.Timer(1, lambda: env.execute_sql("INSERT INTO letters VALUES ('tea')").wait()).start()
        assert tuple(next(iter(rows))) == ("tea", "c/letters", 1)
    with pytest.raises(ValidationError, match="must be one topic, without wildcards"):
        env.execute_sql("INSERT INTO letters /*+ OPTIONS('topic' = 'c/#') */ VALUES ('tea')")


def test_what_cannot_work_is_refused(server: MosquittoServer) -> None:
    away = MqttSource.builder().set_broker("127.0.0.1", free_ports(1)[0], "ann", "wzy7w").set_topics("t")
    made = away.set_client_id("j").set_value_only_deserializer(SimpleStringSchema()).build()
    with pytest.raises(SourceConnectionError, match="check host and port, and that a broker runs there") as error:
        made.create_enumerator(1, BatchLimits()).next_batch()
    assert "zy7w" not in f"{error.value} {made}"
    with pytest.raises(UnsupportedError, match="writes at least once"):
        sink(server, "a").set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()
    with pytest.raises(ArgumentError, match="takes 0, 1 or 2"):
        sink(server, "a").set_qos(3)
    with pytest.raises(ArgumentError, match="call set_client_id"):
        away.set_client_id("").build()
    env = environment()
    env.from_collection(["a"], Types.STRING()).sink_to(
        MqttSink.builder()
        .set_broker("127.0.0.1", free_ports(1)[0])
        .set_topic("t")
        .set_value_serialization_schema(SimpleStringSchema())
        .build()
    )
    with pytest.raises(JobError, match="check host and port, and that a broker runs there"):
        env.execute()
