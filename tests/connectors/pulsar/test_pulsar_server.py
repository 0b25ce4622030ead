"""Topics of a real Pulsar, as streams and as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulsar
import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.common.serialization import SimpleStringSchema
from scurry.common.typeinfo import TypeInformation
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.pulsar import (
    PulsarMessage,
    PulsarSink,
    PulsarSinkBuilder,
    PulsarSource,
    PulsarSourceBuilder,
    StartCursor,
    StopCursor,
)
from scurry.errors import JobError, SinkConnectionError
from scurry.table import EnvironmentSettings, TableEnvironment
from support import TESTS
from support.servers.pulsar import PulsarServer

pytestmark = [pytest.mark.servers, pytest.mark.nightly]


@pytest.fixture(scope="module")
def server() -> Iterator[PulsarServer]:
    with PulsarServer() as made:
        yield made


@pytest.fixture
def client(server: PulsarServer) -> Iterator[Any]:
    logger = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
    made = pulsar.Client(f"pulsar://127.0.0.1:{server.port}", operation_timeout_seconds=60, logger=logger)
    yield made
    made.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)


def environment(**settings: str) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local", **settings}))


def source(server: PulsarServer, topic: str) -> PulsarSourceBuilder:
    builder = PulsarSource.builder().set_service_url(f"pulsar://127.0.0.1:{server.port}").set_topics(topic)
    builder.set_subscription_name("s").set_bounded_stop_cursor(StopCursor.latest())
    return builder.set_deserialization_schema(SimpleStringSchema())


def sink(server: PulsarServer, topic: str) -> PulsarSinkBuilder:
    builder = PulsarSink.builder().set_service_url(f"pulsar://127.0.0.1:{server.port}").set_topics(topic)
    return builder.set_serialization_schema(SimpleStringSchema())


def read(builder: PulsarSourceBuilder) -> list[Any]:
    stream = environment().from_source(builder.build(), WatermarkStrategy.no_watermarks(), "pulsar")
    with stream.execute_and_collect() as found:
        return sorted(found)


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
@pytest.mark.parametrize("partitions", [0, 3])
def test_what_a_sink_writes_is_read_once(
    server: PulsarServer, topic: str, guarantee: DeliveryGuarantee, partitions: int, tmp_path: Path
) -> None:
    if partitions:
        server.ask("PUT", f"persistent/public/default/{topic}/partitions", str(partitions).encode())
    values = [f"v{number:05}" for number in range(3000)]
    env = environment(**{"execution.checkpointing.dir": str(tmp_path / "checkpoints")})
    made = sink(server, topic).set_delivery_guarantee(guarantee).set_staging_dir(str(tmp_path / "staging"))
    env.from_collection(values, Types.STRING()).sink_to(made.build())
    env.execute()
    assert read(source(server, topic)) == values


def test_reading_starts_and_stops_at_messages_and_times(server: PulsarServer, client: Any, topic: str) -> None:
    producer = client.create_producer(topic)
    ids = [producer.send(b"%d" % number, event_timestamp=number * 1000 + 1).serialize() for number in range(10)]

    def between(start: StartCursor, stop: StopCursor) -> str:
        return "".join(read(source(server, topic).set_start_cursor(start).set_bounded_stop_cursor(stop)))

    earliest, latest = StartCursor.earliest(), StopCursor.latest()
    assert between(earliest, latest) == "0123456789"
    assert between(StartCursor.latest(), latest) == ""
    assert between(StartCursor.from_message_id(ids[3]), latest) == "3456789"
    assert between(StartCursor.from_message_id(ids[3], False), StopCursor.at_message_id(ids[7])) == "456"
    assert between(earliest, StopCursor.after_message_id(ids[2])) == "012"
    assert between(earliest, StopCursor.at_event_time(4001)) == "0123"
    assert between(earliest, StopCursor.after_event_time(4001)) == "01234"
    assert between(StartCursor.from_publish_time(1), latest) == "0123456789"
    assert between(earliest, StopCursor.at_publish_time(1)) == ""


def test_messages_of_batches_are_read_from_within(server: PulsarServer, client: Any, topic: str) -> None:
    producer = client.create_producer(topic, batching_enabled=True, batching_max_publish_delay_ms=500)
    for number in range(6):
        producer.send_async(b"%d" % number, lambda result, message_id: None)
    producer.flush()
    reader = client.create_reader(topic, pulsar.MessageId.earliest)
    ids = [reader.read_next(5000).message_id().serialize() for _ in range(6)]
    found = read(source(server, topic).set_start_cursor(StartCursor.from_message_id(ids[2])))
    assert "".join(found) == "2345"
    stopped = source(server, topic).set_bounded_stop_cursor(StopCursor.after_message_id(ids[3]))
    assert "".join(read(stopped)) == "0123"


def test_the_subscription_follows_what_is_committed(
    server: PulsarServer, client: Any, topic: str, tmp_path: Path
) -> None:
    client.create_producer(topic).send(b"a")
    env = environment(**{"execution.checkpointing.dir": str(tmp_path)})
    unbounded = source(server, topic).set_unbounded_stop_cursor(StopCursor.latest()).build()
    env.from_source(unbounded, WatermarkStrategy.no_watermarks(), "pulsar").print()
    env.execute()
    stats = server.ask("GET", f"persistent/public/default/{topic}/stats")
    assert b'"msgBacklog":0' in stats.replace(b" ", b"")


class Complete:
    def deserialize(self, record: PulsarMessage) -> Any:
        return record.key, record.value, record.event_time, sorted(record.properties.items())

    def get_produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()


def test_complete_messages(server: PulsarServer, client: Any, topic: str) -> None:
    client.create_producer(topic).send(b"a", partition_key="k", event_timestamp=7, properties={"p": "q"})
    assert read(source(server, topic).set_deserializer(Complete())) == [("k", b"a", 7, [("p", "q")])]


@pytest.mark.parametrize("batch", [True, False])
def test_tables(server: PulsarServer, topic: str, batch: bool, tmp_path: Path) -> None:
    modes = EnvironmentSettings.in_batch_mode, EnvironmentSettings.in_streaming_mode
    env = TableEnvironment.create(modes[0 if batch else 1]())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(
        "CREATE TABLE t (k STRING, n INT, source STRING METADATA FROM 'topic' VIRTUAL, "
        "size_of INT METADATA FROM 'message_size' VIRTUAL) WITH ('connector' = 'pulsar', "
        f"'service-url' = 'pulsar://127.0.0.1:{server.port}', 'topics' = '{topic}', 'key.format' = 'raw', "
        "'key.fields' = 'k', 'value.format' = 'json', 'source.stop.at-message-id' = 'latest', "
        f"'pulsar.sink.deliveryGuarantee' = 'exactly-once', 'sink.staging-dir' = '{tmp_path}')"
    )
    env.execute_sql("INSERT INTO t VALUES ('a', 1), ('b', 2)").wait()
    with env.execute_sql("SELECT * FROM t").collect() as rows:
        found = sorted(tuple(row) for row in rows)
    assert found == [(key, number, f"persistent://public/default/{topic}", 15) for key, number in (("a", 1), ("b", 2))]


def test_a_topic_that_keeps_repeated_messages_is_refused(server: PulsarServer, topic: str, tmp_path: Path) -> None:
    server.ask("PUT", "namespaces/public/repeating")
    server.ask("POST", "namespaces/public/repeating/deduplication", b"false")
    env = environment(**{"execution.checkpointing.dir": str(tmp_path / "c"), "restart-strategy.type": "none"})
    made = sink(server, f"persistent://public/repeating/{topic}").set_staging_dir(str(tmp_path / "s"))
    made.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    env.from_collection(["a"], Types.STRING()).sink_to(made.build())
    with pytest.raises((JobError, SinkConnectionError), match="does not drop repeated messages.*set-deduplication"):
        env.execute()


def test_the_program_of_the_page(server: PulsarServer, client: Any, tmp_path: Path) -> None:
    page = (TESTS.parent / "docs" / "connectors" / "pulsar.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    program = program.replace("localhost:6650", f"127.0.0.1:{server.port}").replace("/var/lib/shout", str(tmp_path))
    program = program.replace(
        "    .set_deserialization", "    .set_unbounded_stop_cursor(StopCursor.latest())\n    .set_deserialization"
    )
    client.create_producer("orders").send(b"tea")
    exec(program, {"StopCursor": StopCursor})
    assert read(source(server, "shouted")) == ["TEA"]
