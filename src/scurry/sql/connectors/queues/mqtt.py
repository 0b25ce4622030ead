"""MqttFactory: tables of topics of MQTT. Flink has no such table; the names are scurry's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.mqtt.client import MqttBroker
from scurry.connectors.mqtt.sink import MqttSink
from scurry.connectors.mqtt.source import MqttTopics
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.messages.factory import FORMAT_OPTIONS, MessageFactory
from scurry.sql.connectors.messages.serializer import ChangeSerializer
from scurry.sql.connectors.parallelism import SINK_PARALLELISM

HOST = TableOption("host", str, None, "The broker's machine.", required=True)
PORT = TableOption("port", whole_number, 1883, "The broker's port.")
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
TLS = TableOption("ssl.enabled", boolean, False, "Whether the connection is encrypted.")
TOPIC = TableOption("topic", str, None, "The topic; to read also several with `;`, and wildcards.", required=True)
CLIENT_ID = TableOption("client-id", str, None, "The session that the broker keeps for the job that reads.")
QOS = TableOption("qos", one_of(("0", "1", "2")), "1", "The quality of service; 0 acknowledges nothing.")
RETAIN = TableOption("sink.retain", boolean, False, "Whether the broker keeps the last message of the topic.")

OPTIONS: tuple[TableOption[Any], ...] = (
    HOST,
    PORT,
    USERNAME,
    PASSWORD,
    TLS,
    TOPIC,
    CLIENT_ID,
    QOS,
    *FORMAT_OPTIONS,
    RETAIN,
    SINK_PARALLELISM,
)


class MqttFactory(MessageFactory):
    """Make sources and sinks of topics. The key of a message is its topic."""

    identifier = "mqtt"
    system_name = "MQTT"
    system = MqttTopics.system

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of formats."""
        return OPTIONS

    def scan(self, options: Options) -> MqttTopics:
        """Return the messages of the topics."""
        client_id = options.find(CLIENT_ID)
        if not client_id:
            raise ValidationError(
                f"'{CLIENT_ID.key}' must be set: the name of the session, in which the broker keeps what is not read"
            )
        topics = tuple(name for name in options.get(TOPIC).split(";") if name)
        return MqttTopics(_broker(options), topics, client_id, int(options.get(QOS)))

    def topics(self, options: Options) -> tuple[str, ...]:
        """Return the topic that is written."""
        topic = options.get(TOPIC)
        if set(topic) & set(";+#"):
            raise ValidationError(f"'{TOPIC.key}' must be one topic, without wildcards, to be written")
        return (topic,)

    def sink(self, options: Options, serializer: ChangeSerializer, context: TableContext) -> Sink:
        """Return the sink that publishes."""
        return MqttSink(_broker(options), serializer, int(options.get(QOS)), options.get(RETAIN))


def _broker(options: Options) -> MqttBroker:
    return MqttBroker(
        options.get(HOST), options.get(PORT), options.find(USERNAME), options.find(PASSWORD), options.get(TLS)
    )
