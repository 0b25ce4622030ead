"""RedisStreamFactory: tables of streams of Redis. Flink has no such table; the names are scurry's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.redis.client import RedisServer
from scurry.connectors.redis.sink import RedisStreamSink
from scurry.connectors.redis.streams import RedisStreams
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM
from scurry.sql.connectors.queues.options import BOUNDED_MODE, GUARANTEE, START_MILLIS, needed

URL = TableOption("url", str, None, "`redis://host:port/db`, or `rediss://` for TLS.", required=True)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
STREAM = TableOption("stream", str, None, "The key of the stream, or several with `;` between them.", required=True)
_MODES = ("earliest-offset", "latest-offset", "timestamp", "specific-offset")
START_MODE = TableOption(
    "scan.startup.mode",
    one_of(_MODES),
    "earliest-offset",
    "Where reading begins: " + ", ".join(f"`{mode}`" for mode in _MODES) + ".",
)
START_ID = TableOption("scan.startup.specific-offset", str, None, "The id of an entry, behind which reading begins.")
VALUE_FIELD = TableOption("value.field", str, "value", "The field of entries that has the value.")
KEY_FIELD = TableOption("key.field", str, "key", "The field of entries that has the key.")
MAX_LENGTH = TableOption(
    "sink.max-length", whole_number, None, "Entries that the stream keeps, approximately; all without it."
)

#: The options that say where the server is.
SERVER_OPTIONS: tuple[TableOption[Any], ...] = (URL, USERNAME, PASSWORD)
OPTIONS: tuple[TableOption[Any], ...] = (
    *SERVER_OPTIONS,
    STREAM,
    *FORMAT_OPTIONS,
    START_MODE,
    START_MILLIS,
    START_ID,
    BOUNDED_MODE,
    SCAN_PARALLELISM,
    VALUE_FIELD,
    KEY_FIELD,
    GUARANTEE,
    MAX_LENGTH,
    SINK_PARALLELISM,
)


def server_of(options: Options) -> RedisServer:
    """Return the address of the server.

    Raises:
        ValidationError: The URL is none.
    """
    server = RedisServer(options.get(URL), options.find(USERNAME), options.find(PASSWORD))
    try:
        server.client().close()
    except ArgumentError as error:
        raise explained(error, str(error)) from None
    return server


class RedisStreamFactory(MessageFactory):
    """Make sources and sinks of streams."""

    identifier = "redis-stream"
    system_name = "Redis stream"
    system = RedisStreams.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return OPTIONS

    def scan(self, options: Options) -> RedisStreams:
        """Return the entries of the streams."""
        bounded = options.get(BOUNDED_MODE) != "unbounded"
        fields = options.get(VALUE_FIELD), options.get(KEY_FIELD)
        return RedisStreams(server_of(options), self._streams(options), _begin(options), bounded, *fields)

    def _streams(self, options: Options) -> tuple[str, ...]:
        return tuple(name for name in options.get(STREAM).split(";") if name)

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the stream that is written.

        Raises:
            ValidationError: There are several.
        """
        streams = self._streams(options)
        if len(streams) != 1:
            raise ValidationError(f"'{STREAM.key}' names several streams, which can be read; write to one")
        return streams

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink that adds entries."""
        fields = options.get(VALUE_FIELD), options.get(KEY_FIELD)
        once = options.get(GUARANTEE) == "exactly-once"
        return RedisStreamSink(server_of(options), serializer, once, options.find(MAX_LENGTH), *fields)


def _begin(options: Options) -> str | int:
    mode = options.get(START_MODE)
    if mode == "timestamp":
        return needed(options, START_MILLIS, mode)
    if mode != "specific-offset":
        return mode.removesuffix("-offset")
    found = options.find(START_ID)
    if found is None:
        raise ValidationError(f"'{START_ID.key}' is required in '{mode}' startup mode but missing.")
    first, _, second = found.partition("-")
    if not (first.isdigit() and second.isdigit()):
        raise ValidationError(f"'{START_ID.key}' is an id such as '1526919030474-0', not '{found}'")
    return found
