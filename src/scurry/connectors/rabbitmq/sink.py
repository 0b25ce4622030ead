"""RabbitSink: publishes records to a queue or an exchange, and waits for the broker's confirms."""

from __future__ import annotations

import threading
import time
from typing import Any, TypeAlias

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.rabbitmq.client import Broker, open_queue, pika, reason
from scurry.connectors.rabbitmq.numbered import STREAM_PORT, StreamDelivery
from scurry.connectors.sink import COUNTED, RETRIES, Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.staging import StagingCommitter, StagingWriter
from scurry.errors import SinkConnectionError

#: Limit of the messages that wait for their confirm; the task waits while there are more.
MOST_UNCONFIRMED = 10_000
_PERSISTENT = 2
#: Pause between attempts to connect again, in seconds.
_PAUSE_SECONDS = 0.25

#: Exchange, routing key, properties, body.
_Message: TypeAlias = tuple[str, str, Any, bytes]


@dataclass(frozen=True)
class RabbitSink(Sink):
    """Publish persistent messages.

    At least once: a batch is not committed before the broker has confirmed all of its messages. A repeated batch is
    published again.

    Exactly once, into a stream: the driver stages the records of a micro-batch, then publishes them with numbers, and
    the stream drops those that it has.

    Attributes:
        broker: Address of the queue's broker.
        serializer: Serializes the records.
        queue: The queue, made if it is not there; None to publish to an exchange.
        exchange: The exchange; empty for the default one, which delivers to the queue of the routing key.
        routing_key: The routing key; None for the name of the queue.
        stream: Whether the queue is made as a stream.
        staging: The directory of staged records; None for at least once.
        stream_port: The port of the protocol of streams, for exactly once.
    """

    broker: Broker
    serializer: RecordSerializer
    queue: str | None
    exchange: str = ""
    routing_key: str | None = None
    stream: bool = False
    staging: str | None = None
    stream_port: int = STREAM_PORT

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that publishes, or for exactly once one that serializes for the committer."""
        return StagingWriter(self.serializer) if self.staging is not None else _Writer(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that stages and publishes for exactly once, else one that has nothing to do."""
        if self.staging is None:
            return super().create_committer(sink_id)
        return StagingCommitter(
            self.staging, sink_id, lambda name: StreamDelivery(self.broker, self.stream_port, f"scurry-{name}")
        )


class _Writer(SinkWriter):
    def __init__(self, sink: RabbitSink) -> None:
        self._sink = sink
        self._key = (sink.broker, sink.queue, sink.stream)
        self._publisher = PUBLISHERS.take(self._key, lambda: Publisher(*self._key))
        self._done = False

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        sink = self._sink
        key = sink.routing_key if sink.routing_key is not None else (sink.queue or "")
        self._publisher.send(sink.exchange, key, sink.serializer.records(values, timestamps))

    def prepare_commit(self) -> list[Any]:
        self._publisher.flush()
        self._done = True
        PUBLISHERS.give(self._key, self._publisher)
        return []

    def abort(self) -> None:
        if not self._done:  # otherwise it is back in the pool
            self._publisher.close()


class Publisher:
    """Publish messages over one connection at a time.

    If the connection breaks, all that is not confirmed is published again over a new one.
    """

    def __init__(self, broker: Broker, queue: str | None, stream: bool) -> None:
        """Connect.

        Raises:
            SinkConnectionError: The broker cannot be reached, or refuses.
        """
        self._broker, self._queue, self._stream = broker, queue, stream
        self._session = self._connected(again=False)

    def _connected(self, again: bool) -> _Session:
        connection = self._broker.connection(reads=False)
        try:
            if self._queue is not None:
                arguments = {"x-queue-type": "stream"} if self._stream else None
                open_queue(connection, self._queue, arguments, again=again)
        except pika().exceptions.AMQPError as error:
            raise self._broker.failure(error, reads=False) from None
        finally:
            if connection.is_open:
                connection.close()
        return _Session(self._broker)

    def send(self, exchange: str, routing_key: str, records: list[ProducerRecord]) -> None:
        """Publish messages, without waiting for their confirms.

        Raises:
            SinkConnectionError: The broker has refused some, or is away for too long.
        """
        properties = pika().BasicProperties
        messages = [
            (
                exchange,
                routing_key,
                properties(
                    delivery_mode=_PERSISTENT,
                    timestamp=time_ms // 1000 if time_ms else None,
                    correlation_id=None if key is None else key.decode("utf-8", "replace"),
                    headers=dict(headers) if headers else None,
                ),
                value or b"",
            )
            for _, key, value, time_ms, headers in records
        ]
        half = MOST_UNCONFIRMED // 2
        for first in range(0, len(messages), half):
            self._wait(half)
            self._session.publish(messages[first : first + half])

    def flush(self) -> None:
        """Wait until the broker has confirmed all messages.

        Raises:
            SinkConnectionError: It has refused some, or is away for too long.
        """
        self._wait(0)

    def _wait(self, most: int) -> None:
        fewest, give_up = MOST_UNCONFIRMED + 1, 0.0
        while not self._session.wait(most):
            if len(self._session.waiting) < fewest:
                fewest, give_up = len(self._session.waiting), time.monotonic() + PATIENCE_SECONDS
            elif time.monotonic() > give_up:  # connections break, one after the other, and none confirms anything
                raise self._session.failure()
            try:
                session = self._connected(again=True)
            except SinkConnectionError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(_PAUSE_SECONDS)
                continue
            COUNTED.get()(RETRIES, len(self._session.waiting))
            session.publish(list(self._session.waiting.values()))
            self._session.close()
            self._session = session

    def close(self) -> None:
        """Close the connection."""
        self._session.close()


