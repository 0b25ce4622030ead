"""Connections to NATS, whose client is asynchronous: it runs in a thread with an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import field
from typing import Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.connectors.queues.event_loop import EventLoop
from scurry.errors import (
    ConnectorError,
    SinkConnectionError,
    SourceConnectionError,
    SourceNotFoundError,
)

T = TypeVar("T")

#: Seconds in which a server has to answer.
ANSWER_SECONDS = 4.0


def nats_module() -> Any:
    """Return the module `nats`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("NATS", "nats-py", "nats", "nats", "nats.js.api", "nats.js.errors")


@dataclass(frozen=True)
class NatsServer:
    """The address of servers; picklable.

    Attributes:
        servers: `nats://host:port`, or several with commas.
        username: The user.
        password: The user's password; not shown.
        token: A token instead of both; not shown.
    """

    servers: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """Return the addresses without users and passwords, for messages."""
        addresses = []
        for each in self.servers.split(","):
            scheme, separator, rest = each.strip().rpartition("://")
            addresses.append(f"{scheme}{separator}{rest.rpartition('@')[2]}")
        return ",".join(addresses)

    def failure(self, error: BaseException, reads: bool) -> ConnectorError:
        """Return the error of a source or a sink."""
        errors = nats_module().errors
        text = str(error) or type(error).__name__
        if isinstance(error, errors.AuthorizationError) or "authorization" in text.lower():
            why = f"it refuses the user ({text}); check username, password and token"
        elif isinstance(error, nats_module().js.errors.ServiceUnavailableError):
            why = "JetStream is not enabled there; start the server with -js"
        elif isinstance(error, nats_module().js.errors.APIError):
            why = error.description or text
        else:
            why = f"{text.removeprefix('nats: ')}; check servers, and that one runs there"
        return (SourceConnectionError if reads else SinkConnectionError)(f"NATS at {self.place}: {why}")


class NatsClient:
    """A connection, used by one thread at a time."""

    def __init__(self, server: NatsServer, reads: bool) -> None:
        """Connect.

        Raises:
            SourceConnectionError: A source cannot connect.
            SinkConnectionError: A sink cannot.
        """
        self._server, self._reads = server, reads
        self._loop = EventLoop("scurry-nats")
        self._connection: Any = None
        try:
            self.run(self._connect(), ANSWER_SECONDS * 2)
        except BaseException:
            self._loop.stop()
            raise

    async def _connect(self) -> None:
        given = {"user": self._server.username, "password": self._server.password, "token": self._server.token}
        self._connection = await nats_module().connect(
            [each.strip() for each in self._server.servers.split(",")],
            connect_timeout=ANSWER_SECONDS / 2,
            allow_reconnect=False,
            error_cb=_unheard,
            **{name: value for name, value in given.items() if value is not None},
        )
        self.jetstream = self._connection.jetstream(timeout=ANSWER_SECONDS)

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 60.0) -> T:
        """Return the result of a coroutine.

        Raises:
            SourceConnectionError: A source cannot talk to the server.
            SinkConnectionError: A sink cannot.
            SourceNotFoundError: There is no such stream.
        """
        try:
            return self._loop.run(work, seconds)
        except nats_module().js.errors.NotFoundError as error:
            raise SourceNotFoundError(f"NATS at {self._server.place}: {error.description}; check stream") from None
        except (nats_module().errors.Error, OSError, TimeoutError) as error:
            raise self._server.failure(error, self._reads) from None

    def close(self) -> None:
        """Close the connection."""
        try:
            self.run(self._connection.close(), ANSWER_SECONDS)
        except ConnectorError:
            pass  # it is gone already
        self._loop.stop()


async def _unheard(error: Exception) -> None:
    """Pass over errors that the client reports, which the calls raise, too."""
