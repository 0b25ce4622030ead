"""Connections to RabbitMQ: where it is, and the reasons of its errors."""

from __future__ import annotations

import logging
import socket
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.errors import ArgumentError, ConnectorError, SinkConnectionError, SourceConnectionError

#: pika reports each attempt to connect as several errors; silent unless the program sets a level.
_PIKAS_LOGGER = logging.getLogger("pika")
if _PIKAS_LOGGER.level == logging.NOTSET:
    _PIKAS_LOGGER.setLevel(logging.CRITICAL)
_LOGGER = logging.getLogger(__name__)

#: Seconds in which a server has to answer.
ANSWER_SECONDS = 4.0
#: Largest number of messages that may be on their way, which AMQP counts in 16 bits.
MOST_PREFETCHED = 65_535


def pika() -> Any:
    """Return the module `pika`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("RabbitMQ", "pika", "rabbitmq", "pika")


@dataclass(frozen=True)
class Broker:
    """The address of a broker, and its user.

    Attributes:
        host: The name of its machine.
        port: Its port of AMQP.
        virtual_host: The virtual host.
        username: The user.
        password: The user's password; not shown.
        uri: `amqp://user:password@host:port/virtual-host`, instead of these; not shown.
        timeout_seconds: How long it may take to answer.
        heartbeat_seconds: Seconds between heartbeats; None for what the broker suggests.
        frame_max: Largest frame in bytes; None for what the broker suggests.
        channel_max: Largest number of channels; None for what the broker suggests.
    """

    host: str = "localhost"
    port: int = 5672
    virtual_host: str = "/"
    username: str = "guest"
    password: str = field(default="guest", repr=False)
    uri: str | None = field(default=None, repr=False)
    timeout_seconds: float = ANSWER_SECONDS
    heartbeat_seconds: int | None = None
    frame_max: int | None = None
    channel_max: int | None = None

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            ArgumentError: The URI is none.
        """
        if self.uri is not None and not self.uri.startswith(("amqp://", "amqps://")):
            raise ArgumentError("uri: not a URI of AMQP; write amqp://user:password@host:port/virtual-host")

    def parameters(self) -> Any:
        """Return pika's parameters.

        Raises:
            ArgumentError: The URI is none.
            ExtraMissingError: pika is not installed.
        """
        module = pika()
        if self.uri is not None:
            try:
                found = module.URLParameters(self.uri)
            except Exception as error:
                raise ArgumentError(f"uri: {type(error).__name__}: not a URI of AMQP") from None
        else:
            found = module.ConnectionParameters(self.host, self.port, self.virtual_host)
            found.credentials = module.PlainCredentials(self.username, self.password)
        found.connection_attempts = 1
        found.socket_timeout = found.stack_timeout = found.blocked_connection_timeout = self.timeout_seconds
        if self.heartbeat_seconds is not None:
            found.heartbeat = self.heartbeat_seconds
        if self.frame_max:
            found.frame_max = self.frame_max
        if self.channel_max:
            found.channel_max = self.channel_max
        return found

    @property
    def place(self) -> str:
        """Return host and port, for messages."""
        if self.uri is None:
            return f"{self.host}:{self.port}"
        return self.uri.partition("://")[2].rpartition("@")[2]

    def connection(self, reads: bool) -> Any:
        """Return a blocking connection.

        Raises:
            SourceConnectionError: A source cannot connect.
            SinkConnectionError: A sink cannot connect.
        """
        module, parameters = pika(), self.parameters()
        try:
            return module.BlockingConnection(parameters)
        except (module.exceptions.AMQPError, OSError) as error:
            raise self.failure(error, reads) from None

    def failure(self, error: BaseException, reads: bool) -> ConnectorError:
        """Return the error of a source or a sink that cannot talk to the broker."""
        return (SourceConnectionError if reads else SinkConnectionError)(f"RabbitMQ at {self.place}: {reason(error)}")


def reason(error: BaseException) -> str:
    """Return the reason of an error, and the settings to look at."""
    errors = pika().exceptions
    if isinstance(error, errors.ProbableAuthenticationError | errors.AuthenticationError):
        return "it refuses the user; check username and password"
    if isinstance(error, errors.ProbableAccessDeniedError):
        return "it refuses the virtual host; check virtual-host, and that the user may use it"
    if isinstance(error, errors.ChannelClosedByBroker | errors.ConnectionClosedByBroker):
        return f"{error.reply_code} {error.reply_text}"
    if isinstance(error, socket.gaierror):
        return f"{error.strerror}; check host"
    text = _deepest(error)
    return f"{text}; check host and port, and that a broker runs there"


def _deepest(error: BaseException) -> str:
    """Return the innermost reason that pika has wrapped."""
    for inner in (*error.args, error.__cause__):
        while isinstance(inner, BaseException):
            inner = getattr(inner, "exception", None) or _described(inner)
        if isinstance(inner, str) and inner:
            return inner
    return str(error) or "it does not answer"


def _described(error: BaseException) -> Any:
    first = error.args[0] if error.args else None
    return first if isinstance(first, BaseException) else (str(error) or type(error).__name__)


def open_queue(connection: Any, queue: str, arguments: dict[str, Any] | None, *, again: bool = False) -> Any:
    """Return a channel of a connection, on which a queue is declared.

    A queue that is there is taken as it is. One that is not is made, durable, as Flink makes it.

    Args:
        connection: The connection.
        queue: The queue.
        arguments: Its arguments, if it is made.
        again: Whether it was there before the connection broke: a warning says if it is not.

    Raises:
        AMQPError: The broker refuses.
    """
    errors = pika().exceptions
    channel = connection.channel()
    try:
        channel.queue_declare(queue, passive=True)
    except errors.ChannelClosedByBroker as error:
        if error.reply_code != 404:
            raise
        if again:
            _LOGGER.warning(
                "RabbitMQ: queue %r is gone, with the messages that the broker had confirmed: the broker has forgotten "
                "it, or it was deleted; it is made again",
                queue,
            )
        channel = connection.channel()
        channel.queue_declare(queue, durable=True, arguments=arguments)
    return channel
