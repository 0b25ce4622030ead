"""Topics of Apache Pulsar as sources and sinks: PulsarSource, PulsarSink, their builders and cursors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from typing import Any, Self

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject, made_by
from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.common.time import Duration, to_millis
from scurry.connectors.kafka.serializer import KafkaRecordSerializationSchema
from scurry.connectors.messages import Decoder, MessageSource, RecordDecoder, RecordDeserializer, ValueDecoder
from scurry.connectors.pulsar.client import PulsarService, pulsar
from scurry.connectors.pulsar.cursors import Cursor, CursorKind
from scurry.connectors.pulsar.messages import PulsarMessage
from scurry.connectors.pulsar.sink import PulsarSink as _PulsarSink
from scurry.connectors.pulsar.source import PulsarTopics
from scurry.datastream.connectors.base import DeliveryGuarantee, checked_guarantee
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "MessageDelayer",
    "PulsarMessage",
    "PulsarSink",
    "PulsarSinkBuilder",
    "PulsarSource",
    "PulsarSourceBuilder",
    "RangeGenerator",
    "StartCursor",
    "StopCursor",
    "TopicRoutingMode",
]

_PREFIXES = tuple(f"pulsar.{part}." for part in ("client", "admin", "source", "consumer", "sink", "producer"))


@made_by("earliest", "latest", "from_message_id", "from_publish_time")
class StartCursor(Cursor):
    """The position where partitions are read from, unless the job resumes."""

    @staticmethod
    def default_start_cursor() -> StartCursor:
        """Return the first message that is kept."""
        return StartCursor.earliest()

    @staticmethod
    def earliest() -> StartCursor:
        """Return the first message that is kept."""
        return StartCursor(CursorKind.EARLIEST)

    @staticmethod
    def latest() -> StartCursor:
        """Return the end when the job starts."""
        return StartCursor(CursorKind.LATEST)

    @staticmethod
    def from_message_id(message_id: bytes, inclusive: bool = True) -> StartCursor:
        """Return a message, by the bytes that `pulsar.MessageId.serialize()` returns.

        Args:
            message_id: The serialized id.
            inclusive: Whether that message is read, too.
        """
        return StartCursor(CursorKind.MESSAGE_ID, _id(message_id), inclusive=inclusive)

    @staticmethod
    def from_publish_time(timestamp: int) -> StartCursor:
        """Return the first message that was published at a time or later.

        Args:
            timestamp: Milliseconds since 1970.
        """
        return StartCursor(CursorKind.PUBLISH_TIME, timestamp=timestamp)


@made_by("never", "latest", "at_event_time", "at_publish_time", "at_message_id")
class StopCursor(Cursor):
    """The position up to which partitions are read."""

    @staticmethod
    def default_stop_cursor() -> StopCursor:
        """Return no end."""
        return StopCursor.never()

    @staticmethod
    def never() -> StopCursor:
        """Return no end."""
        return StopCursor(CursorKind.NEVER)

    @staticmethod
    def latest() -> StopCursor:
        """Return the last message when the job starts."""
        return StopCursor(CursorKind.LATEST)

    @staticmethod
    def at_event_time(timestamp: int) -> StopCursor:
        """Return the first message with an event time or a later one, which is not read; the driver looks for it.

        Args:
            timestamp: Milliseconds since 1970.
        """
        return StopCursor(CursorKind.EVENT_TIME, timestamp=timestamp, inclusive=False)

    @staticmethod
    def after_event_time(timestamp: int) -> StopCursor:
        """Return the first message with a later event time, which is not read; the driver looks for it."""
        return StopCursor(CursorKind.EVENT_TIME, timestamp=timestamp)

    @staticmethod
    def at_publish_time(timestamp: int) -> StopCursor:
        """Return the first message that was published at a time or later, which is not read."""
        return StopCursor(CursorKind.PUBLISH_TIME, timestamp=timestamp, inclusive=False)

    @staticmethod
    def after_publish_time(timestamp: int) -> StopCursor:
        """Return the first message that was published later, which is not read."""
        return StopCursor(CursorKind.PUBLISH_TIME, timestamp=timestamp)

    @staticmethod
    def at_message_id(message_id: bytes) -> StopCursor:
        """Return a message, which is not read, by the bytes that `pulsar.MessageId.serialize()` returns."""
        return StopCursor(CursorKind.MESSAGE_ID, _id(message_id), inclusive=False)

    @staticmethod
    def after_message_id(message_id: bytes) -> StopCursor:
        """Return a message, the last one that is read."""
        return StopCursor(CursorKind.MESSAGE_ID, _id(message_id))


def _id(message_id: bytes) -> bytes:
    if not isinstance(message_id, bytes):
        raise ArgumentTypeError(f"a message id is the bytes of pulsar.MessageId.serialize(), got {message_id!r}")
    try:
        pulsar().MessageId.deserialize(message_id)
    except ValueError as error:
        raise ArgumentError(f"{message_id!r} is no serialized message id: {error}") from None
    return message_id


class RangeGenerator(ApiObject):
    """The keys that a source reads; here all."""

    @staticmethod
    def full() -> RangeGenerator:
        """Return all keys."""
        return RangeGenerator()

    @staticmethod
    def fixed_key(
        support_null_key: bool = False,
        keys: str | list[str] | None = None,
        key_bytes: bytes | None = None,
        ordering_key_bytes: bytes | None = None,
    ) -> RangeGenerator:
        """Raise an error.

        Raises:
            UnsupportedError: Always: partitions are read whole.
        """
        raise UnsupportedError("a source reads all keys of its partitions: filter the stream by key instead")


@dataclass
class _Connection:
    """The settings that sources and sinks share."""

    service_url: str | None = None
    auth: tuple[str, str] | None = None


class _Builder(ApiObject):
    """The common part of the builders of sources and sinks."""

    def __init__(self) -> None:
        self._connection = _Connection()
        self._topics: tuple[str, ...] = ()
        self._config: dict[str, str] = {}

    def set_admin_url(self, admin_url: str) -> Self:
        """Accept the address of the administration, which is not needed."""
        return self

    def set_service_url(self, service_url: str) -> Self:
        """Set the address of the brokers: `pulsar://host:port`."""
        self._connection.service_url = service_url
        return self

    def set_topics(self, topics: str | list[str]) -> Self:
        """Set the topics: `persistent://tenant/namespace/name`, or a name in `public/default`."""
        wanted = [topics] if isinstance(topics, str) else topics
        if not isinstance(wanted, list) or not wanted or not all(isinstance(each, str) and each for each in wanted):
            raise ArgumentTypeError(f"set_topics takes the name of a topic or a list of names, got {topics!r}")
        self._topics = tuple(wanted)
        return self

    def set_authentication(self, auth_plugin_class_name: str, auth_params_string: str | Mapping[str, str]) -> Self:
        """Set the authentication: AuthenticationToken, AuthenticationBasic, AuthenticationTls, AuthenticationOAuth2.

        Args:
            auth_plugin_class_name: Java's class; its package does not matter.
            auth_params_string: Its parameters.
        """
        given = auth_params_string
        text = given if isinstance(given, str) else ",".join(f"{key}:{value}" for key, value in given.items())
        self._connection.auth = auth_plugin_class_name, text
        return self

    def set_config(self, key: Any, value: Any) -> Self:
        """Set an option of Flink's connector, `pulsar.*`; docs/connectors/pulsar.md lists those with an effect."""
        name = key if isinstance(key, str) else key.key()
        if not name.startswith(_PREFIXES):
            raise ArgumentError(f"{name!r} is no option of Pulsar: they begin with {', '.join(_PREFIXES)}")
        self._config[name] = str(value)
        return self

    def set_properties(self, config: Mapping[str, Any]) -> Self:
        """Set several options."""
        for key, value in config.items():
            self.set_config(key, value)
        return self

    def _service(self) -> PulsarService:
        found, config = self._connection, self._config
        url = found.service_url or config.get("pulsar.client.serviceUrl")
        if not url:
            raise ArgumentError("no service URL: call set_service_url('pulsar://host:6650')")
        plugin, params = found.auth or (
            config.get("pulsar.client.authPluginClassName"),
            config.get("pulsar.client.authParams", ""),
        )
        service = PulsarService(url, plugin, params, tuple(sorted(config.items())))
        service.check()
        return service

    def _whole(self, key: str, default: int) -> int:
        text = self._config.get(key, str(default))
        if not text.removeprefix("-").isdecimal():
            raise ArgumentError(f"{key} must be a whole number, got {text!r}")
        return int(text)


