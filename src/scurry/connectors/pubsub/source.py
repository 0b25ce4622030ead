"""Subscriptions as scans of messages that the driver receives."""

from __future__ import annotations

import base64
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from threading import Thread
from typing import Any, ClassVar, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageSystem
from scurry.connectors.pubsub.client import PubSubAway, PubSubClient, PubSubProject
from scurry.connectors.queues.positions import BlockCount
from scurry.connectors.queues.receiving import MOST_WAITING, Receiver, ReceivingScan, SeenIds
from scurry.errors import ConnectorError
from scurry.sql.types import (
    MAX_LENGTH,
    DataType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)

#: Messages of a request, the most that Pub/Sub takes.
MOST_PULLED = 1000
#: Seconds for which a request waits for messages, unless the service answers before.
_PULL_SECONDS = 60.0
#: Seconds after which a message is leased for the first time: a subscription leaves at least 10 s.
_FIRST_SECONDS = 4.0
#: Seconds of a lease, and those after which it is renewed.
_LEASE_SECONDS, _RENEW_SECONDS = 60, 20.0
#: Pause of the thread that acknowledges and renews, in seconds.
_KEEP_SECONDS = 0.05
_STRING = VarCharType(MAX_LENGTH)


class PubSubMessage(NamedTuple):
    """A message of Pub/Sub.

    Attributes:
        subscription: The subscription.
        data: Its bytes.
        attributes: Its attributes.
        message_id: The id that Pub/Sub has given it, unique in its topic.
        ordering_key: The key in whose order messages come; empty for none.
        publish_time: When it was published, in milliseconds since 1970.
        delivery_attempt: How often it was delivered, if the subscription has a dead-letter topic, else None.
    """

    subscription: str
    data: bytes
    attributes: Mapping[str, str]
    message_id: str
    ordering_key: str
    publish_time: int
    delivery_attempt: int | None


