"""Messages with publishing ids, over the protocol of streams: a stream drops those that it has."""

from __future__ import annotations

import logging
from asyncio import Condition
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from scurry.common._optional import optional_module
from scurry.connectors.kafka.serializer import ProducerRecord
from scurry.connectors.queues.event_loop import EventLoop
from scurry.connectors.queues.positions import patiently
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.rabbitmq.client import ANSWER_SECONDS, Broker, open_queue, pika
from scurry.connectors.staging import Delivery, Numbered
from scurry.errors import SinkConnectionError

T = TypeVar("T")

#: The port of the protocol of streams, which the plugin rabbitmq_stream opens.
STREAM_PORT = 5552
#: Messages that are published before their confirms are waited for.
MOST_UNCONFIRMED = 10_000
#: Bytes of a frame besides its messages, and of a message besides its content.
_FRAME_OVERHEAD, _MESSAGE_OVERHEAD = 64, 32
#: Bytes of the largest frame that is asked for.
LARGEST_FRAME = 1024 * 1024
_HEARTBEAT_SECONDS = 60
#: The only publisher of a connection.
_PUBLISHER = 0

#: rstream reports connections that break, which the calls raise, too; silent unless the program sets a level.
_LOGGER = logging.getLogger("rstream")
if _LOGGER.level == logging.NOTSET:
    _LOGGER.setLevel(logging.CRITICAL)