class _Session:
    """A connection that publishes in a thread of its own, and the messages without a confirm yet."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._changed = threading.Condition()
        self._broken: str | None = None
        self._refusal: str | None = None
        self._channel: Any = None
        self._tag = 0
        #: by their tags
        self.waiting: dict[int, _Message] = {}
        self._connection = pika().SelectConnection(
            broker.parameters(),
            on_open_callback=lambda connection: connection.channel(on_open_callback=self._opened),
            on_open_error_callback=self._ended,
            on_close_callback=self._ended,
        )
        threading.Thread(target=self._run, name="scurry-rabbitmq", daemon=True).start()
        with self._changed:
            self._changed.wait_for(lambda: self._channel is not None or self._broken, broker.timeout_seconds)
        if self._channel is None:
            self.close()
            raise self.failure()

    def _error(self, why: str) -> SinkConnectionError:
        return SinkConnectionError(f"RabbitMQ at {self._broker.place}: {why}")

    def failure(self) -> SinkConnectionError:
        """Return the error of a connection that broke, or did not come about."""
        return self._error(self._broken or "it does not answer; check host and port")

    def _run(self) -> None:
        try:
            self._connection.ioloop.start()
        except Exception as error:
            self._breaks(error)
        self._connection.ioloop.close()

    def _ended(self, connection: Any, error: Any) -> None:
        self._breaks(error)
        connection.ioloop.stop()  # otherwise its thread stays

    def _opened(self, channel: Any) -> None:
        channel.add_on_close_callback(lambda _, error: self._breaks(error))
        channel.add_on_return_callback(lambda _, method, *rest: self._returned(method))
        channel.confirm_delivery(self._confirmed, callback=lambda _: self._note(channel=channel))

    def _note(self, channel: Any = None, broken: str | None = None, refusal: str | None = None) -> None:
        with self._changed:
            self._channel = self._channel or channel
            self._broken = self._broken or broken
            self._refusal = self._refusal or refusal
            self._changed.notify_all()

    def _breaks(self, error: Any) -> None:
        errors = pika().exceptions
        permanent = isinstance(error, errors.ChannelClosedByBroker)  # such as an exchange that is not there
        self._note(**{"refusal" if permanent else "broken": reason(error)})

    def _returned(self, method: Any) -> None:
        self._note(
            refusal=f"no queue takes messages of exchange {method.exchange!r} with routing key "
            f"{method.routing_key!r}; bind one, or set routing-key"
        )

    def _confirmed(self, frame: Any) -> None:
        method = frame.method
        if method.NAME == "Basic.Nack":
            self._note(refusal="the queue refuses messages (nack); it may be full")
            return
        with self._changed:
            if method.multiple:
                while self.waiting and (first := next(iter(self.waiting))) <= method.delivery_tag:
                    del self.waiting[first]
            else:
                self.waiting.pop(method.delivery_tag, None)
            self._changed.notify_all()

    def publish(self, messages: list[_Message]) -> None:
        with self._changed:
            tags = range(self._tag + 1, self._tag + len(messages) + 1)
            self.waiting.update(zip(tags, messages, strict=True))
            self._tag += len(messages)
        channel = self._channel

        errors = pika().exceptions

        def send() -> None:  # in the thread of the connection
            try:
                if channel.is_open:
                    for exchange, key, properties, body in messages:
                        channel.basic_publish(exchange, key, body, properties, mandatory=True)
            except (errors.AMQPConnectionError, errors.AMQPChannelError) as error:
                self._breaks(error)
            except Exception as error:  # it would come again over every connection
                self._note(refusal=f"a message cannot be written: {type(error).__name__}: {error}")

        self._connection.ioloop.add_callback_threadsafe(send)

    def wait(self, most: int) -> bool:
        """Wait until no more than so many messages are unconfirmed; return False if the connection breaks.

        Raises:
            SinkConnectionError: The broker has refused messages.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self.waiting) <= most or self._broken or self._refusal)
            if self._refusal is not None:
                raise self._error(self._refusal)
            return len(self.waiting) <= most and self._broken is None

    def close(self) -> None:
        connection = self._connection
        end = lambda: connection.close() if connection.is_open else connection.ioloop.stop()  # noqa: E731
        connection.ioloop.add_callback_threadsafe(end)


#: The pool of this process's publishers.
PUBLISHERS: ClientPool[Publisher] = ClientPool()
