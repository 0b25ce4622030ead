"""The options of the connectors `kafka` and `upsert-kafka`."""

from __future__ import annotations

import re

from scurry.connectors.kafka.client import check
from scurry.connectors.kafka.partitions import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaTopicPartition,
    Subscription,
)
from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import ArgumentError, UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained, one_of, whole_number
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.messages.factory import (
    FIELDS_INCLUDE,
    FORMAT_OPTIONS,
    KEY_FIELDS,
    KEY_FORMAT,
    KEY_PREFIX,
    VALUE_FORMAT,
)
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM

_START_MODES = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
_BOUNDED_MODES = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")

TOPIC = TableOption("topic", str, None, "The topic, or several with `;` between them.")
TOPIC_PATTERN = TableOption("topic-pattern", str, None, "Regular expression of the names of topics to read.")
SERVERS = TableOption("properties.bootstrap.servers", str, None, "The brokers, with commas.", required=True)
GROUP = TableOption("properties.group.id", str, None, "The consumer group.")
START_MODE = TableOption(
    "scan.startup.mode",
    one_of(_START_MODES),
    "group-offsets",
    "Where reading begins: " + ", ".join(f"`{mode}`" for mode in _START_MODES) + ".",
)
START_OFFSETS = TableOption(
    "scan.startup.specific-offsets", str, None, "`partition:0,offset:42;partition:1,offset:300`."
)
START_MILLIS = TableOption("scan.startup.timestamp-millis", whole_number, None, "Milliseconds since 1970.")
BOUNDED_MODE = TableOption(
    "scan.bounded.mode",
    one_of(_BOUNDED_MODES),
    "unbounded",
    "Where reading ends: " + ", ".join(f"`{mode}`" for mode in _BOUNDED_MODES) + ".",
)
BOUNDED_OFFSETS = TableOption("scan.bounded.specific-offsets", str, None, "As `scan.startup.specific-offsets`.")
BOUNDED_MILLIS = TableOption("scan.bounded.timestamp-millis", whole_number, None, "Milliseconds since 1970.")
DISCOVERY = TableOption(
    "scan.topic-partition-discovery.interval", duration, 300_000, "Time between looks for new partitions; 0 for never."
)
PARTITIONER = TableOption(
    "sink.partitioner", str, "default", "How rows get to partitions: `default` by key, `round-robin` without keys."
)
_GUARANTEE = one_of(("exactly-once", "at-least-once", "none"))
GUARANTEE = TableOption(
    "sink.delivery-guarantee",
    _GUARANTEE,
    "at-least-once",
    "How often rows are written: `exactly-once` (in transactions), `at-least-once`, or `none`, which is the same here.",
)
SEMANTIC = TableOption("sink.semantic", _GUARANTEE, None, "Former name of `sink.delivery-guarantee`.")
TRANSACTIONAL_ID_PREFIX = TableOption(
    "sink.transactional-id-prefix", str, None, "What the names of transactions begin with; required for `exactly-once`."
)
NAMING_STRATEGY = TableOption(
    "sink.transaction-naming-strategy",
    one_of(("INCREMENTING", "POOLING")),
    "INCREMENTING",
    "A sink has one transaction at a time, under one name.",
    without_effect=True,
)
BUFFER_ROWS = TableOption(
    "sink.buffer-flush.max-rows",
    whole_number,
    0,
    "Number of keys that wait, of each of which only the last row is written; 0 for none.",
)
BUFFER_INTERVAL = TableOption(
    "sink.buffer-flush.interval", duration, 0, "Longest time that rows wait, at most until their commit."
)
_BOUNDS = (BOUNDED_MODE, BOUNDED_OFFSETS, BOUNDED_MILLIS)
_SINK = (SINK_PARALLELISM, GUARANTEE, TRANSACTIONAL_ID_PREFIX, NAMING_STRATEGY)

KAFKA_OPTIONS = (
    SERVERS,
    GROUP,
    TOPIC,
    TOPIC_PATTERN,
    *FORMAT_OPTIONS,
    START_MODE,
    START_OFFSETS,
    START_MILLIS,
    *_BOUNDS,
    DISCOVERY,
    SCAN_PARALLELISM,
    PARTITIONER,
    *_SINK,
    SEMANTIC,
)


def _required(option: TableOption[str]) -> TableOption[str]:
    return TableOption(option.key, option.parse, option.default, option.description, required=True)


UPSERT_OPTIONS = (
    SERVERS,
    GROUP,
    _required(TOPIC),
    _required(KEY_FORMAT),
    _required(VALUE_FORMAT),
    KEY_PREFIX,
    FIELDS_INCLUDE,
    *_BOUNDS,
    SCAN_PARALLELISM,
    *_SINK,
    BUFFER_ROWS,
    BUFFER_INTERVAL,
)


def client_properties(options: Options) -> ClientProperties:
    """Return the properties of the clients, `properties.*`.

    Raises:
        ValidationError: The clients do not take one of them.
    """
    begin = "properties."
    given = {key.removeprefix(begin): value for key, value in options.values.items() if key.startswith(begin)}
    given.setdefault("partition.discovery.interval.ms", str(options.get(DISCOVERY)))
    properties = ClientProperties(given)
    try:
        check(properties)
    except ArgumentError as error:
        raise explained(error, str(error)) from None
    return properties