def rstream() -> Any:
    """Return the module `rstream`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    parts = ("rstream._pyamqp.message", "rstream.client", "rstream.connection", "rstream.exceptions", "rstream.schema")
    return optional_module("Exactly once into streams of RabbitMQ", "rstream", "rabbitmq", "rstream", *parts)


class StreamDelivery(Delivery):
    """Publish staged records to a stream with their numbers, which the stream keeps for each name of a publisher."""

    def __init__(self, broker: Broker, port: int, name: str) -> None:
        """Connect with the first records.

        Args:
            broker: The broker.
            port: Its port of the protocol of streams.
            name: The name of the publisher.
        """
        self._broker, self._port, self._name = broker, port, name
        self._session: _Session | None = None
        self._answered = False

    def send(self, topic: str, records: Sequence[Numbered]) -> None:
        """Publish records, and wait until the stream has them.

        Raises:
            SinkConnectionError: The broker is away for too long, or refuses.
        """
        patiently(lambda: self._send(topic, records), PATIENCE_SECONDS if self._answered else 0.0)
        self._answered = True

    def _send(self, stream: str, records: Sequence[Numbered]) -> None:
        try:
            if self._session is None:
                self._declare(stream)
                self._session = _Session(self._broker, self._port, stream, self._name)
            for first in range(0, len(records), MOST_UNCONFIRMED):
                self._session.publish(records[first : first + MOST_UNCONFIRMED])
        except BaseException:
            self.close()
            raise

    def _declare(self, stream: str) -> None:
        connection = self._broker.connection(reads=False)
        try:
            open_queue(connection, stream, {"x-queue-type": "stream"}, again=self._answered)
        except pika().exceptions.AMQPError as error:
            raise self._broker.failure(error, reads=False) from None
        finally:
            if connection.is_open:
                connection.close()

    def close(self) -> None:
        """Close the connection."""
        session, self._session = self._session, None
        if session is not None:
            session.close()


class _Session:
    """A connection that publishes to one stream."""

    def __init__(self, broker: Broker, port: int, stream: str, name: str) -> None:
        self._broker, self._port, self._stream, self._name = broker, port, stream, name
        self._module = rstream()
        self._loop = EventLoop("scurry-rabbitmq-stream")
        self._client: Any = None
        self._confirmed = 0
        self._broken: str | None = None
        try:
            self._run(self._connect(), ANSWER_SECONDS * 2)
        except BaseException:
            self.close()
            raise

    def _run(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        errors = self._module.exceptions
        broken = (errors.ServerError, errors.ClientError, self._module.connection.ConnectionClosed, OSError)
        try:
            return self._loop.run(work, seconds)
        except TimeoutError:
            raise self._failure("it does not answer") from None
        except broken as error:
            raise self._failure(f"{type(error).__name__} {error}".strip()) from None

    def _failure(self, why: str) -> SinkConnectionError:
        host = self._broker.parameters().host
        return SinkConnectionError(
            f"RabbitMQ's streams at {host}:{self._port}: {why}; check the port of streams, that the plugin "
            f"rabbitmq_stream is enabled, and that {self._stream!r} is a stream"
        )

    async def _connect(self) -> None:
        given, schema = self._broker.parameters(), self._module.schema
        self._changed = Condition()
        self._client = self._module.client.Client(
            given.host,
            self._port,
            ssl_context=given.ssl_options.context if given.ssl_options is not None else None,
            frame_max=LARGEST_FRAME,
            heartbeat=_HEARTBEAT_SECONDS,
            connection_name="scurry",
            connection_closed_handler=lambda _: self._note(broken="the connection broke"),
        )
        await self._client.start()
        await self._client.authenticate(given.virtual_host, given.credentials.username, given.credentials.password)
        self._client.add_stream(self._stream)  # otherwise the end of the connection is not reported
        self._client.add_handler(schema.PublishConfirm, self._heard, "confirms")
        self._client.add_handler(schema.PublishError, self._refused, "errors")
        await self._client.declare_publisher(self._stream, self._name, _PUBLISHER)

    async def _note(self, confirmed: int = 0, broken: str | None = None) -> None:
        async with self._changed:
            self._confirmed += confirmed
            self._broken = self._broken or broken
            self._changed.notify_all()

    def _heard(self, frame: Any) -> Coroutine[Any, Any, None]:
        return self._note(confirmed=len(frame.publishing_ids))

    def _refused(self, frame: Any) -> Coroutine[Any, Any, None]:
        return self._note(broken=f"a message was refused (code {frame.errors[0].response_code})")

    def publish(self, records: Sequence[Numbered]) -> None:
        self._run(self._published(records), PATIENCE_SECONDS)

    async def _published(self, records: Sequence[Numbered]) -> None:
        wanted = self._confirmed + len(records)
        schema, largest = self._module.schema, self._client.frame_max - _FRAME_OVERHEAD
        frame: list[Any] = []
        size = 0
        for number, record in records:
            data = self._encoded(record)
            if len(data) + _MESSAGE_OVERHEAD > largest:
                raise SinkConnectionError(
                    f"stream {self._stream!r} of RabbitMQ: a message of {len(data)} bytes is larger than the broker's "
                    f"frames of {self._client.frame_max} bytes; raise stream.frame_max of the broker, at most "
                    f"{LARGEST_FRAME}"
                )
            if size + len(data) + _MESSAGE_OVERHEAD > largest:
                await self._client.send_publish_frame(schema.Publish(_PUBLISHER, frame))
                frame, size = [], 0
            frame.append(schema.Message(number, None, data))
            size += len(data) + _MESSAGE_OVERHEAD
        await self._client.send_publish_frame(schema.Publish(_PUBLISHER, frame))
        async with self._changed:
            await self._changed.wait_for(lambda: self._confirmed >= wanted or self._broken)
        if self._broken is not None:
            raise self._failure(self._broken)

    def _encoded(self, record: ProducerRecord) -> bytes:
        _, key, value, time_ms, headers = record
        message = self._module._pyamqp.message
        return bytes(
            self._module.AMQPMessage(
                body=value or b"",
                properties=message.Properties(
                    correlation_id=None if key is None else key.decode("utf-8", "replace"),
                    creation_time=time_ms if time_ms > 0 else None,
                ),
                application_properties=dict(headers) if headers else None,
            )
        )

    def close(self) -> None:
        if self._client is not None:
            try:
                self._run(self._client.close(), ANSWER_SECONDS)
            except Exception:
                pass  # it is broken, so there is nothing to say to the broker
        self._loop.stop()
