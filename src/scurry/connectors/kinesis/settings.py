"""Flink's keys for reading streams: those of sources and tables, and those of FlinkKinesisConsumer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from scurry.common._config.option import parse_duration
from scurry.connectors.kinesis.client import AwsService
from scurry.connectors.kinesis.shards import MOST_RECORDS, KinesisShard
from scurry.connectors.kinesis.streams import KinesisStreams
from scurry.errors import ArgumentError, UnsupportedError
from scurry.errors.suggestions import similar_name

TIMESTAMP_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"
POSITIONS = ("LATEST", "TRIM_HORIZON", "AT_TIMESTAMP")
Assigner = Callable[[KinesisShard, int], int]

#: Keys of sources and of consumers, by what they say.
_SOURCE = {
    "position": "source.init.position",
    "timestamp": "source.init.timestamp",
    "format": "source.init.timestamp.format",
    "reader": "source.reader.type",
    "discovery": "source.shard.discovery.interval",
    "records": "source.shard.get-records.max-record-count",
    "idle": "source.reader.empty-records-fetch-interval",
    "busy": "source.reader.nonempty-records-fetch-interval",
}
_CONSUMER = {
    "position": "flink.stream.initpos",
    "timestamp": "flink.stream.initpos.timestamp",
    "format": "flink.stream.initpos.timestamp.format",
    "reader": "flink.stream.recordpublisher",
    "discovery": "flink.shard.discovery.intervalmillis",
    "records": "flink.shard.getrecords.maxrecordcount",
    "idle": "flink.shard.getrecords.intervalmillis",
    "busy": "flink.shard.getrecords.intervalmillis",
}
#: Prefixes of keys that tune retries, enhanced readers and watermarks of Flink's connector, without effect here.
_WITHOUT_EFFECT = (
    "source.efo.",
    "flink.list.shards.",
    "flink.stream.describe",
    "flink.stream.efo.",
    "flink.stream.registerstreamconsumer.",
    "flink.stream.deregisterstreamconsumer.",
    "flink.shard.adaptivereads",
    "flink.shard.getiterator.",
    "flink.shard.getrecords.backoff.",
    "flink.shard.getrecords.maxretries",
    "flink.shard.idle.interval",
    "flink.shard.subscribetoshard.",
    "flink.watermark.",
)


def source_scan(
    streams: tuple[str, ...], values: Mapping[str, str], assigner: Assigner | None = None, bounded: bool = False
) -> KinesisStreams:
    """Return the streams that a KinesisStreamsSource or a table reads, by the keys `source.*` and `aws.*`.

    Raises:
        ArgumentError: A key is unknown, or has a wrong value.
        UnsupportedError: A key asks for what is not here.
    """
    return _scan(streams, values, _SOURCE, assigner, bounded, lambda text: parse_duration(text) / 1000)


def consumer_scan(
    streams: tuple[str, ...], values: Mapping[str, str], assigner: Assigner | None = None, bounded: bool = False
) -> KinesisStreams:
    """Return the streams that a FlinkKinesisConsumer reads, by the keys `flink.*` and `aws.*`.

    Raises:
        ArgumentError: A key is unknown, or has a wrong value.
        UnsupportedError: A key asks for what is not here.
    """
    given = {"flink.shard.getrecords.intervalmillis": "200"} | dict(values)
    return _scan(streams, given, _CONSUMER, assigner, bounded, lambda text: int(text) / 1000)


def _scan(
    streams: tuple[str, ...],
    values: Mapping[str, str],
    keys: Mapping[str, str],
    assigner: Assigner | None,
    bounded: bool,
    seconds: Callable[[str], float],
) -> KinesisStreams:
    for key in values:
        if not key.startswith(("aws.", *_WITHOUT_EFFECT)) and key not in keys.values():
            close = similar_name(key, list(keys.values()))
            raise ArgumentError(f"unknown option '{key}'").with_hint(f"did you mean '{close}'?" if close else "")

    def number(name: str, default: Any, parse: Callable[[str], Any]) -> Any:
        text = values.get(keys[name])
        try:
            found = default if text is None else parse(text)
        except ValueError:
            found = -1
        if found < 0:
            raise ArgumentError(f"'{keys[name]}' has the value '{text}', which is no number or duration from 0 on")
        return found

    reader = values.get(keys["reader"], "POLLING").upper()
    if reader == "EFO":
        raise UnsupportedError(
            f"'{keys['reader']}' = 'EFO': enhanced fan-out cannot read a range again, which exactly once needs here; "
            "use POLLING"
        )
    if reader != "POLLING":
        raise ArgumentError(f"'{keys['reader']}' is POLLING or EFO, got '{reader}'")
    records = number("records", MOST_RECORDS, int)
    if not 1 <= records <= MOST_RECORDS:
        raise ArgumentError(f"'{keys['records']}' must be 1 to {MOST_RECORDS}, got {records}")
    return KinesisStreams(
        AwsService.of(values),
        streams,
        _start(values, keys),
        bounded,
        number("discovery", 10.0, seconds),
        records,
        number("idle", 0.25, seconds),
        number("busy", 0.0, seconds),
        assigner,
    )


def _start(values: Mapping[str, str], keys: Mapping[str, str]) -> str | int:
    position = values.get(keys["position"], "LATEST").upper()
    if position not in POSITIONS:
        raise ArgumentError(f"'{keys['position']}' must be one of {', '.join(POSITIONS)}, got '{position}'")
    if position != "AT_TIMESTAMP":
        return position
    text, pattern = values.get(keys["timestamp"]), values.get(keys["format"], TIMESTAMP_FORMAT)
    if text is None:
        raise ArgumentError(f"'{keys['position']}' = 'AT_TIMESTAMP' needs '{keys['timestamp']}'")
    try:
        return int(float(text) * 1000)
    except ValueError:
        pass
    if pattern != TIMESTAMP_FORMAT:
        raise UnsupportedError(
            f"'{keys['format']}' = '{pattern}' is not read here: leave it out, and write '{keys['timestamp']}' as "
            "2026-01-31T10:00:00.000Z, or in seconds since 1970"
        )
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentError(
            f"'{keys['timestamp']}' is a time such as 2026-01-31T10:00:00.000Z, or seconds since 1970, got '{text}'"
        ) from None
    return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
