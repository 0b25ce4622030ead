"""A connection of pika's with one consumer, whose deliveries come in blocks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from scurry.common._optional import optional_module
from scurry.connectors.rabbitmq.client import Broker, pika
from scurry.connectors.rabbitmq.deliveries import Delivery, DeliveryDecoder

#: The tag of the consumer, which every delivery carries: a short one.
_TAG = "s"
#: A frame that tells pika that the broker is there, and seconds between two of them while only deliveries come.
_HEARTBEAT, _HEARTBEAT_SECONDS = b"\x08\0\0\0\0\0\0\xce", 1.0


class Consumer:
    """Receives a queue over a connection of its own, in the thread that calls `run`.

    pika connects and speaks all of AMQP but deliveries, which it is not shown: the data of the socket passes a decoder.

    Attributes:
        number: The number of the connection.
    """

    def __init__(self, broker: Broker, queue: str, number: int, came: Callable[[list[Delivery]], None]) -> None:
        """Connect to nothing yet.

        Args:
            broker: The broker.
            queue: The queue.
            number: The number of the connection.
            came: Called with deliveries.
        """
        self.number = number
        self._broker, self._queue = broker, queue
        self._decoder, self._came = DeliveryDecoder(queue, number), came
        self._loop = optional_module("RabbitMQ", "pika", "rabbitmq", "pika.adapters.select_connection").IOLoop()
        self._connection: Any = None
        self._channel: Any = None
        self._reason: BaseException | None = None
        self._begun = self._ended = False

    def begin(self, prefetch: int, arguments: dict[str, Any] | None) -> None:
        """Connect, and consume the queue.

        Args:
            prefetch: How many messages may wait for their acknowledgement.
            arguments: The arguments of the consumer.

        Raises:
            AMQPError: The broker refuses.
        """

        def opened(channel: Any) -> None:
            channel.add_on_close_callback(self._left)
            channel.add_on_cancel_callback(lambda _: self._stopped("the broker has ended the delivery"))
            channel.basic_qos(prefetch_count=prefetch)
            channel.basic_consume(self._queue, _unexpected, consumer_tag=_TAG, arguments=arguments, callback=begun)

        def begun(_: Any) -> None:
            self._begun = True
            self._loop.stop()

        def connected(connection: Any) -> None:
            self._channel = connection.channel(on_open_callback=opened)

        self._connection = pika().SelectConnection(
            self._broker.parameters(),
            on_open_callback=connected,
            on_open_error_callback=self._closed,
            on_close_callback=self._closed,
            custom_ioloop=_services(self._loop, self._others),
        )
        while not self._begun:
            self._run()

    def run(self, seconds: float) -> None:
        """Receive for a while.

        Raises:
            AMQPError: The connection is broken, or the broker has ended the delivery.
        """
        self._loop.call_later(seconds, self._loop.stop)
        self._run()

    def _run(self) -> None:
        if self._reason is None:
            self._loop.start()
        if self._reason is not None:
            raise self._reason

    def acknowledge(self, tag: int, then: Callable[[], None]) -> None:
        """Acknowledge the messages up to one, in the thread that receives; safe in any thread.

        Args:
            tag: The tag of its delivery.
            then: Called there afterwards.
        """

        def send() -> None:
            if self._channel.is_open:
                self._channel.basic_ack(tag, multiple=True)
            then()

        self._loop.add_callback_threadsafe(send)

    def close(self) -> None:
        """End the connection, behind the acknowledgements; it may be broken."""

        def close() -> None:
            if self._connection.is_open:
                self._connection.close()

        self._loop.add_callback_threadsafe(close)  # callbacks keep their order
        until = time.monotonic() + self._broker.timeout_seconds
        while self._connection is not None and not self._ended and time.monotonic() < until:
            self._loop.call_later(max(until - time.monotonic(), 0), self._loop.stop)
            self._loop.start()
        self._loop.close()

    def _others(self, data: bytes) -> bytes:
        """Pass deliveries on; return the rest of the data."""
        deliveries, others = self._decoder.decode(data)
        if deliveries:
            self._came(deliveries)
        return others

    def _closed(self, _: Any, reason: BaseException) -> None:
        self._ended = True
        self._left(None, reason)

    def _left(self, _: Any, reason: BaseException) -> None:
        """Note why the channel or the connection is closed."""
        inner = getattr(reason, "exceptions", (reason,))[-1]  # of all steps of connecting
        inner = getattr(inner, "exception", inner)  # of one
        if isinstance(inner, pika().exceptions.AMQPError):
            self._reason = self._reason or inner
            self._loop.stop()
        else:
            self._stopped(inner)

    def _stopped(self, reason: Any) -> None:
        self._reason = self._reason or pika().exceptions.AMQPChannelError(reason)
        self._loop.stop()


def _unexpected(*_: Any) -> None:
    raise AssertionError("pika has got a delivery")


class _Protocol:
    """Stands between a connection's socket and pika, and hides deliveries."""

    def __init__(self, inner: Any, others: Callable[[bytes], bytes]) -> None:
        self.inner, self._others = inner, others
        self.connection_made, self.connection_lost = inner.connection_made, inner.connection_lost
        self.eof_received = inner.eof_received
        self._shown = time.monotonic()

    def data_received(self, data: bytes) -> None:
        others, now = self._others(data), time.monotonic()
        if not others and now > self._shown + _HEARTBEAT_SECONDS:
            others = _HEARTBEAT
        if others:
            self._shown = now
            self.inner.data_received(others)


def _services(loop: Any, others: Callable[[bytes], bytes]) -> Any:
    """Return pika's services of an event loop, whose connections show pika only the data that `others` returns."""
    module = optional_module("RabbitMQ", "pika", "rabbitmq", "pika.adapters.utils.selector_ioloop_adapter")

    class Services(module.SelectorIOServicesAdapter):  # type: ignore[misc,name-defined]
        def create_streaming_connection(
            self,
            protocol_factory: Callable[[], Any],
            sock: Any,
            on_done: Callable[[Any], None],
            ssl_context: Any = None,
            server_hostname: str | None = None,
        ) -> Any:
            def done(result: Any) -> None:
                on_done((result[0], result[1].inner) if isinstance(result, tuple) else result)

            def protocol() -> Any:
                return _Protocol(protocol_factory(), others)

            return super().create_streaming_connection(protocol, sock, done, ssl_context, server_hostname)

    return Services(loop)
