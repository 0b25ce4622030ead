"""Queues of RabbitMQ as sources and sinks: RMQSource and RMQSink, for streams RMQStreamSource and RMQStreamSink."""

from __future__ import annotations

import os
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.messages import MessageSource, ValueDecoder
from scurry.connectors.rabbitmq.client import MOST_PREFETCHED, Broker, pika
from scurry.connectors.rabbitmq.messages import RMQMessage
from scurry.connectors.rabbitmq.numbered import STREAM_PORT, rstream
from scurry.connectors.rabbitmq.sink import RabbitSink
from scurry.connectors.rabbitmq.source import RabbitQueue
from scurry.datastream.functions import SinkFunction
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["RMQConnectionConfig", "RMQMessage", "RMQSink", "RMQSource", "RMQStreamSink", "RMQStreamSource"]


@dataclass(frozen=True)
class _Settings:
    """The settings of a builder, None where they are not set."""

    host: str | None = None
    port: int | None = None
    virtual_host: str | None = None
    user_name: str | None = None
    password: str | None = None
    uri: str | None = None
    network_recovery_interval: int | None = None
    automatic_recovery: bool | None = None
    topology_recovery: bool | None = None
    connection_timeout: int | None = None
    requested_channel_max: int | None = None
    requested_frame_max: int | None = None
    requested_heartbeat: int | None = None
    prefetch_count: int | None = None


