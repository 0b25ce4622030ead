"""Positions from which partitions are read, and up to which."""

from __future__ import annotations

from enum import Enum
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.pulsar.client import MessageKey, pulsar


class CursorKind(Enum):
    """Kinds of positions."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NEVER = "never"
    MESSAGE_ID = "message id"
    PUBLISH_TIME = "publish time"
    EVENT_TIME = "event time"


@dataclass(frozen=True)
class Cursor:
    """A position in every partition.

    Attributes:
        kind: Kind of the position.
        message_id: The serialized id of a message.
        timestamp: Milliseconds since 1970.
        inclusive: Whether the message at the position is read.
    """

    kind: CursorKind
    message_id: bytes = b""
    timestamp: int = 0
    inclusive: bool = True

    @property
    def key(self) -> MessageKey:
        """Return the id of the message."""
        return MessageKey.of(pulsar().MessageId.deserialize(self.message_id))

    def stops_at(self, message: Any) -> bool:
        """Return whether a message, with all that follow, is not read any more."""
        by_event = self.kind is CursorKind.EVENT_TIME
        time = message.event_timestamp() if by_event else message.publish_timestamp()
        return bool(time > self.timestamp or (time == self.timestamp and not self.inclusive))
