"""RabbitFactory: tables of RabbitMQ's queues and streams. Flink has no such table; the names are scurry's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.rabbitmq.client import MOST_PREFETCHED, Broker
from scurry.connectors.rabbitmq.numbered import STREAM_PORT
from scurry.connectors.rabbitmq.sink import RabbitSink
from scurry.connectors.rabbitmq.source import RabbitQueue
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, explained, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.queues.options import GUARANTEE, STAGING, START_MILLIS, needed, staging_of

QUEUE = TableOption("queue", str, None, "The queue or stream; made, durable, if it is not there.", required=True)
HOST = TableOption("host", str, "localhost", "The broker's machine.")
PORT = TableOption("port", whole_number, 5672, "The broker's port of AMQP.")
VIRTUAL_HOST = TableOption("virtual-host", str, "/", "The virtual host.")
USERNAME = TableOption("username", str, "guest", "The user.")
PASSWORD = TableOption("password", str, "guest", "The user's password.")
URI = TableOption("uri", str, None, "`amqp://user:password@host:port/virtual-host`, instead of these five.")
TYPE = TableOption(
    "queue.type", one_of(("queue", "stream")), "queue", "Whether it is a `queue` or a `stream`, which has offsets."
)
IDS = TableOption(
    "scan.correlation-id.enabled",
    boolean,
    False,
    "Whether messages have unique correlation ids, by which a queue is read exactly once.",
)
PREFETCH = TableOption(
    "scan.prefetch-count",
    whole_number,
    None,
    "Most messages that wait for their acknowledgement; without it as many as have 64 MiB.",
)
_MODES = ("earliest-offset", "latest-offset", "timestamp", "specific-offset")
START_MODE = TableOption(
    "scan.startup.mode",
    one_of(_MODES),
    "earliest-offset",
    "Where a stream is read from: " + ", ".join(f"`{mode}`" for mode in _MODES) + ".",
)
START_OFFSET = TableOption("scan.startup.specific-offset", whole_number, None, "The first offset.")
EXCHANGE = TableOption("sink.exchange", str, "", "The exchange; without it messages go to the queue.")
ROUTING_KEY = TableOption("sink.routing-key", str, None, "The routing key; without it the name of the queue.")
STREAM_PORT_OPTION = TableOption(
    "stream.port", whole_number, STREAM_PORT, "The port of the protocol of streams, by which `exactly-once` writes."
)

OPTIONS: tuple[TableOption[Any], ...] = (
    QUEUE,
    HOST,
    PORT,
    VIRTUAL_HOST,
    USERNAME,
    PASSWORD,
    URI,
    TYPE,
    *FORMAT_OPTIONS,
    IDS,
    PREFETCH,
    START_MODE,
    START_MILLIS,
    START_OFFSET,
    EXCHANGE,
    ROUTING_KEY,
    GUARANTEE,
    STAGING,
    STREAM_PORT_OPTION,
    SINK_PARALLELISM,
)


class RabbitFactory(MessageFactory):
    """Make sources and sinks of queues and streams. The key of a message is its correlation id."""

    identifier = "rabbitmq"
    system_name = "RabbitMQ"
    system = RabbitQueue.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return OPTIONS

    def scan(self, options: Options) -> RabbitQueue:
        """Return the messages of the queue."""
        stream, ids = options.get(TYPE) == "stream", options.get(IDS)
        if stream and ids:
            raise ValidationError(
                f"'{IDS.key}' is for a queue: a stream is read exactly once by its offsets; leave it out"
            )
        if not stream and START_MODE in options:
            raise ValidationError(
                f"'{START_MODE.key}' is for a stream: a queue hands out what it has; set '{TYPE.key}' = 'stream'"
            )
        prefetch = options.find(PREFETCH)
        if prefetch is not None and not 0 < prefetch <= MOST_PREFETCHED:
            raise ValidationError(f"'{PREFETCH.key}' is 1 to {MOST_PREFETCHED}, not {prefetch}")
        start = _start(options) if stream else None
        return RabbitQueue(_broker(options), options.get(QUEUE), ids, prefetch, start)

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the queue."""
        return (options.get(QUEUE),)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink that publishes.

        Raises:
            ValidationError: Exactly once is wanted, but not into a stream, or without a staging directory.
        """
        exchange, key = options.get(EXCHANGE), options.find(ROUTING_KEY)
        stream = options.get(TYPE) == "stream"
        staging = staging_of(options, GUARANTEE, "RabbitMQ has no transactions that outlive a connection")
        if staging is not None and (exchange or not stream):
            raise ValidationError(
                f"'{GUARANTEE.key}' = 'exactly-once' writes to a stream, which drops what it has by its number; queues "
                f"and exchanges know none: set '{TYPE.key}' = 'stream' without '{EXCHANGE.key}', or 'at-least-once'"
            )
        queue, port = None if exchange else options.get(QUEUE), options.get(STREAM_PORT_OPTION)
        return RabbitSink(_broker(options), serializer, queue, exchange, key, stream, staging, port)


def _broker(options: Options) -> Broker:
    uri = options.find(URI)
    both = [each.key for each in (HOST, PORT, VIRTUAL_HOST, USERNAME, PASSWORD) if uri is not None and each in options]
    if both:
        raise ValidationError(f"'{URI.key}' and '{both[0]}' are set, which say the same: leave one out")
    try:
        broker = Broker(
            options.get(HOST),
            options.get(PORT),
            options.get(VIRTUAL_HOST),
            options.get(USERNAME),
            options.get(PASSWORD),
            uri,
        )
        broker.parameters()
    except ArgumentError as error:
        raise explained(error, str(error)) from None
    return broker


def _start(options: Options) -> str | int:
    mode = options.get(START_MODE)
    if mode == "timestamp":
        return f"timestamp:{needed(options, START_MILLIS, mode)}"
    if mode == "specific-offset":
        return needed(options, START_OFFSET, mode)
    return "first" if mode == "earliest-offset" else "next"