def exactly_once(options: Options) -> bool:
    """Return whether rows are written exactly once.

    Raises:
        ValidationError: Transactions have no name.
    """
    wanted = options.find(SEMANTIC) if SEMANTIC in options else options.get(GUARANTEE)
    if wanted == "exactly-once" and TRANSACTIONAL_ID_PREFIX not in options:
        raise ValidationError(
            f"{TRANSACTIONAL_ID_PREFIX.key} must be specified when using DeliveryGuarantee.EXACTLY_ONCE."
        )
    return wanted == "exactly-once"


def subscription(options: Options) -> Subscription:
    """Return the topics that are read.

    Raises:
        ValidationError: No option names topics, or two options do.
    """
    topic, pattern = options.find(TOPIC), options.find(TOPIC_PATTERN)
    if topic is not None and pattern is not None:
        raise ValidationError("Option 'topic' and 'topic-pattern' shouldn't be set together.")
    if topic is None and pattern is None:
        raise ValidationError("Either 'topic' or 'topic-pattern' must be set.")
    return Subscription(tuple(topic.split(";")) if topic is not None else (), pattern)


def started_at(options: Options) -> KafkaOffsetsInitializer:
    """Return where reading begins.

    Raises:
        ValidationError: What the mode needs is missing.
    """
    mode = options.get(START_MODE)
    if mode == "earliest-offset":
        return KafkaOffsetsInitializer.earliest()
    return _offsets(options, mode, "startup", START_MILLIS, START_OFFSETS)


def bounded_by(options: Options) -> KafkaOffsetsInitializer | None:
    """Return where reading ends, None if it does not.

    Raises:
        ValidationError: What the mode needs is missing.
    """
    mode = options.get(BOUNDED_MODE)
    return None if mode == "unbounded" else _offsets(options, mode, "bounded", BOUNDED_MILLIS, BOUNDED_OFFSETS)


def _offsets(
    options: Options, mode: str, which: str, millis: TableOption[int], offsets: TableOption[str]
) -> KafkaOffsetsInitializer:
    if mode == "latest-offset":
        return KafkaOffsetsInitializer.latest()
    if mode == "group-offsets":
        if GROUP not in options:
            raise ValidationError(
                "Property group.id is required when using committed offset for offsets initializer"
            ).with_hint("set 'properties.group.id', or 'scan.startup.mode' = 'earliest-offset', which needs none")
        return KafkaOffsetsInitializer.committed_offsets(reset_strategy(options))
    value = options.find(millis) if mode == "timestamp" else options.find(offsets)
    if value is None:
        needed = millis.key if mode == "timestamp" else offsets.key
        raise ValidationError(f"'{needed}' is required in '{mode}' {which} mode but missing.")
    if isinstance(value, int):
        return KafkaOffsetsInitializer.timestamp(value)
    topics = (options.find(TOPIC) or "").split(";")
    if len(topics) != 1 or not topics[0]:
        raise ValidationError("Currently Kafka source only supports specific offset for single topic.")
    return KafkaOffsetsInitializer.offsets(_specific(value, offsets.key, topics[0]))


def reset_strategy(options: Options) -> KafkaOffsetResetStrategy:
    """Return the strategy without a valid offset: the property `auto.offset.reset`.

    Raises:
        ValidationError: There is no such strategy.
    """
    name = options.values.get("properties.auto.offset.reset", "none").upper()
    try:
        return KafkaOffsetResetStrategy[name]
    except KeyError:
        raise ValidationError(
            f"properties.auto.offset.reset can not be set to {name}. Valid values: [latest,earliest,none]"
        ) from None


def _specific(text: str, key: str, topic: str) -> dict[KafkaTopicPartition, int]:
    found: dict[KafkaTopicPartition, int] = {}
    for pair in text.split(";"):
        parts = re.fullmatch(r"partition:([^,]*),offset:([^,]*)", pair)
        if parts is None:
            raise ValidationError(
                f"Invalid properties '{key}' should follow the format 'partition:0,offset:42;partition:1,offset:300', "
                f"but is '{text}'."
            )
        try:
            found[KafkaTopicPartition(topic, int(parts[1]))] = int(parts[2])
        except ValueError:
            raise ValidationError(
                f"Invalid properties '{key}' should follow the format 'partition:0,offset:42;partition:1,offset:300', "
                f"but is '{text}'."
            ) from None
    return found


def check_keys_of_turns(options: Options, way: str) -> None:
    """Check that rows with keys do not get to partitions in turns.

    Raises:
        ValidationError: They do.
    """
    if way == "round-robin" and KEY_FIELDS in options:
        raise ValidationError(
            "Currently 'round-robin' partitioner only works when option 'key.fields' is not specified."
        )


def partitioned(options: Options) -> None:
    """Check how rows get to partitions.

    Raises:
        ValidationError: The way does not go with keys.
        UnsupportedError: There is no such way here.
    """
    way = options.get(PARTITIONER)
    check_keys_of_turns(options, way)
    if way not in ("default", "round-robin"):
        raise UnsupportedError(
            f"'{PARTITIONER.key}' = '{way}': rows are partitioned by their keys, or without keys in turns ('default', "
            "'round-robin'); Java classes are not loaded"
        )