@made_by("builder")
class PulsarSource(ApiObject, MessageSource):
    """Read topics exactly once: the message ids of the records read are part of the checkpoint."""

    @staticmethod
    def builder() -> PulsarSourceBuilder:
        """Return a builder; service URL, topics, subscription name and a deserialization schema must be set."""
        return PulsarSourceBuilder()


class PulsarSourceBuilder(_Builder):
    """Builder of a PulsarSource."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads from the earliest messages."""
        super().__init__()
        self._subscription: str | None = None
        self._start: Cursor = StartCursor.earliest()
        self._stop: Cursor | None = None
        self._bounded = False
        self._decoder: Decoder | None = None
        self._drop_malformed = False

    def set_subscription_name(self, subscription_name: str) -> Self:
        """Set the subscription, whose cursor follows the commits: brokers keep the messages behind it."""
        self._subscription = subscription_name
        return self

    def set_topic_pattern(self, topic_pattern: str) -> Self:
        """Raise an error.

        Raises:
            UnsupportedError: Always: Pulsar's client for Python lists no topics.
        """
        raise UnsupportedError("Pulsar's client for Python lists no topics: name them by set_topics")

    def set_consumer_name(self, consumer_name: str) -> Self:
        """Accept the name of consumers, which has no effect: readers read."""
        return self

    def set_range_generator(self, range_generator: RangeGenerator) -> Self:
        """Accept that all keys are read."""
        if not isinstance(range_generator, RangeGenerator):
            raise ArgumentTypeError(f"set_range_generator takes a RangeGenerator, got {range_generator!r}")
        return self

    def set_start_cursor(self, start_cursor: StartCursor) -> Self:
        """Set where reading starts, unless the job resumes from a checkpoint or savepoint."""
        if not isinstance(start_cursor, StartCursor):
            raise ArgumentTypeError(f"set_start_cursor takes a StartCursor, got {start_cursor!r}")
        self._start = start_cursor
        return self

    def set_unbounded_stop_cursor(self, stop_cursor: StopCursor) -> Self:
        """Set where reading stops; the job counts as unbounded and runs in STREAMING."""
        return self._end(stop_cursor, False)

    def set_bounded_stop_cursor(self, stop_cursor: StopCursor) -> Self:
        """Set where reading stops; the source is bounded, and can be read in BATCH."""
        return self._end(stop_cursor, True)

    def _end(self, stop: StopCursor, bounded: bool) -> Self:
        if not isinstance(stop, StopCursor):
            raise ArgumentTypeError(f"the end is a StopCursor, got {stop!r}")
        ends = stop.kind is not CursorKind.NEVER
        self._stop, self._bounded = (stop if ends else None), bounded and ends
        return self

    def set_deserialization_schema(self, deserialization_schema: DeserializationSchema) -> Self:
        """Set the schema that reads values; messages without a value are skipped."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise ArgumentTypeError(
                f"set_deserialization_schema takes a DeserializationSchema, got {deserialization_schema!r}"
            )
        self._decoder = ValueDecoder(deserialization_schema)
        return self

    def set_deserializer(self, deserializer: RecordDeserializer) -> Self:
        """Set an object whose `deserialize` makes records of complete messages (`PulsarMessage`). scurry's own."""
        self._decoder = RecordDecoder(deserializer)
        return self

    def drop_malformed_records(self) -> Self:
        """Skip messages that the schema fails on, instead of failing; the job's summary counts them. scurry's own."""
        self._drop_malformed = True
        return self

    def set_config_with_dict(self, config: Mapping[str, Any]) -> Self:
        """Set several options; `set_properties` is the newer name."""
        return self.set_properties(config)

    def build(self) -> PulsarSource:
        """Return the source.

        Raises:
            ArgumentError: A required setting is missing, or has a wrong value.
            ExtraMissingError: pulsar-client is not installed.
        """
        if not self._topics:
            raise ArgumentError("nothing to read: call set_topics")
        if self._decoder is None:
            raise ArgumentError("no schema: call set_deserialization_schema, e.g. with SimpleStringSchema()")
        subscription = self._subscription or self._config.get("pulsar.consumer.subscriptionName")
        if not subscription:
            raise ArgumentError("no subscription: call set_subscription_name")
        scan = PulsarTopics(
            self._service(),
            self._topics,
            subscription,
            self._start,
            self._stop,
            self._whole("pulsar.source.partitionDiscoveryIntervalMs", 300_000),
        )
        return PulsarSource(scan, self._decoder, self._bounded, self._drop_malformed)


