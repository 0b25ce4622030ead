"""Topics of MQTT as sources and sinks; Flink has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from scurry.common._api import ApiObject, made_by
from scurry.connectors.messages import MessageSource
from scurry.connectors.mqtt.client import MqttBroker, mqtt_module
from scurry.connectors.mqtt.sink import MqttSink as _MqttSink
from scurry.connectors.mqtt.source import MqttMessage, MqttTopics
from scurry.datastream.connectors._queues import QueueSinkBuilder, QueueSourceBuilder
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = ["MqttMessage", "MqttSink", "MqttSinkBuilder", "MqttSource", "MqttSourceBuilder"]


class _WithBroker(ApiObject):
    _broker: MqttBroker | None = None
    _qos: int = 1

    def set_broker(
        self, host: str, port: int = 1883, username: str | None = None, password: str | None = None, tls: bool = False
    ) -> Self:
        """Set the broker's address, how to log in, and whether the connection is encrypted."""
        self._broker = MqttBroker(host, port, username, password, tls)
        return self

    def set_qos(self, qos: int) -> Self:
        """Set the quality of service; 1 by default, 0 acknowledges nothing.

        Raises:
            ArgumentError: It is not 0, 1 or 2.
        """
        if qos not in (0, 1, 2):
            raise ArgumentError(f"set_qos takes 0, 1 or 2, got {qos}")
        self._qos = qos
        return self

    def _built_broker(self) -> MqttBroker:
        mqtt_module()
        if self._broker is None:
            raise ArgumentError("no broker: call set_broker('host', 1883)")
        return self._broker


@made_by("builder")
class MqttSource(ApiObject, MessageSource):
    """Read topics at least once: the broker keeps messages until the results of their micro-batch are committed."""

    @staticmethod
    def builder() -> MqttSourceBuilder:
        """Return a builder; the broker, topics, the client id and a deserializer must be set."""
        return MqttSourceBuilder()


class MqttSourceBuilder(_WithBroker, QueueSourceBuilder):
    """Builder of an MqttSource."""

    def __init__(self) -> None:
        """Begin with nothing set."""
        super().__init__()
        self._topics: tuple[str, ...] = ()
        self._client_id: str | None = None

    def set_topics(self, *topics: str) -> MqttSourceBuilder:
        """Set the topics, with the wildcards of MQTT."""
        if not topics or not all(isinstance(topic, str) and topic for topic in topics):
            raise ArgumentTypeError(f"set_topics takes names of topics, got {topics!r}")
        self._topics = topics
        return self

    def set_client_id(self, client_id: str) -> MqttSourceBuilder:
        """Set the name of the session that the broker keeps for the job; no other client may use it."""
        self._client_id = client_id
        return self

    def build(self) -> MqttSource:
        """Return the source.

        Raises:
            ArgumentError: The broker, topics, the client id or the deserializer are missing.
            ExtraMissingError: The client is not installed.
        """
        decoder, broker = self._built_decoder(), self._built_broker()
        if not self._topics:
            raise ArgumentError("nothing to read: call set_topics")
        if not self._client_id:
            raise ArgumentError("no client id: call set_client_id with a name that only this job has")
        return MqttSource(
            MqttTopics(broker, self._topics, self._client_id, self._qos), decoder, False, self._drop_malformed
        )


@made_by("builder")
class MqttSink(ApiObject, _MqttSink):
    """Publish records to topics, at least once."""

    @staticmethod
    def builder() -> MqttSinkBuilder:
        """Return a builder; the broker, a topic and a serializer must be set."""
        return MqttSinkBuilder()


class MqttSinkBuilder(_WithBroker, QueueSinkBuilder):
    """Builder of an MqttSink."""

    target = "topic"

    def __init__(self) -> None:
        """Begin with nothing set."""
        super().__init__()
        self._retain = False

    def set_topic(self, topic: str) -> MqttSinkBuilder:
        """Set the topic."""
        return self._to(topic, None)

    def set_topic_selector(self, selector: Callable[[Any], str]) -> MqttSinkBuilder:
        """Publish each record to the topic that a function returns for it."""
        return self._to(None, selector)

    def set_retain(self, retain: bool) -> MqttSinkBuilder:
        """Set whether the broker keeps the last message of each topic for new subscriptions."""
        self._retain = retain
        return self

    def build(self) -> MqttSink:
        """Return the sink.

        Raises:
            ArgumentError: The broker, the topic or the serializer are missing.
            UnsupportedError: Exactly once is wanted.
            ExtraMissingError: The client is not installed.
        """
        if self._exactly_once:
            raise UnsupportedError(
                "an MqttSink writes at least once, because brokers have no transactions: use AT_LEAST_ONCE"
            )
        return MqttSink(self._built_broker(), self._built_serializer(), self._qos, self._retain)
