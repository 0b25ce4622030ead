"""Settings of RabbitMQ: what a builder or a table is given, and what is refused without a broker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.rabbitmq.client import Broker
from scurry.connectors.rabbitmq.messages import RMQMessage
from scurry.connectors.rabbitmq.source import RabbitQueue
from scurry.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource, RMQStreamSource
from scurry.errors import ArgumentError, ArgumentTypeError, ExtraMissingError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment


def builder() -> RMQConnectionConfig.Builder:
    made = RMQConnectionConfig.Builder().set_host("h").set_port(1).set_virtual_host("/v")
    return made.set_user_name("ann").set_password("pzy7w")


def test_a_configuration_says_what_its_builder_was_given() -> None:
    config = (
        builder()
        .set_network_recovery_interval(2)
        .set_automatic_recovery(True)
        .set_topology_recovery_enabled(False)
        .set_connection_timeout(3000)
        .set_requested_channel_max(4)
        .set_requested_frame_max(5000)
        .set_requested_heartbeat(6)
        .set_prefetch_count(7)
        .build()
    )
    assert (config.get_host(), config.get_port(), config.get_virtual_host()) == ("h", 1, "/v")
    assert (config.get_user_name(), config.get_password(), config.get_uri()) == ("ann", "pzy7w", None)
    assert (config.get_network_recovery_interval(), config.get_connection_timeout()) == (2, 3000)
    assert (config.is_automatic_recovery(), config.is_topology_recovery()) == (True, False)
    assert (config.get_requested_channel_max(), config.get_requested_frame_max()) == (4, 5000)
    assert (config.get_requested_heartbeat(), config.get_prefetch_count()) == (6, 7)
    parameters = config._broker.parameters()
    assert (parameters.host, parameters.port, parameters.virtual_host) == ("h", 1, "/v")
    assert (parameters.heartbeat, parameters.frame_max, parameters.channel_max) == (6, 5000, 4)
    assert parameters.socket_timeout == 3
    assert "pzy7w" not in repr(config._broker)


def test_a_uri_stands_for_all_of_them_and_is_not_shown() -> None:
    config = RMQConnectionConfig.Builder().set_uri("amqp://ann:pzy7w@h:1/v").build()
    assert config.get_uri() == "amqp://ann:pzy7w@h:1/v"
    assert config._broker.parameters().virtual_host == "v"
    assert config._broker.place == "h:1/v"
    assert "pzy7w" not in repr(config._broker)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ArgumentError, match=r"no virtual_host: call set_virtual_host\(...\), set_password\(...\)"):
        RMQConnectionConfig.Builder().set_host("h").set_port(1).set_user_name("ann").build()


@pytest.mark.parametrize("uri", ["http://h", "amqp://ann:pzy7w@h:port"])
def test_a_wrong_uri_is_refused_without_showing_it(uri: str) -> None:
    with pytest.raises(ArgumentError, match="uri: ") as error:
        RMQConnectionConfig.Builder().set_uri(uri).build()
    assert "zy7w" not in str(error.value)


def test_wrong_arguments_are_refused() -> None:
    config = builder().build()
    with pytest.raises(ArgumentError, match="takes 1 to 65535, got 70000"):
        builder().set_prefetch_count(70_000)
    with pytest.raises(ArgumentTypeError, match="RMQSource takes an RMQConnectionConfig"):
        RMQSource("h", "q", False, SimpleStringSchema())  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="RMQSource takes a DeserializationSchema"):
        RMQSource(config, "q", False, str)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="RMQSink takes a SerializationSchema"):
        RMQSink(config, "q", str)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"start is 'first', .* got 'now'"):
        RMQStreamSource(config, "q", SimpleStringSchema(), "now")


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pika", None)
    with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[rabbitmq\]'"):
        Broker().parameters()


class Connection:
    """A connection that notes what is acknowledged."""

    number = 0

    def __init__(self) -> None:
        self.acknowledged: list[int] = []

    def acknowledge(self, tag: int, then: Callable[[], None]) -> None:
        self.acknowledged.append(tag)
        then()


def message(correlation_id: str) -> RMQMessage:
    return RMQMessage("q", b"m", "", "q", 0, False, None, correlation_id, None, {})


def test_messages_that_come_again_are_acknowledged_without_a_commit() -> None:
    receiver: Any = RabbitQueue(Broker(), "q", correlation_ids=True, prefetch=2).create_receiver()
    receiver._consumer = connection = Connection()
    tags = count(1)

    def taken(*ids: str) -> list[str | None]:
        deliveries = [(0, next(tags), message(each)) for each in ids]
        return [each.correlation_id for each in receiver.accepted(deliveries)]

    receiver.restore({"ids": ["a", "b"]})
    assert taken("a", "b") == []
    assert connection.acknowledged == [2]  # the broker sends no more before
    assert taken("c", "a") == ["c"]
    assert taken("b") == []
    assert connection.acknowledged == [2]  # not before what was assigned is committed
    receiver.acknowledge()
    assert connection.acknowledged == [2, 5]


TABLE = "'connector' = 'rabbitmq', 'queue' = 'q', 'format' = 'json'"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (TABLE.replace("'queue' = 'q', ", ""), "queue"),
        (f"{TABLE}, 'scan.startup.mode' = 'latest-offset'", "set 'queue.type' = 'stream'"),
        (f"{TABLE}, 'queue.type' = 'stream', 'scan.correlation-id.enabled' = 'true'", "by its offsets; leave it out"),
        (f"{TABLE}, 'queue.type' = 'stream', 'scan.startup.mode' = 'timestamp'", "'scan.startup.timestamp-millis' is"),
        (f"{TABLE}, 'uri' = 'amqp://h/', 'host' = 'h'", "'uri' and 'host' are set, which say the same"),
        (f"{TABLE}, 'uri' = 'h'", "uri: not a URI of AMQP"),
        (f"{TABLE}, 'scan.prefetch-count' = '0'", "'scan.prefetch-count' is 1 to 65535, not 0"),
    ],
)
def test_wrong_options_of_a_table_are_refused(options: str, message: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(f"CREATE TABLE t (a INT) WITH ({options})")
    with pytest.raises(ValidationError) as error:
        env.execute_sql("SELECT * FROM t")
    assert message in str(error.value)


def test_a_queue_has_no_end_for_batch() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(f"CREATE TABLE t (a INT) WITH ({TABLE})")
    with pytest.raises((UnsupportedError, ValidationError), match="STREAMING|unbounded"):
        env.execute_sql("SELECT * FROM t")
