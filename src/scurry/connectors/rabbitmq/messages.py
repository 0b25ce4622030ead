"""RabbitMQ's messages: complete ones as records, their metadata as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from scurry.connectors.messages import MessageSystem
from scurry.sql.types import (
    MAX_LENGTH,
    BigIntType,
    BooleanType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)

_STRING = VarCharType(MAX_LENGTH)


class RMQMessage(NamedTuple):
    """A complete message of RabbitMQ.

    Attributes:
        queue: The queue or stream.
        body: Its bytes.
        exchange: The exchange that it was published to; empty for the default one.
        routing_key: The key that it was published with.
        timestamp: The publisher's timestamp, else when it was received; milliseconds since 1970.
        redelivered: Whether the broker may have delivered it before.
        offset: Its offset in a stream, None in queues.
        correlation_id: The id that the publisher has given it, or None.
        message_id: The publisher's id of the message, or None.
        headers: The headers, values as pika decodes them.
    """

    queue: str
    body: bytes
    exchange: str
    routing_key: str
    timestamp: int
    redelivered: bool
    offset: int | None
    correlation_id: str | None
    message_id: str | None
    headers: Mapping[str, Any]


OFFSET = "x-stream-offset"


class RabbitMessages(MessageSystem):
    """The messages of queues and streams."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "queue": _STRING.not_null(),
        "exchange": _STRING.not_null(),
        "routing-key": _STRING.not_null(),
        "timestamp": LocalZonedTimestampType(3).not_null(),
        "redelivered": BooleanType().not_null(),
        "offset": BigIntType(),
        "correlation-id": _STRING,
        "message-id": _STRING,
        "headers": MapType(_STRING.not_null(), VarBinaryType(MAX_LENGTH).not_null()).not_null(),
    }
    written = ("headers", "timestamp")

    def key(self, message: RMQMessage) -> bytes | None:
        """Return the correlation id."""
        return None if message.correlation_id is None else message.correlation_id.encode()

    def value(self, message: RMQMessage) -> bytes | None:
        return message.body

    def timestamp(self, message: RMQMessage) -> int:
        return message.timestamp

    def record(self, message: RMQMessage) -> RMQMessage:
        return message

    def read(self, key: str, message: RMQMessage) -> Any:
        return _READERS[key](message)

    def place(self, message: RMQMessage) -> str:
        """Return the queue, with the offset of a stream or the correlation id."""
        at = f", offset {message.offset}" if message.offset is not None else ""
        by = f", correlation id {message.correlation_id!r}" if message.correlation_id is not None else ""
        return f"queue {message.queue!r}{at}{by}"


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


_READERS: dict[str, Callable[[RMQMessage], Any]] = {
    "queue": lambda message: message.queue,
    "exchange": lambda message: message.exchange,
    "routing-key": lambda message: message.routing_key,
    "timestamp": lambda message: message.timestamp,
    "redelivered": lambda message: message.redelivered,
    "offset": lambda message: message.offset,
    "correlation-id": lambda message: message.correlation_id,
    "message-id": lambda message: message.message_id,
    "headers": lambda message: [(name, _bytes(value)) for name, value in message.headers.items()],
}