class TopicRoutingMode(Enum):
    """Ways of records to one of several topics: in turns, by the hash of its key, or by a class of Java."""

    ROUND_ROBIN = 0
    MESSAGE_KEY_HASH = 1
    CUSTOM = 2


@made_by("never", "fixed")
@dataclass(frozen=True)
class MessageDelayer:
    """The time that brokers keep messages from shared subscriptions; made by the static methods.

    Attributes:
        milliseconds: The delay.
    """

    milliseconds: int = 0

    @staticmethod
    def never() -> MessageDelayer:
        """Return no delay."""
        return MessageDelayer()

    @staticmethod
    def fixed(duration: Duration) -> MessageDelayer:
        """Return a delay of all messages."""
        return MessageDelayer(to_millis(duration))


@made_by("builder")
class PulsarSink(ApiObject, _PulsarSink):
    """Write records to topics, with the delivery guarantee that is set."""

    @staticmethod
    def builder() -> PulsarSinkBuilder:
        """Return a builder; service URL, topics and a serialization schema must be set."""
        return PulsarSinkBuilder()


class PulsarSinkBuilder(_Builder):
    """Builder of a PulsarSink."""

    def __init__(self) -> None:
        """Begin with the delivery guarantee NONE, which is that of AT_LEAST_ONCE here."""
        super().__init__()
        self._guarantee = DeliveryGuarantee.NONE
        self._name = "scurry"
        self._routing = TopicRoutingMode.ROUND_ROBIN
        self._schema: SerializationSchema | None = None
        self._key_schema: SerializationSchema | None = None
        self._delay = 0
        self._staging: str | None = None

    def set_producer_name(self, producer_name: str) -> Self:
        """Set the beginning of the names of producers that write exactly once."""
        self._name = producer_name
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee; EXACTLY_ONCE needs `set_staging_dir`."""
        self._guarantee = checked_guarantee(delivery_guarantee)
        return self

    def set_staging_dir(self, path: str) -> Self:
        """Set the directory where EXACTLY_ONCE stages records before they are sent. scurry's own.

        Args:
            path: A directory that the driver finds again when the job resumes, such as one beside its checkpoints.
        """
        self._staging = os.path.abspath(path)
        return self

    def set_topic_routing_mode(self, topic_routing_mode: TopicRoutingMode) -> Self:
        """Set how records get to several topics."""
        if topic_routing_mode is TopicRoutingMode.CUSTOM:
            raise UnsupportedError("TopicRoutingMode.CUSTOM is a class of Java: use ROUND_ROBIN or MESSAGE_KEY_HASH")
        self._routing = topic_routing_mode
        return self

    def set_topic_router(self, topic_router_class_name: str) -> Self:
        """Raise an error.

        Raises:
            UnsupportedError: Always: a router is a class of Java.
        """
        raise UnsupportedError("a topic router is a class of Java: use set_topics and set_topic_routing_mode")

    def delay_sending_message(self, message_delayer: MessageDelayer) -> Self:
        """Set how long brokers keep messages from shared subscriptions."""
        self._delay = message_delayer.milliseconds
        return self

    def set_serialization_schema(self, serialization_schema: SerializationSchema) -> Self:
        """Set the schema that makes values."""
        self._schema = _schema(serialization_schema, "set_serialization_schema")
        return self

    def set_key_serialization_schema(self, key_serialization_schema: SerializationSchema) -> Self:
        """Set the schema that makes keys, which are texts, of whole records. scurry's own."""
        self._key_schema = _schema(key_serialization_schema, "set_key_serialization_schema")
        return self

    def build(self) -> PulsarSink:
        """Return the sink.

        Raises:
            ArgumentError: A required setting is missing, or has a wrong value.
            ExtraMissingError: pulsar-client is not installed.
        """
        if not self._topics:
            raise ArgumentError("nowhere to write: call set_topics")
        if self._schema is None:
            raise ArgumentError("no schema: call set_serialization_schema, e.g. with SimpleStringSchema()")
        exactly_once = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        if exactly_once and self._staging is None:
            raise ArgumentError(
                "EXACTLY_ONCE needs a staging directory, because Pulsar's client for Python has no transactions: call "
                "set_staging_dir with a directory beside the checkpoints"
            )
        return PulsarSink(
            self._service(),
            KafkaRecordSerializationSchema(self._schema, self._topics[0], None, self._key_schema),
            self._topics,
            self._staging if exactly_once else None,
            self._name,
            self._delay,
            self._routing is TopicRoutingMode.MESSAGE_KEY_HASH,
        )


def _schema(schema: Any, method: str) -> SerializationSchema:
    if not isinstance(schema, SerializationSchema):
        raise ArgumentTypeError(f"{method} takes a SerializationSchema, got {schema!r}")
    return schema
