"""PubSubFactory: tables of Google Pub/Sub. Flink has no such table; the names are scurry's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.pubsub.client import PubSubProject
from scurry.connectors.pubsub.sink import PubSubSink
from scurry.connectors.pubsub.source import PubSubSubscription
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.parallelism import SINK_PARALLELISM

PROJECT = TableOption("project", str, None, "The id of the project.", required=True)
SUBSCRIPTION = TableOption("subscription", str, None, "The subscription that is read.")
TOPIC = TableOption("topic", str, None, "The topic that is written.")
EMULATOR = TableOption(
    "emulator-host",
    str,
    None,
    "`host:port` of an emulator; without it that of PUBSUB_EMULATOR_HOST, or the service.",
)
CREDENTIALS = TableOption(
    "credentials-file", str, None, "A file of credentials, on each machine; without it those of the environment."
)

OPTIONS: tuple[TableOption[Any], ...] = (
    PROJECT,
    SUBSCRIPTION,
    TOPIC,
    EMULATOR,
    CREDENTIALS,
    *FORMAT_OPTIONS,
    SINK_PARALLELISM,
)


class PubSubFactory(MessageFactory):
    """Make sources of subscriptions and sinks of topics. The key of a message is its ordering key."""

    identifier = "pubsub"
    system_name = "Pub/Sub"
    system = PubSubSubscription.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return OPTIONS

    def scan(self, options: Options) -> PubSubSubscription:
        """Return the messages of the subscription."""
        subscription = options.find(SUBSCRIPTION)
        if not subscription:
            raise ValidationError(f"'{SUBSCRIPTION.key}' must be set: the subscription that is read")
        return PubSubSubscription(_project(options), subscription)

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the topic that is written."""
        topic = options.find(TOPIC)
        if not topic:
            raise ValidationError(f"'{TOPIC.key}' must be set: the topic that is written")
        return (topic,)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink that publishes."""
        return PubSubSink(_project(options), serializer)


def _project(options: Options) -> PubSubProject:
    try:
        return PubSubProject.of(options.get(PROJECT), options.find(EMULATOR), options.find(CREDENTIALS))
    except ArgumentError as error:
        raise explained(error, f"'{EMULATOR.key}' or '{CREDENTIALS.key}': {error}") from None
