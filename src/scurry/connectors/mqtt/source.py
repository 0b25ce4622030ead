"""Topics of MQTT as scans of messages that the driver receives."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageSystem
from scurry.connectors.mqtt.client import ANSWER_SECONDS, MqttBroker
from scurry.connectors.queues.receiving import Receiver, ReceivingScan
from scurry.errors import ConnectorError
from scurry.sql.types import (
    MAX_LENGTH,
    BooleanType,
    DataType,
    IntType,
    LocalZonedTimestampType,
    VarCharType,
)

_WAIT_SECONDS = 0.05
_STRING = VarCharType(MAX_LENGTH)


class MqttMessage(NamedTuple):
    """A message of MQTT.

    Attributes:
        topic: The topic.
        payload: Its bytes.
        qos: Its quality of service, 0 to 2.
        retained: Whether the broker had kept it from before the subscription.
        duplicate: Whether the broker may have delivered it before.
        timestamp: When it was received, in milliseconds since 1970.
    """

    topic: str
    payload: bytes
    qos: int
    retained: bool
    duplicate: bool
    timestamp: int


class MqttMessages(MessageSystem):
    """The messages of topics; the topic is the key."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "topic": _STRING.not_null(),
        "qos": IntType().not_null(),
        "retained": BooleanType().not_null(),
        "duplicate": BooleanType().not_null(),
        "timestamp": LocalZonedTimestampType(3).not_null(),
    }

    def key(self, message: MqttMessage) -> bytes | None:
        return message.topic.encode()

    def value(self, message: MqttMessage) -> bytes | None:
        return message.payload

    def timestamp(self, message: MqttMessage) -> int:
        """Return when the message was received: MQTT has no times."""
        return message.timestamp

    def record(self, message: MqttMessage) -> MqttMessage:
        return message

    def read(self, key: str, message: MqttMessage) -> Any:
        return _READERS[key](message)

    def place(self, message: MqttMessage) -> str:
        """Return the topic."""
        return f"topic {message.topic!r}"


_READERS: dict[str, Callable[[MqttMessage], Any]] = {
    "topic": lambda message: message.topic,
    "qos": lambda message: message.qos,
    "retained": lambda message: message.retained,
    "duplicate": lambda message: message.duplicate,
    "timestamp": lambda message: message.timestamp,
}


@dataclass(frozen=True)
class MqttTopics(ReceivingScan):
    """The messages of topics, for a session that the broker keeps.

    Attributes:
        broker: The address of the broker.
        topics: The topics, with the wildcards of MQTT.
        client_id: The name of the session; one job has it at a time.
        qos: Quality of service of the subscription; with 0 nothing is acknowledged.
    """

    system: ClassVar[MessageSystem] = MqttMessages()
    broker: MqttBroker
    topics: tuple[str, ...]
    client_id: str
    qos: int = 1

    def create_receiver(self) -> Receiver:
        """Return the receiver, not connected yet."""
        return _Receiver(self)

    def size(self, message: MqttMessage) -> int:
        """Return the number of bytes of the payload."""
        return len(message.payload)


#: A delivery: the connection that it came by, its number, and the message.
_Delivery = tuple[int, int, MqttMessage]


class _Receiver(Receiver):
    def __init__(self, scan: MqttTopics) -> None:
        super().__init__()
        self._scan = scan
        self._client: Any = None
        self._connection = 0
        self._taken: list[_Delivery] = []
        #: messages to acknowledge, which the thread of the connection does
        self._done: deque[_Delivery] = deque()

    def connect(self) -> None:
        scan = self._scan
        client = scan.broker.client(scan.client_id, keeps_session=True, acknowledges=True)
        self._connection += 1
        number = self._connection
        client.on_message = lambda _, __, message: self._came(number, message)
        granted: list[Any] = []
        client.on_subscribe = lambda *given: granted.extend(given[3])
        scan.broker.connect(client, reads=True)
        client.subscribe([(topic, scan.qos) for topic in scan.topics])
        give_up = time.monotonic() + ANSWER_SECONDS
        while len(granted) < len(scan.topics):
            if client.loop(_WAIT_SECONDS) != 0 or time.monotonic() > give_up:
                raise scan.broker.failure("it does not answer the subscription; check topic", reads=True)
        refused = [topic for topic, code in zip(scan.topics, granted, strict=False) if code.is_failure]
        if refused:
            raise scan.broker.failure(f"it refuses the subscription of {refused[0]!r}; check topic and rights", True)
        self._client = client

    def _came(self, number: int, message: Any) -> None:
        found = MqttMessage(
            message.topic,
            message.payload,
            message.qos,
            message.retain,
            message.dup,
            time.time_ns() // 1_000_000,
        )
        self.received((number, message.mid, found))

    def receive(self) -> None:
        while self._done:
            number, mid, message = self._done.popleft()
            if number == self._connection and message.qos:
                self._client.ack(mid, message.qos)
        if self.is_full:
            time.sleep(_WAIT_SECONDS)
            return
        code = self._client.loop(_WAIT_SECONDS)
        if code != 0:
            raise OSError(f"the connection broke ({code})")

    def failure(self, reason: Exception) -> ConnectorError:
        why = f"{reason}; check that no other client has the id {self._scan.client_id!r}"
        return self._scan.broker.failure(why, reads=True)

    def size(self, message: _Delivery) -> int:
        return len(message[2].payload)

    def accepted(self, messages: list[_Delivery]) -> list[MqttMessage]:
        self._taken += messages
        return [message for _, _, message in messages]

    def acknowledge(self) -> None:
        self._done.extend(self._taken)
        self._taken = []

    def disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop(0)
