"""Queues and streams of RabbitMQ as scans of messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageSystem
from scurry.connectors.queues import receiving
from scurry.connectors.queues.receiving import MOST_WAITING, Receiver, ReceivingScan, Renewal, SeenIds
from scurry.connectors.rabbitmq.client import ANSWER_SECONDS, Broker, open_queue, pika
from scurry.connectors.rabbitmq.consumer import Consumer
from scurry.connectors.rabbitmq.deliveries import Delivery
from scurry.connectors.rabbitmq.messages import OFFSET, RabbitMessages, RMQMessage
from scurry.errors import ConnectorError, MalformedRecordError, SourceConnectionError, SourceNotFoundError

#: Seconds for which the thread waits for messages at once.
_WAIT_SECONDS = 0.05
#: Messages that may wait for their acknowledgement until their size is known.
FIRST_PREFETCH = 256


@dataclass(frozen=True)
class RabbitQueue(ReceivingScan):
    """The messages of a queue, or of a stream.

    Attributes:
        broker: Address of the queue's broker.
        queue: Its name.
        correlation_ids: Whether a message whose correlation id was read before is left out.
        prefetch: How many messages may wait for their acknowledgement; None for as many as their size allows.
        start: Start of a stream: `first`, `last`, `next`, an offset, or milliseconds as `timestamp:N`; None for a
            queue.
    """

    system: ClassVar[MessageSystem] = RabbitMessages()
    broker: Broker
    queue: str
    correlation_ids: bool = False
    prefetch: int | None = None
    start: str | int | None = None

    def create_receiver(self) -> Receiver:
        """Return the receiver, not connected yet."""
        return _Receiver(self) if self.start is None else _StreamReceiver(self)

    def size(self, message: RMQMessage) -> int:
        """Return the number of bytes of the body."""
        return len(message.body)


class Window:
    """The number of messages that a broker sends before it waits for acknowledgements, by the size of the messages.

    A consumer's number is fixed when it begins: another one needs another connection.
    """

    def __init__(self) -> None:
        self.messages = FIRST_PREFETCH

    def changes(self, messages: int, size: int) -> bool:
        """Return whether another number of messages suits better those that have come, and take it.

        Args:
            messages: The number of messages that have come since the last acknowledgement.
            size: Their bytes.
        """
        if not messages:
            return False
        suits = max(1, min(MOST_WAITING, receiving.MOST_WAITING_BYTES * messages // max(size, 1)))
        is_narrow = messages >= self.messages * 0.9 and suits >= 2 * self.messages
        is_wide = size > receiving.MOST_WAITING_BYTES and 2 * suits <= self.messages
        if is_narrow or is_wide:
            self.messages = suits
        return is_narrow or is_wide


class _Receiver(Receiver):
    def __init__(self, scan: RabbitQueue) -> None:
        super().__init__()
        self._scan = scan
        module = pika()
        self.broken = (module.exceptions.AMQPError, OSError)
        self._consumer: Consumer | None = None
        #: whether the queue was there
        self._was_there = False
        #: counts connections: tags belong to one
        self._number = 0
        self._taken: tuple[int, int] = (0, 0)
        self._window = None if scan.prefetch else Window()
        #: messages and bytes that were taken since the last acknowledgement
        self._came_since, self._bytes_since = 0, 0
        #: whether the messages that come belong to a connection that is given up, and whether it has had its last
        #: acknowledgements
        self._renewing, self._acknowledged = False, False
        self._seen = SeenIds(scan.prefetch or MOST_WAITING)

    def connect(self) -> None:
        scan = self._scan
        self._number += 1
        try:
            self._open()
            self._was_there = True
            self._renewing = self._acknowledged = False
            self._consumer = Consumer(scan.broker, scan.queue, self._number, self._came)
            self._consumer.begin(self._prefetch(), self._arguments())
        except (SourceNotFoundError, SourceConnectionError):
            self.disconnect()
            raise
        except self.broken as error:
            failed = scan.broker.failure(error, reads=True)
            self.disconnect()
            raise failed from None

    def _open(self) -> None:
        """Look for the queue, or make it."""
        connection = self._scan.broker.connection(reads=True)
        try:
            self._check(connection)
        finally:
            _close(connection)

    def _check(self, connection: Any) -> None:
        open_queue(connection, self._scan.queue, None, again=self._was_there)

    def _prefetch(self) -> int:
        return self._window.messages if self._window is not None else self._scan.prefetch or MOST_WAITING

    def _arguments(self) -> dict[str, Any] | None:
        return None

    def receive(self) -> None:
        assert self._consumer is not None
        self._consumer.run(_WAIT_SECONDS)
        if self._acknowledged:
            raise Renewal

    def failure(self, reason: Exception) -> ConnectorError:
        return self._scan.broker.failure(reason, reads=True)

    def _came(self, deliveries: list[Delivery]) -> None:
        if not self._renewing:  # else they come again
            self.received_together(deliveries)

    def size(self, message: Delivery) -> int:
        return len(message[2].body)

    def take(self, most: int, most_bytes: int) -> list[Any]:
        """Return received messages; none while another connection is made, on which those that wait come again."""
        if self._renewing and self._error is None:
            return []
        return super().take(most, most_bytes)

    def accepted(self, messages: list[Delivery]) -> list[RMQMessage]:
        if messages:
            self._taken = messages[-1][:2]
            self._note(messages)
        found = [message for _, _, message in messages]
        if not self._scan.correlation_ids:
            return found
        new = [message for message in found if self._is_new(message)]
        if found and not self._seen.unacknowledged:
            self.acknowledge()  # no commit follows what is left out, and the broker may wait for it
        return new

    def _is_new(self, message: RMQMessage) -> bool:
        if message.correlation_id is None:
            raise MalformedRecordError(
                RabbitMessages().place(message),
                None,
                message.body.decode("utf-8", "replace"),
                "it has no correlation id, which exactly-once reading needs",
            ).with_hint("publish messages with a unique correlation_id, or set use_correlation_id to False")
        return self._seen.add(message.correlation_id)

    def _note(self, messages: list[Delivery]) -> None:
        self._came_since += len(messages)
        self._bytes_since += sum(map(self.size, messages))

    def acknowledge(self) -> None:
        number, tag = self._taken
        if number == self._number and tag and not self._renewing:
            self._acknowledge(number, tag)
        self._taken = (0, 0)
        self._seen.acknowledged()

    def _acknowledge(self, number: int, tag: int) -> None:
        """Acknowledge messages; all that were taken, so that another connection brings none of them again."""
        messages, size = self._came_since + self.waiting, self._bytes_since + self._bytes
        self._came_since = self._bytes_since = 0
        if self._window is not None and self._window.changes(messages, size):
            self._renewing = True
            self.forget()

        def sent() -> None:
            if number == self._number:
                self._acknowledged = self._renewing

        consumer = self._consumer  # may be replaced meanwhile
        if consumer is not None and consumer.number == number:
            consumer.acknowledge(tag, sent)

    def position(self) -> dict[str, Any]:
        return {"ids": self._seen.listed()}

    def restore(self, position: dict[str, Any]) -> None:
        self._seen.restore(position["ids"])

    def disconnect(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


def _close(connection: Any) -> None:
    try:
        connection.close()
    except Exception:
        pass  # it is closed already


class _StreamReceiver(_Receiver):
    """Receive a stream, whose offsets are the position; its acknowledgements only let the broker send more."""

    def __init__(self, scan: RabbitQueue) -> None:
        super().__init__(scan)
        self._next: int | None = None

    def _check(self, connection: Any) -> None:
        open_queue(connection, self._scan.queue, {"x-queue-type": "stream"}, again=self._was_there)
        if self._next is not None:
            self._check_kept(self._next)

    def _check_kept(self, wanted: int) -> None:
        """Raise an error if the broker has deleted messages that are not read."""
        # its own connection: at the end the client returns messages, for which brokers end the connection
        connection = self._scan.broker.connection(reads=True)
        try:
            self._compare(connection.channel(), wanted)
        finally:
            _close(connection)

    def _compare(self, channel: Any, wanted: int) -> None:
        channel.basic_qos(prefetch_count=1)
        first = {OFFSET: "first"}
        for method, properties, _ in channel.consume(
            self._scan.queue, arguments=first, inactivity_timeout=ANSWER_SECONDS / 4
        ):
            if method is not None and properties.headers[OFFSET] > wanted:
                raise SourceNotFoundError(
                    f"stream {self._scan.queue!r} at {self._scan.broker.place}: the message at offset {wanted} was "
                    f"deleted before it was read, the first one that is left has offset {properties.headers[OFFSET]}; "
                    "raise x-max-age or x-max-length-bytes of the stream, and start the job without its checkpoint"
                )
            break

    def _arguments(self) -> dict[str, Any]:
        start = self._scan.start if self._next is None else self._next
        if isinstance(start, str) and start.startswith("timestamp:"):
            return {OFFSET: datetime.fromtimestamp(int(start[10:]) / 1000, UTC)}
        return {OFFSET: start}

    def accepted(self, messages: list[Delivery]) -> list[RMQMessage]:
        if messages:
            self._note(messages)
        taken = [message for _, _, message in messages if self._next is None or (message.offset or 0) >= self._next]
        if taken:
            self._next = (taken[-1].offset or 0) + 1
        if messages:
            self._acknowledge(*messages[-1][:2])
        return taken

    def acknowledge(self) -> None:
        return

    def position(self) -> dict[str, Any]:
        return {"next": self._next}

    def restore(self, position: dict[str, Any]) -> None:
        self._next = position["next"]
