"""NatsFactory: tables of streams of NATS JetStream. Flink has no such table; the names are scurry's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.nats.client import NatsServer
from scurry.connectors.nats.sink import NatsSink
from scurry.connectors.nats.streams import NatsStreams
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.queues.options import BOUNDED_MODE, GUARANTEE, STAGING, START_MILLIS, needed, staging_of

SERVERS = TableOption("servers", str, None, "`nats://host:port`, or several with commas.", required=True)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
TOKEN = TableOption("token", str, None, "A token, instead of user and password.")
STREAM = TableOption("stream", str, None, "The stream that is read.")
SUBJECT = TableOption(
    "subject", str, None, "The subject that is written; the subjects that are read, with wildcards, all without it."
)
_MODES = ("earliest-offset", "latest-offset", "timestamp", "specific-offset")
START_MODE = TableOption(
    "scan.startup.mode",
    one_of(_MODES),
    "earliest-offset",
    "Where reading begins: " + ", ".join(f"`{mode}`" for mode in _MODES) + ".",
)
START_SEQUENCE = TableOption("scan.startup.specific-offset", whole_number, None, "The first sequence number.")

OPTIONS: tuple[TableOption[Any], ...] = (
    SERVERS,
    USERNAME,
    PASSWORD,
    TOKEN,
    STREAM,
    SUBJECT,
    *FORMAT_OPTIONS,
    START_MODE,
    START_MILLIS,
    START_SEQUENCE,
    BOUNDED_MODE,
    GUARANTEE,
    STAGING,
    SINK_PARALLELISM,
)


class NatsFactory(MessageFactory):
    """Make sources and sinks of streams. The key of a message is its subject."""

    identifier = "nats"
    system_name = "NATS"
    system = NatsStreams.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return OPTIONS

    def scan(self, options: Options) -> NatsStreams:
        """Return the messages of the stream."""
        stream = options.find(STREAM)
        if stream is None:
            raise ValidationError(f"'{STREAM.key}' must be set: the stream that is read")
        bounded = options.get(BOUNDED_MODE) != "unbounded"
        return NatsStreams(_server(options), stream, options.find(SUBJECT), _begin(options), bounded)

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the subject that is written."""
        subject = options.find(SUBJECT)
        if subject is None or "*" in subject or ">" in subject:
            raise ValidationError(f"'{SUBJECT.key}' must be one subject, without wildcards, to be written")
        return (subject,)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink that publishes.

        Raises:
            ValidationError: Exactly once has no staging directory.
        """
        return NatsSink(_server(options), serializer, staging_of(options, GUARANTEE, "NATS has no transactions"))


def _server(options: Options) -> NatsServer:
    return NatsServer(options.get(SERVERS), options.find(USERNAME), options.find(PASSWORD), options.find(TOKEN))


def _begin(options: Options) -> str | int:
    mode = options.get(START_MODE)
    if mode == "timestamp":
        return f"timestamp:{needed(options, START_MILLIS, mode)}"
    return needed(options, START_SEQUENCE, mode) if mode == "specific-offset" else mode.removesuffix("-offset")
