"""The options of tables of Kinesis and Firehose, as Flink names them."""

from __future__ import annotations

from typing import Any

from scurry.connectors.kinesis.client import ENDPOINT, REGION, TRUST_ALL
from scurry.connectors.kinesis.credentials import PROVIDER
from scurry.connectors.kinesis.settings import POSITIONS, TIMESTAMP_FORMAT
from scurry.sql.catalog.table_options import TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM
from scurry.sql.connectors.queues.options import BOUNDED_MODE

STREAM = TableOption("stream.arn", str, None, "The ARN of the stream, or its name.", required=True)
DELIVERY_STREAM = TableOption("delivery-stream", str, None, "The name of the delivery stream.", required=True)
FORMAT = TableOption("format", str, None, "The format of records.", required=True)

_CREDENTIALS = "aws.credentials."
AWS_OPTIONS: tuple[TableOption[Any], ...] = (
    TableOption(REGION, str, None, "The region.", required=True),
    TableOption(ENDPOINT, str, None, "The address of the service; else that of the region."),
    TableOption(TRUST_ALL, boolean, False, "Whether certificates are not checked."),
    TableOption(
        PROVIDER,
        one_of(("AUTO", "BASIC", "ENV_VAR", "PROFILE", "ASSUME_ROLE", "WEB_IDENTITY_TOKEN", "SYS_PROP", "CUSTOM")),
        None,
        "Where keys come from: `AUTO` (the chain of AWS), `BASIC`, `ENV_VAR`, `PROFILE`, `ASSUME_ROLE`, "
        "`WEB_IDENTITY_TOKEN`; `BASIC` if both of its keys are set, else `AUTO`. `SYS_PROP` and `CUSTOM` are refused.",
    ),
    TableOption(f"{_CREDENTIALS}basic.accesskeyid", str, None, "The access key of `BASIC`."),
    TableOption(f"{_CREDENTIALS}basic.secretkey", str, None, "The secret key of `BASIC`."),
    TableOption(f"{_CREDENTIALS}profile.path", str, None, "The file of `PROFILE`; else that of AWS."),
    TableOption(f"{_CREDENTIALS}profile.name", str, "default", "The profile of `PROFILE`."),
    TableOption(f"{_CREDENTIALS}role.arn", str, None, "The role of `ASSUME_ROLE` and `WEB_IDENTITY_TOKEN`."),
    TableOption(f"{_CREDENTIALS}role.sessionName", str, "scurry", "The name of the role's sessions."),
    TableOption(f"{_CREDENTIALS}role.externalId", str, None, "The id that the owner of a role asks for."),
    TableOption(f"{_CREDENTIALS}role.stsEndpoint", str, None, "The address of the service of roles."),
    TableOption(
        f"{_CREDENTIALS}role.provider",
        str,
        "AUTO",
        "Where the keys come from that assume the role; its own options begin with `aws.credentials.role.provider.`.",
    ),
    TableOption(f"{_CREDENTIALS}webIdentityToken.file", str, None, "The file with the token of a web identity."),
    TableOption(f"{_CREDENTIALS}custom.class", str, None, "A class of Java, which is refused.", without_effect=True),
)

SOURCE_OPTIONS: tuple[TableOption[Any], ...] = (
    TableOption(
        "source.init.position",
        one_of(POSITIONS),
        "LATEST",
        "Where reading begins: " + ", ".join(f"`{each}`" for each in POSITIONS) + ".",
    ),
    TableOption("source.init.timestamp", str, None, "A time as `2026-01-31T10:00:00.000Z`, or seconds since 1970."),
    TableOption("source.init.timestamp.format", str, TIMESTAMP_FORMAT, "The form of that time; others are refused."),
    TableOption("source.shard.discovery.interval", duration, 10_000, "Milliseconds between looks for new shards."),
    TableOption(
        "source.reader.type", one_of(("POLLING", "EFO")), "POLLING", "`POLLING`; `EFO` (enhanced fan-out) is refused."
    ),
    TableOption(
        "source.reader.empty-records-fetch-interval",
        duration,
        250,
        "Milliseconds before a shard without records is asked again.",
    ),
    TableOption(
        "source.reader.nonempty-records-fetch-interval",
        duration,
        0,
        "Milliseconds before a shard with records is asked again.",
    ),
    TableOption(
        "source.shard.get-records.max-record-count", whole_number, 10_000, "Records that are asked for at once."
    ),
    *(
        TableOption(key, str, None, "Belongs to `EFO`.", without_effect=True)
        for key in (
            "source.efo.consumer.name",
            "source.efo.lifecycle",
            "source.efo.subscription.timeout",
            "source.efo.deregister.timeout",
            "source.efo.describe.retry-strategy.attempts.max",
            "source.efo.describe.retry-strategy.delay.min",
            "source.efo.describe.retry-strategy.delay.max",
        )
    ),
    BOUNDED_MODE,
    SCAN_PARALLELISM,
)

BATCH_SIZE = TableOption("sink.batch.max-size", whole_number, 500, "Records of a request, at most 500.")
BUFFER_TIME = TableOption("sink.flush-buffer.timeout", whole_number, 5000, "Milliseconds that a row waits for others.")
FAILS = TableOption(
    "sink.fail-on-error",
    boolean,
    False,
    "Whether a record that the service does not take at once fails the job, instead of being sent again.",
)


def buffer_size(default: int) -> TableOption[int]:
    """Return the option of the bytes of a request."""
    return TableOption("sink.flush-buffer.size", whole_number, default, "Bytes of the records of a request.")


PARTITIONER = TableOption(
    "sink.partitioner",
    str,
    None,
    "Partition keys of tables without PARTITIONED BY: `random` (default), or `fixed`, one for each task.",
)
DELIMITER = TableOption(
    "sink.partitioner-field-delimiter", str, "|", "What stands between the columns of PARTITIONED BY in the key."
)
SINK_OPTIONS: tuple[TableOption[Any], ...] = (
    BATCH_SIZE,
    BUFFER_TIME,
    FAILS,
    TableOption(
        "sink.requests.max-inflight", whole_number, 16, "A task sends one request after the other.", without_effect=True
    ),
    TableOption(
        "sink.requests.max-buffered", whole_number, 10_000, "A task holds the rows of a request.", without_effect=True
    ),
    *(
        TableOption(f"sink.http-client.{name}", str, None, "Of Java's client.", without_effect=True)
        for name in ("max-concurrency", "read-timeout", "protocol.version")
    ),
    SINK_PARALLELISM,
)
KINESIS_OPTIONS = (
    STREAM,
    FORMAT,
    *AWS_OPTIONS,
    *SOURCE_OPTIONS,
    PARTITIONER,
    DELIMITER,
    buffer_size(5 << 20),
    *SINK_OPTIONS,
)
FIREHOSE_OPTIONS = (DELIVERY_STREAM, FORMAT, *AWS_OPTIONS, buffer_size(4 << 20), *SINK_OPTIONS)