class PubSubMessages(MessageSystem):
    """The messages of subscriptions; the ordering key is the key."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "subscription": _STRING.not_null(),
        "message-id": _STRING.not_null(),
        "ordering-key": _STRING.not_null(),
        "timestamp": LocalZonedTimestampType(3).not_null(),
        "delivery-attempt": IntType(),
        "headers": MapType(_STRING.not_null(), VarBinaryType(MAX_LENGTH).not_null()).not_null(),
    }
    written = ("headers",)

    def key(self, message: PubSubMessage) -> bytes | None:
        return message.ordering_key.encode() if message.ordering_key else None

    def value(self, message: PubSubMessage) -> bytes | None:
        return message.data

    def timestamp(self, message: PubSubMessage) -> int:
        """Return when the message was published."""
        return message.publish_time

    def record(self, message: PubSubMessage) -> PubSubMessage:
        return message

    def read(self, key: str, message: PubSubMessage) -> Any:
        return _READERS[key](message)

    def place(self, message: PubSubMessage) -> str:
        """Return the subscription and the id."""
        return f"subscription {message.subscription!r}, message id {message.message_id!r}"


_READERS: dict[str, Callable[[PubSubMessage], Any]] = {
    "subscription": lambda message: message.subscription,
    "message-id": lambda message: message.message_id,
    "ordering-key": lambda message: message.ordering_key,
    "timestamp": lambda message: message.publish_time,
    "delivery-attempt": lambda message: message.delivery_attempt,
    "headers": lambda message: [(name, text.encode()) for name, text in message.attributes.items()],
}


@dataclass(frozen=True)
class PubSubSubscription(ReceivingScan):
    """The messages of a subscription; one whose id was read before is left out.

    Attributes:
        project: The project.
        subscription: The name of the subscription.
    """

    system: ClassVar[MessageSystem] = PubSubMessages()
    project: PubSubProject
    subscription: str

    def create_receiver(self) -> Receiver:
        """Return the receiver, not connected yet."""
        return _Receiver(self)

    def size(self, message: PubSubMessage) -> int:
        """Return the number of bytes of the data."""
        return len(message.data)


@dataclass(eq=False)
class _Delivery:
    """A message that Pub/Sub leases until a time: then it delivers it again."""

    ack_id: str
    message: PubSubMessage
    renew_at: float = field(default=0.0)


class _Receiver(Receiver):
    """Pull in one thread; acknowledge, and renew leases, in another one."""

    broken = (PubSubAway,)

    def __init__(self, scan: PubSubSubscription) -> None:
        super().__init__()
        self._scan = scan
        self._pulling = PubSubClient(scan.project, reads=True, answer_seconds=_PULL_SECONDS)
        self._keeper: Thread | None = None
        self._taken: list[_Delivery] = []
        #: ids of deliveries to acknowledge
        self._done: deque[str] = deque()
        self._at_once = BlockCount(MOST_PULLED)
        self._seen = SeenIds()

    def connect(self) -> None:
        first = PubSubClient(self._scan.project, reads=True)  # has to answer soon
        try:
            self._pull(first, waits=False)
        except PubSubAway as away:
            raise away.error from None
        finally:
            first.close()
        if self._keeper is None:
            self._keeper = Thread(target=self._keep, name="scurry-pubsub-leases", daemon=True)
            self._keeper.start()

    def receive(self) -> None:
        if self.is_full:
            time.sleep(_KEEP_SECONDS)
            return
        began = time.monotonic()
        # the emulator gives messages to requests whose client is gone
        waits = self._scan.project.emulator is None
        try:
            if not self._pull(self._pulling, waits) and not waits:
                self._closing.wait(_KEEP_SECONDS)
        except PubSubAway:
            if not self._closing.is_set() and time.monotonic() < began + _PULL_SECONDS:
                raise

    def _pull(self, client: PubSubClient, waits: bool) -> int:
        """Receive some messages, and return their number."""
        most = min(self._at_once.messages, MOST_WAITING - self.waiting)
        body = {"maxMessages": max(most, 1), **({} if waits else {"returnImmediately": True})}
        found = client.call("subscriptions", self._scan.subscription, "pull", body)
        now, messages, size = time.monotonic(), found.get("receivedMessages", ()), 0
        for each in messages:
            message = message_of(self._scan.subscription, each)
            size += len(message.data)
            self.received(_Delivery(each["ackId"], message, now + _FIRST_SECONDS))
        self._at_once.came(len(messages), size)
        return len(messages)

    def _keep(self) -> None:
        """Acknowledge, and renew the leases of messages that wait or are not committed; at the end let them go."""
        client = PubSubClient(self._scan.project, reads=True)
        while True:
            ends = self._closing.wait(_KEEP_SECONDS)
            try:
                self._send_acknowledgements(client)
                self._lease(client, 0 if ends else _LEASE_SECONDS)
            except (PubSubAway, ConnectorError):
                pass  # when its lease ends, a message is delivered again, and known by its id
            if ends:
                break
        client.close()

    def _send_acknowledgements(self, client: PubSubClient) -> None:
        while self._done:
            ids = [self._done[at] for at in range(min(len(self._done), MOST_PULLED))]
            try:
                client.call("subscriptions", self._scan.subscription, "acknowledge", {"ackIds": ids})
            except PubSubAway:
                raise  # they are sent again
            except ConnectorError:
                self._drop_acknowledgements(len(ids))
                raise
            self._drop_acknowledgements(len(ids))

    def _drop_acknowledgements(self, count: int) -> None:
        for _ in range(count):
            self._done.popleft()

    def _lease(self, client: PubSubClient, seconds: int) -> None:
        """Lease messages whose time has come for so many seconds, all of them for none."""
        now = time.monotonic()
        held = (*self._messages.copy(), *self._taken.copy())
        due = [each for each in held if each.renew_at <= now or not seconds]
        for begin in range(0, len(due), MOST_PULLED):
            some = due[begin : begin + MOST_PULLED]
            for each in some:
                each.renew_at = now + _RENEW_SECONDS
            body = {"ackIds": [each.ack_id for each in some], "ackDeadlineSeconds": seconds}
            client.call("subscriptions", self._scan.subscription, "modifyAckDeadline", body)

    def failure(self, reason: Exception) -> ConnectorError:
        return reason.error if isinstance(reason, PubSubAway) else self._scan.project.failure(str(reason), True)

    def size(self, message: _Delivery) -> int:
        return len(message.message.data)

    def accepted(self, messages: list[_Delivery]) -> list[PubSubMessage]:
        self._taken += messages
        new = [each.message for each in messages if self._seen.add(each.message.message_id)]
        if messages and not self._seen.unacknowledged:
            self.acknowledge()  # no commit follows what is left out
        return new

    def acknowledge(self) -> None:
        done, self._taken = self._taken, []
        self._done.extend(each.ack_id for each in done)
        self._seen.acknowledged()

    def position(self) -> dict[str, Any]:
        return {"ids": self._seen.listed()}

    def restore(self, position: dict[str, Any]) -> None:
        self._seen.restore(position["ids"])

    def disconnect(self) -> None:
        self._pulling.close()

    def close(self) -> None:
        self._closing.set()
        self._pulling.interrupt()
        super().close()
        if self._keeper is not None:
            self._keeper.join(10)


def message_of(subscription: str, received: Mapping[str, Any]) -> PubSubMessage:
    """Return a message of an answer to `pull`."""
    message = received["message"]
    return PubSubMessage(
        subscription,
        base64.b64decode(message.get("data", "")),
        message.get("attributes", {}),
        message["messageId"],
        message.get("orderingKey", ""),
        round(datetime.fromisoformat(message["publishTime"]).timestamp() * 1000),
        received.get("deliveryAttempt"),
    )
