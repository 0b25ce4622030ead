"""KafkaFactory and UpsertKafkaFactory: tables of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.kafka.partitions import KafkaOffsetsInitializer
from scurry.connectors.kafka.sink import KafkaSink
from scurry.connectors.kafka.topics import KafkaTopics
from scurry.connectors.messages import MessageScan
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.kafka import options as keys
from scurry.sql.connectors.messages.factory import MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.reducing import ReducingSink


class KafkaFactory(MessageFactory):
    """Make sources and sinks of topics."""

    identifier = "kafka"
    system_name = "Kafka"
    system = KafkaTopics.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return keys.KAFKA_OPTIONS

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the formats, and those of clients' properties that are set."""
        return [*super().other_keys(context), *(key for key in context.options if key.startswith("properties."))]

    def scan(self, options: Options) -> MessageScan:
        """Return the messages of topics."""
        return KafkaTopics(
            keys.client_properties(options),
            keys.subscription(options),
            self._start(options),
            keys.bounded_by(options),
            options.values.get("properties.group.id"),
        )

    def _start(self, options: Options) -> KafkaOffsetsInitializer:
        return keys.started_at(options)

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the topics that are written."""
        topics = keys.subscription(options).topics
        if not self.upsert:
            self.check_partitioner(options)
        return topics

    def check_partitioner(self, options: Options) -> None:
        """Check how rows get to partitions.

        Raises:
            ValidationError: The way does not go with keys.
            UnsupportedError: There is no such way here.
        """
        keys.partitioned(options)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink of topics."""
        prefix = options.find(keys.TRANSACTIONAL_ID_PREFIX) or "kafka-sink"
        return KafkaSink(keys.client_properties(options), serializer, keys.exactly_once(options), prefix)


class UpsertKafkaFactory(KafkaFactory):
    """Make sources and sinks of topics whose messages replace each other by key."""

    identifier = "upsert-kafka"
    upsert = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return keys.UPSERT_OPTIONS

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them."""
        options = super().check(context)
        self._key_of(context)
        if (options.get(keys.BUFFER_ROWS) > 0) != (options.get(keys.BUFFER_INTERVAL) > 0):
            raise ValidationError(
                "'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' must be set to be greater than zero "
                "together to enable sink buffer flushing."
            )
        return options

    def _start(self, options: Options) -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer.earliest()

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink of topics, which may hold rows back to write only the last one of each key."""
        sink, rows = super().sink(options, serializer, context), options.get(keys.BUFFER_ROWS)
        if rows <= 0:
            return sink
        places = tuple(map(serializer.names.index, self._key_of(context)))
        return ReducingSink(sink, places, rows, options.get(keys.BUFFER_INTERVAL))

    def key_names(self, context: TableContext, options: Options) -> list[str]:
        """Return the columns of the primary key."""
        names = self._key_of(context)
        self.check(context)  # a missing format of keys
        return names

    def _key_of(self, context: TableContext) -> list[str]:
        key = context.schema.get_primary_key()
        if key is None:
            raise ValidationError(
                f"'{self.identifier}' tables require to define a PRIMARY KEY constraint. The PRIMARY KEY specifies "
                "which columns should be read from or write to the Kafka message key. The PRIMARY KEY also defines "
                f"records in the '{self.identifier}' table should update or delete on which keys."
            ).with_hint("add it to CREATE TABLE: PRIMARY KEY (id) NOT ENFORCED")
        return list(key.columns)
