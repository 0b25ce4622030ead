"""PulsarFactory: tables of Pulsar's topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.pulsar.client import PulsarService, pulsar
from scurry.connectors.pulsar.cursors import Cursor, CursorKind
from scurry.connectors.pulsar.sink import PulsarSink
from scurry.connectors.pulsar.source import PulsarTopics
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, explained, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM
from scurry.sql.connectors.queues.options import STAGING, staging_of

TOPICS = TableOption("topics", str, None, "The topic, or several with `;` between them.", required=True)
SERVICE_URL = TableOption("service-url", str, None, "The brokers: `pulsar://host:port`.", required=True)
ADMIN_URL = TableOption("admin-url", str, None, "The administration is not asked.", without_effect=True)
EXPLICIT = TableOption("explicit", boolean, True, "Tables are declared by their columns.", without_effect=True)
SUBSCRIPTION = TableOption(
    "source.subscription-name", str, "scurry-sql-connector", "The subscription whose cursor follows the commits."
)
SUBSCRIPTION_TYPE = TableOption(
    "source.subscription-type",
    one_of(("Exclusive", "Shared")),
    "Exclusive",
    "Readers read, and the subscription only keeps the place.",
    without_effect=True,
)
START_ID = TableOption(
    "source.start.message-id", str, "earliest", "`earliest`, `latest`, or `ledger:entry:partition` of a message."
)
START_TIME = TableOption("source.start.publish-time", whole_number, None, "Milliseconds since 1970, instead of an id.")
STOP_AT = TableOption(
    "source.stop.at-message-id", str, None, "`never`, `latest`, or the first message that is not read."
)
STOP_AFTER = TableOption("source.stop.after-message-id", str, None, "The last message that is read.")
STOP_TIME = TableOption("source.stop.at-publish-time", whole_number, None, "Milliseconds since 1970.")
ROUTING = TableOption(
    "sink.topic-routing-mode",
    one_of(("round-robin", "message-key-hash")),
    "round-robin",
    "How rows get to one of several topics.",
)
DELAY = TableOption(
    "sink.message-delay-interval", whole_number, 0, "Milliseconds that brokers keep rows from shared subscriptions."
)
GUARANTEE = TableOption(
    "pulsar.sink.deliveryGuarantee",
    one_of(("none", "at-least-once", "exactly-once")),
    "none",
    "How often rows are written; `none` is at least once. `exactly-once` needs `sink.staging-dir`.",
)

OPTIONS: tuple[TableOption[Any], ...] = (
    TOPICS,
    SERVICE_URL,
    ADMIN_URL,
    EXPLICIT,
    *FORMAT_OPTIONS,
    SUBSCRIPTION,
    SUBSCRIPTION_TYPE,
    START_ID,
    START_TIME,
    STOP_AT,
    STOP_AFTER,
    STOP_TIME,
    SCAN_PARALLELISM,
    ROUTING,
    DELAY,
    GUARANTEE,
    STAGING,
    SINK_PARALLELISM,
)


class PulsarFactory(MessageFactory):
    """Make sources and sinks of topics."""

    identifier = "pulsar"
    system_name = "Pulsar"
    system = PulsarTopics.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return OPTIONS

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the formats, and those of clients."""
        begin = ("pulsar.client.", "pulsar.consumer.", "pulsar.producer.", "pulsar.source.", "pulsar.admin.")
        return [*super().other_keys(context), *(key for key in context.options if key.startswith(begin))]

    def scan(self, options: Options) -> PulsarTopics:
        """Return the messages of the topics.

        Raises:
            ValidationError: A position is none.
        """
        start = Cursor(CursorKind.PUBLISH_TIME, timestamp=options.find(START_TIME) or 0)
        if START_TIME not in options:
            start = _cursor(options.get(START_ID), START_ID.key, True) or Cursor(CursorKind.EARLIEST)
        return PulsarTopics(
            _service(options), self.topics(options), options.get(SUBSCRIPTION), start, self._stop(options)
        )

    def _stop(self, options: Options) -> Cursor | None:
        given = [each.key for each in (STOP_AT, STOP_AFTER, STOP_TIME) if each in options]
        if len(given) > 1:
            raise ValidationError(f"'{given[0]}' and '{given[1]}' are set, of which one can be the end: leave one out")
        time = options.find(STOP_TIME)
        if time is not None:
            return Cursor(CursorKind.PUBLISH_TIME, timestamp=time, inclusive=False)
        at, after = options.find(STOP_AT), options.find(STOP_AFTER)
        if at is not None:
            return _cursor(at, STOP_AT.key, False)
        return None if after is None else _cursor(after, STOP_AFTER.key, True)

    def topics(self, options: Options) -> tuple[str, ...]:
        return tuple(topic for topic in options.get(TOPICS).split(";") if topic)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink of the topics.

        Raises:
            ValidationError: Exactly once has no staging directory.
        """
        return PulsarSink(
            _service(options),
            serializer,
            self.topics(options),
            staging_of(options, GUARANTEE, "Pulsar's client for Python has no transactions"),
            delay_ms=options.get(DELAY),
            by_key=options.get(ROUTING) == "message-key-hash",
        )


def _service(options: Options) -> PulsarService:
    given = {key: value for key, value in options.values.items() if key.startswith("pulsar.client.")}
    service = PulsarService(
        options.get(SERVICE_URL),
        given.get("pulsar.client.authPluginClassName"),
        given.get("pulsar.client.authParams", ""),
        tuple(sorted(given.items())),
    )
    try:
        service.check()
    except ArgumentError as error:
        raise explained(ValidationError(str(error)), str(error)) from None
    return service


def _cursor(text: str, key: str, inclusive: bool) -> Cursor | None:
    if text in ("earliest", "latest"):
        return Cursor(CursorKind(text))
    if text == "never":
        return None
    parts = text.split(":")
    if len(parts) != 3 or not all(part.removeprefix("-").isdecimal() for part in parts):
        raise ValidationError(f"'{key}' is earliest, latest, never or ledger:entry:partition, got '{text}'")
    ledger, entry, partition = map(int, parts)
    made = pulsar().MessageId(partition, ledger, entry, -1)
    return Cursor(CursorKind.MESSAGE_ID, made.serialize(), inclusive=inclusive)