class RMQConnectionConfig(ApiObject):
    """The address of a broker of RabbitMQ, and its user; made by `RMQConnectionConfig.Builder()`."""

    def __init__(self, settings: _Settings) -> None:
        """Hold the settings of a builder."""
        self._settings = settings
        given = settings
        fields = {
            "host": given.host,
            "port": given.port,
            "virtual_host": given.virtual_host,
            "username": given.user_name,
            "password": given.password,
            "uri": given.uri,
            "timeout_seconds": None if not given.connection_timeout else given.connection_timeout / 1000,
            "heartbeat_seconds": given.requested_heartbeat,
            "frame_max": given.requested_frame_max,
            "channel_max": given.requested_channel_max,
        }
        self._broker = Broker(**{name: value for name, value in fields.items() if value is not None})  # type: ignore[arg-type]

    def get_host(self) -> str | None:
        """Return the name of the broker's machine."""
        return self._settings.host

    def get_port(self) -> int | None:
        """Return the broker's port."""
        return self._settings.port

    def get_virtual_host(self) -> str | None:
        """Return the virtual host."""
        return self._settings.virtual_host

    def get_user_name(self) -> str | None:
        """Return the user."""
        return self._settings.user_name

    def get_password(self) -> str | None:
        """Return the user's password."""
        return self._settings.password

    def get_uri(self) -> str | None:
        """Return the URI."""
        return self._settings.uri

    def get_network_recovery_interval(self) -> int | None:
        """Return the milliseconds between attempts to connect again, without effect."""
        return self._settings.network_recovery_interval

    def is_automatic_recovery(self) -> bool | None:
        """Return whether the client should connect again, without effect: it always does, for a minute."""
        return self._settings.automatic_recovery

    def is_topology_recovery(self) -> bool | None:
        """Return whether the client should declare its queue again, without effect: it always does."""
        return self._settings.topology_recovery

    def get_connection_timeout(self) -> int | None:
        """Return the milliseconds in which the broker has to answer."""
        return self._settings.connection_timeout

    def get_requested_channel_max(self) -> int | None:
        """Return the largest number of channels."""
        return self._settings.requested_channel_max

    def get_requested_frame_max(self) -> int | None:
        """Return the largest frame, in bytes."""
        return self._settings.requested_frame_max

    def get_requested_heartbeat(self) -> int | None:
        """Return the seconds between heartbeats."""
        return self._settings.requested_heartbeat

    def get_prefetch_count(self) -> int | None:
        """Return how many messages may wait for their acknowledgement."""
        return self._settings.prefetch_count

    class Builder(ApiObject):
        """Builder of an RMQConnectionConfig."""

        def __init__(self) -> None:
            """Begin with nothing set."""
            self._given: dict[str, Any] = {}

        def _set(self, name: str, value: Any) -> RMQConnectionConfig.Builder:
            self._given[name] = value
            return self

        def set_port(self, port: int) -> RMQConnectionConfig.Builder:
            """Set the broker's port."""
            return self._set("port", port)

        def set_host(self, host: str) -> RMQConnectionConfig.Builder:
            """Set the name of the broker's machine."""
            return self._set("host", host)

        def set_virtual_host(self, vhost: str) -> RMQConnectionConfig.Builder:
            """Set the virtual host; the default one of brokers is `/`."""
            return self._set("virtual_host", vhost)

        def set_user_name(self, user_name: str) -> RMQConnectionConfig.Builder:
            """Set the user."""
            return self._set("user_name", user_name)

        def set_password(self, password: str) -> RMQConnectionConfig.Builder:
            """Set the user's password."""
            return self._set("password", password)

        def set_uri(self, uri: str) -> RMQConnectionConfig.Builder:
            """Set `amqp://user:password@host:port/virtual-host`, instead of these five."""
            return self._set("uri", uri)

        def set_topology_recovery_enabled(self, topology_recovery_enabled: bool) -> RMQConnectionConfig.Builder:
            """Have no effect: the queue is always declared again."""
            return self._set("topology_recovery", topology_recovery_enabled)

        def set_requested_heartbeat(self, requested_heartbeat: int) -> RMQConnectionConfig.Builder:
            """Set the seconds between heartbeats; 0 for none."""
            return self._set("requested_heartbeat", requested_heartbeat)

        def set_requested_frame_max(self, requested_frame_max: int) -> RMQConnectionConfig.Builder:
            """Set the largest frame, in bytes; 0 for that of the broker."""
            return self._set("requested_frame_max", requested_frame_max)

        def set_requested_channel_max(self, requested_channel_max: int) -> RMQConnectionConfig.Builder:
            """Set the largest number of channels; 0 for that of the broker."""
            return self._set("requested_channel_max", requested_channel_max)

        def set_network_recovery_interval(self, network_recovery_interval: int) -> RMQConnectionConfig.Builder:
            """Have no effect: a connection that breaks is tried again four times a second."""
            return self._set("network_recovery_interval", network_recovery_interval)

        def set_connection_timeout(self, connection_timeout: int) -> RMQConnectionConfig.Builder:
            """Set the milliseconds in which the broker has to answer; 4000 by default."""
            return self._set("connection_timeout", connection_timeout)

        def set_automatic_recovery(self, automatic_recovery: bool) -> RMQConnectionConfig.Builder:
            """Have no effect: a connection that breaks is always tried again, for a minute."""
            return self._set("automatic_recovery", automatic_recovery)

        def set_prefetch_count(self, prefetch_count: int) -> RMQConnectionConfig.Builder:
            """Set how many messages may wait for their acknowledgement, hence the most of a micro-batch.

            Raises:
                ArgumentError: AMQP has no such number.
            """
            if not 0 < prefetch_count <= MOST_PREFETCHED:
                raise ArgumentError(f"set_prefetch_count takes 1 to {MOST_PREFETCHED}, got {prefetch_count}")
            return self._set("prefetch_count", prefetch_count)

        def build(self) -> RMQConnectionConfig:
            """Return the settings.

            Raises:
                ArgumentError: There is neither a URI nor all of host, port, virtual host, user and password; or the
                    URI is none.
                ExtraMissingError: pika is not installed.
            """
            if "uri" not in self._given:
                missing = [name for name in _NEEDED if name not in self._given]
                if missing:
                    calls = ", ".join(f"set_{name}(...)" for name in missing)
                    raise ArgumentError(f"RMQConnectionConfig has no {missing[0]}: call {calls}, or set_uri(...)")
            config = RMQConnectionConfig(_Settings(**self._given))
            config._broker.parameters()
            return config


_NEEDED = ("host", "port", "virtual_host", "user_name", "password")


def _config(connection_config: Any, what: str) -> RMQConnectionConfig:
    pika()
    if not isinstance(connection_config, RMQConnectionConfig):
        raise ArgumentTypeError(f"{what} takes an RMQConnectionConfig, got {connection_config!r}")
    return connection_config


def _decoder(deserialization_schema: Any, what: str) -> ValueDecoder:
    if not isinstance(deserialization_schema, DeserializationSchema):
        raise ArgumentTypeError(f"{what} takes a DeserializationSchema, got {deserialization_schema!r}")
    return ValueDecoder(deserialization_schema)


