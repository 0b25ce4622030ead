"""Options of the connector `kafka`, which parameters and dictionaries give."""

from __future__ import annotations

from typing import Any

from scurry.dataframe._options import merged, optional_text, text_of_number
from scurry.dataframe.validation import are_texts, require_options, require_text
from scurry.errors import ArgumentError, ArgumentTypeError


def source_options(
    bootstrap_servers: Any,
    topic: Any,
    topic_pattern: Any,
    group_id: Any,
    key_fields_prefix: Any,
    startup_mode: Any,
    startup_specific_offsets: Any,
    startup_timestamp_millis: Any,
    topic_partition_discovery_interval: Any,
    bounded_mode: Any,
    bounded_timestamp_millis: Any,
    bounded_specific_offsets: Any,
    properties: Any,
    options: Any,
    **formats: Any,
) -> dict[str, str]:
    """Return the options of a source; see `read_kafka` for the arguments.

    Raises:
        TypeError: An argument is something else.
        ValueError: Arguments do not go together.
    """
    require_text("bootstrap_servers", bootstrap_servers)
    generated = {
        "properties.bootstrap.servers": bootstrap_servers,
        **_topics(topic, topic_pattern),
        "properties.group.id": optional_text("group_id", group_id),
        **_formats(**formats),
        "key.fields-prefix": optional_text("key_fields_prefix", key_fields_prefix),
        "scan.startup.mode": require_text("startup_mode", startup_mode),
        "scan.startup.specific-offsets": _offsets("startup_specific_offsets", startup_specific_offsets),
        "scan.startup.timestamp-millis": _millis("startup_timestamp_millis", startup_timestamp_millis),
        "scan.topic-partition-discovery.interval": optional_text(
            "topic_partition_discovery_interval", topic_partition_discovery_interval
        )
        or "0",
        "scan.bounded.mode": require_text("bounded_mode", bounded_mode),
        "scan.bounded.timestamp-millis": _millis("bounded_timestamp_millis", bounded_timestamp_millis),
        "scan.bounded.specific-offsets": _offsets("bounded_specific_offsets", bounded_specific_offsets),
        **_properties(properties),
    }
    return merged(_further(options), generated)


def sink_options(
    bootstrap_servers: Any,
    topic: Any,
    delivery_guarantee: Any,
    transactional_id_prefix: Any,
    partitioner: Any,
    properties: Any,
    sink_parallelism: Any,
    options: Any,
    **formats: Any,
) -> dict[str, str]:
    """Return the options of a sink; see `write_kafka` for the arguments.

    Raises:
        TypeError: An argument is something else.
        ValueError: Arguments do not go together.
    """
    require_text("bootstrap_servers", bootstrap_servers)
    prefix = optional_text("transactional_id_prefix", transactional_id_prefix)
    if require_text("delivery_guarantee", delivery_guarantee) == "exactly-once" and not prefix:
        raise ArgumentError("transactional_id_prefix is required for delivery_guarantee 'exactly-once'")
    generated = {
        "properties.bootstrap.servers": bootstrap_servers,
        **_topics(topic, None),
        **_formats(**formats),
        "sink.delivery-guarantee": delivery_guarantee,
        "sink.transactional-id-prefix": prefix,
        "sink.partitioner": optional_text("partitioner", partitioner),
        "sink.parallelism": text_of_number("sink_parallelism", sink_parallelism),
        **_properties(properties),
    }
    return merged(_further(options), generated)


def _further(options: Any) -> dict[str, str]:
    given = {} if options is None else require_options("options", options)
    if given.pop("connector", "kafka") != "kafka":
        raise ArgumentError("conflicting values for option 'connector'")
    return given


def _topics(topic: Any, pattern: Any) -> dict[str, str | None]:
    if topic is None and pattern is None:
        raise ArgumentError("either 'topic' or 'topic_pattern' must be specified")
    if topic is not None and pattern is not None:
        raise ArgumentError("'topic' and 'topic_pattern' are mutually exclusive")
    if isinstance(topic, list):
        if not topic:
            raise ArgumentError("topic must not be an empty list")
        if not all(isinstance(each, str) for each in topic):
            raise ArgumentTypeError("topic list elements must be strings")
        return {"topic": ";".join(topic)}
    if topic is not None:
        return {"topic": require_text("topic", topic)}
    return {"topic-pattern": require_text("topic_pattern", pattern)}


def _formats(
    format: Any,
    format_options: Any,
    value_format: Any,
    value_format_options: Any,
    key_format: Any,
    key_format_options: Any,
    key_fields: Any,
    value_fields_include: Any,
) -> dict[str, str | None]:
    """Return the options of the formats of values and keys."""
    require_text("format", format)
    value = format if value_format is None else require_text("value_format", value_format)
    found: dict[str, str | None] = {"value.format": value}
    of_values = merged(
        {} if format_options is None else require_options("format_options", format_options),
        {} if value_format_options is None else require_options("value_format_options", value_format_options),
    )
    found |= {f"value.{value}.{key}": each for key, each in of_values.items()}
    key = optional_text("key_format", key_format)
    found["key.format"] = key
    given = {} if key_format_options is None else require_options("key_format_options", key_format_options)
    if given and key is None:
        raise ArgumentError("key_format_options requires key_format")
    found |= {f"key.{key}.{name}": each for name, each in given.items()}
    if key_fields is not None:
        if not isinstance(key_fields, list):
            raise ArgumentTypeError("key_fields must be a list")
        if not key_fields:
            raise ArgumentError("key_fields must not be empty")
        if not are_texts(key_fields):
            raise ArgumentTypeError("key_fields elements must be strings")
        found["key.fields"] = ";".join(key_fields)
    found["value.fields-include"] = require_text("value_fields_include", value_fields_include)
    return found


def _properties(given: Any) -> dict[str, str]:
    found = {} if given is None else require_options("properties", given)
    return {f"properties.{key}": value for key, value in found.items()}


def _millis(name: str, value: Any) -> str | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ArgumentTypeError(f"{name} must be an int")
    return None if value is None else str(value)


def _offsets(name: str, given: Any) -> str | None:
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, dict):
        raise ArgumentTypeError(f"{name} must be a dict of partitions and offsets, or a string")
    for what, numbers in (("keys", given), ("values", given.values())):
        if any(isinstance(each, bool) or not isinstance(each, int) for each in numbers):
            raise ArgumentTypeError(f"offsets {what} must be integers")
    return ";".join(f"partition:{partition},offset:{offset}" for partition, offset in given.items())
