"""Queues that jobs of tests read and write, by name: their servers, sources, sinks, and what tests do with them."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import nats
import paho.mqtt.client as paho
import pika
import pulsar
import redis
from paho.mqtt.enums import CallbackAPIVersion

from scurry.common import Duration, Encoder
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.files.filesystem import FileSystem, file_system
from scurry.connectors.nats.client import NatsServer
from scurry.connectors.nats.streams import NatsStreams
from scurry.connectors.sink import Sink
from scurry.connectors.source import Source
from scurry.datastream.connectors import DeliveryGuarantee, FileSource, StreamFormat
from scurry.datastream.connectors.file_system import FileSink
from scurry.datastream.connectors.kinesis import KinesisStreamsSink, KinesisStreamsSource, PartitionKeyGenerator
from scurry.datastream.connectors.mqtt import MqttSink, MqttSource
from scurry.datastream.connectors.nats import NatsSink, NatsSource
from scurry.datastream.connectors.prometheus import PrometheusSink, PrometheusTimeSeries
from scurry.datastream.connectors.pubsub import PubSubSink, PubSubSource
from scurry.datastream.connectors.pulsar import PulsarSink, PulsarSource
from scurry.datastream.connectors.rabbitmq import (
    RMQConnectionConfig,
    RMQSink,
    RMQSource,
    RMQStreamSink,
    RMQStreamSource,
)
from scurry.datastream.connectors.redis import RedisStreamSink, RedisStreamSource
from support.servers import azurite, kinesis, pubsub, seaweedfs
from support.servers.process import directory_of
from support.servers.pulsar import topics_of
from support.servers.rabbitmq import stream_port_of


@dataclass(frozen=True)
class System:
    """A queue named `numbers` of a server at a port of loopback.

    Attributes:
        server: Module and class of its server.
        source: Returns the source; None for what is only written.
        sink: Returns the sink.
        put: Puts messages into it.
        taken: Returns all messages that are in it.
        clear: Deletes it.
        reads_once: Whether the source is exactly once.
        writes_once: Whether the sink is exactly once.
        nightly: Whether its server is too large for every change.
        in_turn: Whether CI runs it every third day only.
        is_durable: Whether the server keeps all that it has confirmed when it is killed.
        settings: The configuration of jobs.
    """

    server: str
    source: Callable[[int], Source] | None
    sink: Callable[[int], Sink]
    put: Callable[[int, Sequence[str]], None]
    taken: Callable[[int], list[str]]
    clear: Callable[[int], None]
    reads_once: bool = True
    writes_once: bool = True
    nightly: bool = False
    in_turn: bool = False
    is_durable: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)


def staging(port: int) -> str:
    """Return a directory for the records that jobs stage."""
    return str(directory_of(port) / "staging")


# ---------------------------------------------------------------------------- RabbitMQ


def rabbit(port: int) -> RMQConnectionConfig:
    builder = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(port).set_virtual_host("/")
    return builder.set_user_name("guest").set_password("guest").build()


def _again(act: Callable[[], None]) -> None:
    """Call a function until the broker, which may have been killed, has its queues again."""
    for _ in range(100):
        try:
            return act()
        except pika.exceptions.ChannelClosedByBroker as error:
            if "home node" not in error.reply_text:
                raise
            time.sleep(0.2)
    act()


def _rabbit_put(kind: str, ids: bool) -> Callable[[int, Sequence[str]], None]:
    def put(port: int, texts: Sequence[str]) -> None:
        with pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port)) as connection:
            _again(lambda: declare(connection.channel()))
            channel = connection.channel()
            channel.confirm_delivery()
            for text in texts:
                properties = pika.BasicProperties(delivery_mode=2, correlation_id=text[:200] if ids else None)
                channel.basic_publish("", "numbers", text.encode(), properties)

    def declare(channel: Any) -> None:
        channel.queue_declare("numbers", durable=True, arguments={"x-queue-type": kind})
        # The broker forces the outcome of a declaration to the disk with its next change only, or after 2 s. A server
        # that is killed before forgets the queue, whatever it has confirmed.
        channel.queue_declare("next", durable=True)
        channel.queue_delete("next")

    return put


def _rabbit_taken(stream: bool) -> Callable[[int], list[str]]:
    def taken(port: int) -> list[str]:
        found = []
        with pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port)) as connection:
            channel = connection.channel()
            channel.basic_qos(prefetch_count=1000)
            arguments = {"x-stream-offset": "first"} if stream else None
            for method, _, body in channel.consume("numbers", arguments=arguments, inactivity_timeout=2):
                if method is None:
                    break
                found.append(body.decode())
                channel.basic_ack(method.delivery_tag)
        return found

    return taken


def _rabbit_clear(port: int) -> None:
    with pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port)) as connection:
        _again(lambda: connection.channel().queue_delete("numbers") and None)


# ---------------------------------------------------------------------------- Redis


def _redis_put(port: int, texts: Sequence[str]) -> None:
    with redis.Redis(port=port) as client:
        for text in texts:
            client.xadd("numbers", {"value": text})


def _redis_taken(port: int) -> list[str]:
    with redis.Redis(port=port) as client:
        return [fields[b"value"].decode() for _, fields in client.xrange("numbers")]


def _redis_clear(port: int) -> None:
    with redis.Redis(port=port) as client:
        client.flushall()


def _redis_source(port: int) -> Source:
    builder = RedisStreamSource.builder().set_url(f"redis://127.0.0.1:{port}").set_streams("numbers")
    return builder.set_value_only_deserializer(SimpleStringSchema()).build()


def _redis_sink(port: int) -> Sink:
    builder = RedisStreamSink.builder().set_url(f"redis://127.0.0.1:{port}").set_stream("numbers")
    builder.set_value_serialization_schema(SimpleStringSchema())
    return builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()


# ---------------------------------------------------------------------------- Pulsar


def _pulsar_topic(port: int) -> str:
    """Return a topic of which no test before has read: a deleted one would come back with its subscription."""
    return f"numbers-{len(list(topics_of(port).iterdir()))}"


def _pulsar_source(port: int) -> Source:
    builder = PulsarSource.builder().set_service_url(f"pulsar://127.0.0.1:{port}").set_topics(_pulsar_topic(port))
    return builder.set_subscription_name("tests").set_deserialization_schema(SimpleStringSchema()).build()


def _pulsar_sink(port: int) -> Sink:
    builder = PulsarSink.builder().set_service_url(f"pulsar://127.0.0.1:{port}").set_topics(_pulsar_topic(port))
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_serialization_schema(SimpleStringSchema())
    return builder.set_staging_dir(staging(port)).build()


def _pulsar_client(port: int) -> Any:
    logger = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
    return pulsar.Client(f"pulsar://127.0.0.1:{port}", operation_timeout_seconds=60, logger=logger)


def _pulsar_put(port: int, texts: Sequence[str]) -> None:
    client = _pulsar_client(port)
    # Without a subscription a broker that starts again may delete what there was.
    client.subscribe(_pulsar_topic(port), "keeps", initial_position=pulsar.InitialPosition.Earliest).close()
    producer = client.create_producer(_pulsar_topic(port))
    for text in texts:
        producer.send(text.encode())
    client.close()


def _pulsar_taken(port: int) -> list[str]:
    client, found = _pulsar_client(port), list[str]()
    reader = client.create_reader(_pulsar_topic(port), pulsar.MessageId.earliest)
    while reader.has_message_available():
        found.append(reader.read_next(10_000).data().decode())
    client.close()
    return found


def _pulsar_clear(port: int) -> None:
    directory = topics_of(port)
    (directory / str(len(list(directory.iterdir())))).touch()


# ---------------------------------------------------------------------------- NATS


def _nats(port: int, act: Callable[[Any], Any]) -> Any:
    async def run() -> Any:
        connection = await nats.connect(f"nats://127.0.0.1:{port}")
        try:
            return await act(connection.jetstream())
        finally:
            await connection.close()

    return asyncio.run(run())


def _nats_put(port: int, texts: Sequence[str]) -> None:
    async def put(jetstream: Any) -> None:
        await jetstream.add_stream(name="NUMBERS", subjects=["numbers"])
        for text in texts:
            await jetstream.publish("numbers", text.encode())

    _nats(port, put)


def _nats_taken(port: int) -> list[str]:
    scan = NatsStreams(NatsServer(f"nats://127.0.0.1:{port}"), "NUMBERS", bounded=True)
    return [each.data.decode() for part in scan.parts() for block in scan.messages(part) for each in block]


def _nats_clear(port: int) -> None:
    async def clear(jetstream: Any) -> None:
        for each in await jetstream.streams_info():
            await jetstream.delete_stream(each.config.name)

    _nats(port, clear)


def _nats_source(port: int) -> Source:
    builder = NatsSource.builder().set_servers(f"nats://127.0.0.1:{port}").set_stream("NUMBERS")
    return builder.set_value_only_deserializer(SimpleStringSchema()).build()


def _nats_sink(port: int) -> Sink:
    builder = NatsSink.builder().set_servers(f"nats://127.0.0.1:{port}").set_subject("numbers")
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_staging_dir(staging(port))
    return builder.set_value_serialization_schema(SimpleStringSchema()).build()


# ---------------------------------------------------------------------------- MQTT


def _mqtt_session(port: int, name: str, clean: bool) -> list[str]:
    """Read what the broker has kept for a session, which it keeps from now on unless it is clean."""
    found: list[str] = []
    granted: list[Any] = []
    client = paho.Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=clean)
    client.on_message = lambda _, __, message: found.append(message.payload.decode())
    client.on_subscribe = lambda *given: granted.append(given)
    client.connect("127.0.0.1", port)
    client.loop_start()
    client.subscribe("numbers", qos=1)
    before = -1
    while not granted or len(found) > before:
        before = len(found)
        time.sleep(0.5)
    client.disconnect()
    client.loop_stop()
    return found


def _mqtt_put(port: int, texts: Sequence[str]) -> None:
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    for each in [client.publish("numbers", text, qos=1) for text in texts]:
        each.wait_for_publish(60)
    client.disconnect()
    client.loop_stop()


def _mqtt_clear(port: int) -> None:
    for name in ("numbers-job", "numbers-check"):
        for clean in (True, False):
            _mqtt_session(port, name, clean)


def _mqtt_source(port: int) -> Source:
    builder = MqttSource.builder().set_broker("127.0.0.1", port).set_topics("numbers").set_client_id("numbers-job")
    return builder.set_value_only_deserializer(SimpleStringSchema()).build()


def _mqtt_sink(port: int) -> Sink:
    builder = MqttSink.builder().set_broker("127.0.0.1", port).set_topic("numbers")
    return builder.set_value_serialization_schema(SimpleStringSchema()).build()


# ---------------------------------------------------------------------------- Pub/Sub


def _pubsub_put(port: int, texts: Sequence[str]) -> None:
    pubsub.publish(port, "numbers", texts)


def _pubsub_clear(port: int) -> None:
    for kind in ("subscriptions", "topics"):
        if pubsub.asked(port, "GET", kind):
            pubsub.asked(port, "DELETE", f"{kind}/numbers")
    pubsub.make(port, "numbers")


def _pubsub_source(port: int) -> Source:
    builder = PubSubSource.builder().set_project_name(pubsub.PROJECT).set_subscription_name("numbers")
    builder.set_host_and_port_for_emulator(f"127.0.0.1:{port}")
    return builder.set_value_only_deserializer(SimpleStringSchema()).build()


def _pubsub_sink(port: int) -> Sink:
    builder = PubSubSink.builder().set_project_name(pubsub.PROJECT).set_topic_name("numbers")
    builder.set_host_and_port_for_emulator(f"127.0.0.1:{port}")
    return builder.set_value_serialization_schema(SimpleStringSchema()).build()


# ---------------------------------------------------------------------------- Kinesis


def _kinesis_put(port: int, texts: Sequence[str]) -> None:
    client = kinesis.client_of(port)
    if "numbers" not in client.list_streams()["StreamNames"]:
        client.create_stream(StreamName="numbers", ShardCount=3)
        while client.describe_stream_summary(StreamName="numbers")["StreamDescriptionSummary"]["OpenShardCount"] < 3:
            time.sleep(0.05)
    for start in range(0, len(texts), 100):
        records = [{"Data": text.encode(), "PartitionKey": text[:200]} for text in texts[start : start + 100]]
        assert client.put_records(StreamName="numbers", Records=records)["FailedRecordCount"] == 0


def _kinesis_taken(port: int) -> list[str]:
    scan: Any = _kinesis_source(port)
    parts = scan.scan.parts()
    return [each.data.decode() for part in parts for block in scan.scan.messages(part) for each in block]


def _kinesis_clear(port: int) -> None:
    client = kinesis.client_of(port)
    if "numbers" in client.list_streams()["StreamNames"]:
        client.delete_stream(StreamName="numbers")
    while "numbers" in client.list_streams()["StreamNames"]:
        time.sleep(0.05)


def _kinesis_source(port: int) -> Source:
    config = kinesis.properties_of(port) | {"source.init.position": "TRIM_HORIZON"}
    builder = KinesisStreamsSource.builder().set_stream_arn("numbers").set_source_config(config)
    return builder.set_deserialization_schema(SimpleStringSchema()).build()


def _kinesis_sink(port: int) -> Sink:
    builder = KinesisStreamsSink.builder().set_stream_name("numbers").set_serialization_schema(SimpleStringSchema())
    builder.set_kinesis_client_properties(kinesis.properties_of(port))
    return builder.set_partition_key_generator(PartitionKeyGenerator(str)).build()


# ---------------------------------------------------------------------------- Files in an object store


def _s3_put(port: int, texts: Sequence[str]) -> None:
    client = seaweedfs.client_of(port)
    if "numbers" not in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket="numbers")
    if texts:
        client.put_object(Bucket="numbers", Key=f"in/{texts[0]}.txt", Body="\n".join(texts).encode())


def _s3_objects(port: int, prefix: str) -> list[str]:
    client = seaweedfs.client_of(port)
    pages = client.get_paginator("list_objects_v2").paginate(Bucket="numbers", Prefix=prefix)
    return [each["Key"] for page in pages for each in page.get("Contents", ())]


def _s3_taken(port: int) -> list[str]:
    client = seaweedfs.client_of(port)
    visible = [key for key in _s3_objects(port, "out/") if not any(part[:1] in "._" for part in key.split("/"))]
    return [
        text
        for key in visible
        for text in client.get_object(Bucket="numbers", Key=key)["Body"].read().decode().splitlines()
    ]


def _s3_clear(port: int) -> None:
    _s3_put(port, ())
    client = seaweedfs.client_of(port)
    for key in _s3_objects(port, ""):
        client.delete_object(Bucket="numbers", Key=key)


def _s3_source(port: int) -> Source:
    os.environ.update(seaweedfs.environment_of(port))
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "s3://numbers/in")
    return builder.monitor_continuously(Duration.of_millis(100)).build()


def _s3_sink(port: int) -> Sink:
    os.environ.update(seaweedfs.environment_of(port))
    return FileSink.for_row_format("s3://numbers/out", Encoder.simple_string_encoder()).build()


# ---------------------------------------------------------------------------- Azure

_CONTAINER = "abfss://numbers@devstoreaccount1.dfs.core.windows.net"


def _azure(port: int) -> FileSystem:
    os.environ.update(azurite.environment_of(port))
    return file_system(_CONTAINER)[0]


def _azure_put(port: int, texts: Sequence[str]) -> None:
    files, name = _azure(port), f"{texts[0] if texts else 'none'}.txt"
    with files.open_output(f"numbers/new/{name}") as file:  # a blob that is being written is there, and empty
        file.write("".join(f"{text}\n" for text in texts).encode())
    files.rename(f"numbers/new/{name}", f"numbers/in/{name}")


def _azure_taken(port: int) -> list[str]:
    files = _azure(port)
    found: list[str] = []
    for status in files.files("numbers/out"):
        with files.open_input(status.path) as file:
            found += file.read().decode().splitlines()
    return found


def _azure_clear(port: int) -> None:
    for directory in ("new", "in", "out"):
        _azure(port).delete(f"numbers/{directory}")
    _azure_put(port, ())


def _azure_source(port: int) -> Source:
    _azure(port)
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), f"{_CONTAINER}/in")
    return builder.monitor_continuously(Duration.of_millis(100)).build()


def _azure_sink(port: int) -> Sink:
    _azure(port)
    return FileSink.for_row_format(f"{_CONTAINER}/out", Encoder.simple_string_encoder()).build()


# ---------------------------------------------------------------------------- Prometheus


def _prometheus_sink(port: int) -> Sink:
    builder = PrometheusSink.builder().set_prometheus_remote_write_url(f"http://127.0.0.1:{port}/api/v1/write")
    return builder.set_element_converter(_series_of).build()


def _series_of(text: str) -> PrometheusTimeSeries:
    """A series of its own for each number: tasks send them in any order."""
    built = PrometheusTimeSeries.builder().with_metric_name("numbers").add_label("number", text)
    return built.add_sample(float(text), int(time.time() * 1000)).build()


def _prometheus_taken(port: int) -> list[str]:
    since = _CLEARED.get(port, 0.0)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/series?match[]=numbers&start={since}") as answer:
        return [each["number"] for each in json.load(answer)["data"]]


#: When a test began: what is older belongs to another one.
_CLEARED: dict[int, float] = {}


#: File systems are not waited for: a failed request fails the job, and its restart strategy decides.
_RESTARTING = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1000",
    "restart-strategy.fixed-delay.delay": "500 ms",
}
_RABBIT = "support.servers.rabbitmq:RabbitServer"
SYSTEMS = {
    "pulsar": System(
        "support.servers.pulsar:PulsarServer",
        _pulsar_source,
        _pulsar_sink,
        _pulsar_put,
        _pulsar_taken,
        _pulsar_clear,
        nightly=True,
    ),
    "rabbitmq": System(
        _RABBIT,
        lambda port: RMQSource(rabbit(port), "numbers", True, SimpleStringSchema()),
        lambda port: RMQSink(rabbit(port), "numbers", SimpleStringSchema()),
        _rabbit_put("classic", True),
        _rabbit_taken(False),
        _rabbit_clear,
        writes_once=False,
    ),
    "rabbitmq-without-ids": System(
        _RABBIT,
        lambda port: RMQSource(rabbit(port), "numbers", False, SimpleStringSchema()),
        lambda port: RMQSink(rabbit(port), "numbers", SimpleStringSchema()),
        _rabbit_put("classic", False),
        _rabbit_taken(False),
        _rabbit_clear,
        reads_once=False,
        writes_once=False,
    ),
    "rabbitmq-stream": System(
        _RABBIT,
        lambda port: RMQStreamSource(rabbit(port), "numbers", SimpleStringSchema()),
        lambda port: RMQStreamSink(rabbit(port), "numbers", SimpleStringSchema(), staging(port), stream_port_of(port)),
        _rabbit_put("stream", False),
        _rabbit_taken(True),
        _rabbit_clear,
    ),
    "redis": System(
        "support.servers.redis:RedisServer", _redis_source, _redis_sink, _redis_put, _redis_taken, _redis_clear
    ),
    "nats": System(
        "support.servers.nats:NatsServer",
        _nats_source,
        _nats_sink,
        _nats_put,
        _nats_taken,
        _nats_clear,
    ),
    "kinesis": System(
        "support.servers.kinesis:KinesisServer",
        _kinesis_source,
        _kinesis_sink,
        _kinesis_put,
        _kinesis_taken,
        _kinesis_clear,
        writes_once=False,
        is_durable=False,
    ),
    "prometheus": System(
        "support.servers.prometheus:PrometheusServer",
        None,
        _prometheus_sink,
        lambda port, texts: None,
        _prometheus_taken,
        lambda port: _CLEARED.update({port: time.time()}),
        writes_once=False,
    ),
    "s3": System(
        "support.servers.seaweedfs:SeaweedServer",
        _s3_source,
        _s3_sink,
        _s3_put,
        _s3_taken,
        _s3_clear,
        settings=_RESTARTING,
    ),
    "azure": System(
        "support.servers.azurite:AzuriteServer",
        _azure_source,
        _azure_sink,
        _azure_put,
        _azure_taken,
        _azure_clear,
        nightly=True,
        is_durable=False,
        settings=_RESTARTING,
    ),
    "mqtt": System(
        "support.servers.mosquitto:MosquittoServer",
        _mqtt_source,
        _mqtt_sink,
        _mqtt_put,
        lambda port: _mqtt_session(port, "numbers-check", False),
        _mqtt_clear,
        reads_once=False,
        writes_once=False,
        is_durable=False,
    ),
    "pubsub": System(
        "support.servers.pubsub:PubSubServer",
        _pubsub_source,
        _pubsub_sink,
        _pubsub_put,
        lambda port: pubsub.taken(port, "numbers"),
        _pubsub_clear,
        writes_once=False,
        in_turn=True,
        is_durable=False,
    ),
}


@contextmanager
def running_servers() -> Iterator[Callable[[str], Any]]:
    """What returns the server of a class, `module:Class`, which is started once; at the end all are stopped."""
    running: dict[str, Any] = {}

    def server_of(path: str) -> Any:
        if path not in running:
            module, _, kind = path.partition(":")
            running[path] = getattr(importlib.import_module(module), kind)()
            running[path].start()
        return running[path]

    yield server_of
    for each in running.values():
        each.stop()