class RMQSource(ApiObject, MessageSource):
    """Read a queue, whose messages are acknowledged when the results of their micro-batch are committed.

    With correlation ids exactly once: a message that the broker sends again is known by its id, which is in the
    checkpoint. Without, at least once. There is one reader, which keeps the order of the queue.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema,
    ) -> None:
        """Describe a queue, which is made, durable, if it is not there.

        Args:
            connection_config: Where the broker is.
            queue_name: The queue.
            use_correlation_id: Whether messages have unique correlation ids, and one that was read before is left out.
            deserialization_schema: Makes records of the bodies of messages.
        """
        config = _config(connection_config, "RMQSource")
        prefetch = config.get_prefetch_count()
        scan = RabbitQueue(config._broker, queue_name, use_correlation_id, prefetch)
        MessageSource.__init__(self, scan, _decoder(deserialization_schema, "RMQSource"))


class RMQStreamSource(ApiObject, MessageSource):
    """Read a stream of RabbitMQ, exactly once: offsets are in the checkpoint. scurry's own; Flink has none."""

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        stream_name: str,
        deserialization_schema: DeserializationSchema,
        start: str | int = "first",
    ) -> None:
        """Describe a stream, which is made if it is not there.

        Args:
            connection_config: Where the broker is.
            stream_name: The stream.
            deserialization_schema: Makes records of the bodies of messages.
            start: Start of reading: `"first"`, `"last"` (the last chunk that was written), `"next"`, an offset, or
                `"timestamp:N"` with milliseconds since 1970.

        Raises:
            ArgumentError: There is no such beginning.
        """
        config = _config(connection_config, "RMQStreamSource")
        known = start in ("first", "last", "next") or (isinstance(start, int) and start >= 0)
        if not known and not (isinstance(start, str) and start[:10] == "timestamp:" and start[10:].isdigit()):
            raise ArgumentError(
                f"start is 'first', 'last', 'next', an offset, or 'timestamp:N' in milliseconds, got {start!r}"
            )
        scan = RabbitQueue(config._broker, stream_name, False, config.get_prefetch_count(), start)
        MessageSource.__init__(self, scan, _decoder(deserialization_schema, "RMQStreamSource"))


class RMQSink(ApiObject, RabbitSink):
    """Publish records to a queue, at least once: the broker has confirmed a micro-batch before it is committed."""

    def __init__(
        self, connection_config: RMQConnectionConfig, queue_name: str, serialization_schema: SerializationSchema
    ) -> None:
        """Describe a queue, which is made, durable, if it is not there.

        Args:
            connection_config: Where the broker is.
            queue_name: The queue, or a stream.
            serialization_schema: Makes bodies of messages of records.
        """
        config = _config(connection_config, "RMQSink")
        RabbitSink.__init__(self, config._broker, _serializer(serialization_schema, queue_name, "RMQSink"), queue_name)


class RMQStreamSink(ApiObject, RabbitSink):
    """Publish records to a stream of RabbitMQ, exactly once. scurry's own; Flink has none.

    The driver stages the records of a micro-batch, then publishes them with numbers, by which the stream drops those
    that it has.
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        stream_name: str,
        serialization_schema: SerializationSchema,
        staging_dir: str,
        stream_port: int = STREAM_PORT,
    ) -> None:
        """Describe a stream, which is made if it is not there.

        Args:
            connection_config: Where the broker is; AMQP makes the stream.
            stream_name: The stream.
            serialization_schema: Makes bodies of messages of records.
            staging_dir: A directory that the driver finds again when the job resumes, such as one beside its
                checkpoints.
            stream_port: The port that the broker's plugin `rabbitmq_stream` opens.
        """
        config = _config(connection_config, "RMQStreamSink")
        rstream()
        serializer = _serializer(serialization_schema, stream_name, "RMQStreamSink")
        RabbitSink.__init__(
            self,
            config._broker,
            serializer,
            stream_name,
            stream=True,
            staging=os.path.abspath(staging_dir),
            stream_port=stream_port,
        )


def _serializer(schema: Any, queue: str, what: str) -> KafkaRecordSerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise ArgumentTypeError(f"{what} takes a SerializationSchema, got {schema!r}")
    return KafkaRecordSerializationSchema(schema, queue)


SinkFunction.register(RMQSink)
SinkFunction.register(RMQStreamSink)
