"""LogFactory and UpsertLogFactory: tables of the topics of a log, with the options of Kafka's tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scurry.connectors.log.directory import default_path
from scurry.connectors.log.sink import PARTITIONERS, FileLogSink
from scurry.connectors.log.topics import LogTopics, topic_settings
from scurry.connectors.messages import MessageScan
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained, one_of
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.kafka import options as keys
from scurry.sql.connectors.kafka.factory import KafkaFactory, UpsertKafkaFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer

PATH = TableOption(
    "path", str, None, "The directory of the log; without it `$SCURRY_LOG_DIR`, else `scurry-log` where the job starts."
)
PARTITIONER = TableOption(
    "sink.partitioner",
    one_of(PARTITIONERS),
    "default",
    "How rows get to partitions: `default` by key, `fixed` one partition for each writer, `round-robin` without keys.",
)
GUARANTEE = replace(
    keys.GUARANTEE,
    description="How often rows are written: `exactly-once`, `at-least-once`, or `none`, which is the same here.",
)
_SERVERS = replace(keys.SERVERS, required=False, without_effect=True, description="There is no broker: see `path`.")
_TRANSACTIONAL_ID_PREFIX = replace(
    keys.TRANSACTIONAL_ID_PREFIX, without_effect=True, description="The log knows a sink by its job."
)
_TOPICS = tuple(
    TableOption(key, str, None, f"{description}, for topics that the sink creates.")
    for key, description in (
        ("num.partitions", "Number of partitions (1)"),
        ("retention.ms", "Milliseconds after which segments are deleted (-1: never)"),
        ("retention.bytes", "Bytes of a partition above which its oldest segments are deleted (-1: no limit)"),
        ("segment.bytes", "Bytes after which a further segment begins (67108864)"),
    )
)
#: Kafka's options that have another meaning here.
_CHANGED: dict[str, TableOption[Any]] = {
    option.key: option for option in (_SERVERS, PARTITIONER, GUARANTEE, _TRANSACTIONAL_ID_PREFIX)
}


def _of_logs(options: Sequence[TableOption[Any]]) -> tuple[TableOption[Any], ...]:
    return (PATH, *(_CHANGED.get(option.key, option) for option in options), *_TOPICS)


class LogFactory(KafkaFactory):
    """Make sources and sinks of topics of a log."""

    identifier = "log"
    system_name = "log"
    system = LogTopics.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return _of_logs(keys.KAFKA_OPTIONS)

    def scan(self, options: Options) -> MessageScan:
        """Return the messages of topics.

        Raises:
            ValidationError: Options do not fit together.
        """
        group = options.values.get("properties.group.id")
        return LogTopics(
            _path(options),
            keys.subscription(options),
            self._start(options),
            keys.bounded_by(options),
            group,
            keys.reset_strategy(options).name.lower(),
            options.get(keys.DISCOVERY),
            0,
            options.values.get("properties.commit.offsets.on.checkpoint", "true").lower() == "true",
        )

    def check_partitioner(self, options: Options) -> None:
        """Check how rows get to partitions.

        Raises:
            ValidationError: The way does not go with keys.
        """
        keys.check_keys_of_turns(options, options.get(PARTITIONER))

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink of topics.

        Raises:
            ValidationError: A setting of topics is no number.
        """
        wanted = options.find(keys.SEMANTIC) if keys.SEMANTIC in options else options.get(GUARANTEE)
        partitioner = "default" if self.upsert else options.get(PARTITIONER)
        given = {option.key: options.values[option.key] for option in _TOPICS if option in options}
        try:
            settings = topic_settings(given)
        except ArgumentError as error:
            raise explained(ValidationError(str(error)), str(error)) from None
        return FileLogSink(_path(options), serializer, wanted == "exactly-once", partitioner, settings)


class UpsertLogFactory(UpsertKafkaFactory, LogFactory):
    """Make sources and sinks of topics whose messages replace each other by key."""

    identifier = "upsert-log"

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return _of_logs(keys.UPSERT_OPTIONS)


def _path(options: Options) -> str:
    path = options.find(PATH)
    return default_path() if path is None else os.path.abspath(path.removeprefix("file://"))
