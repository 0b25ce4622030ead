"""Connections to Redis, and the reasons of their errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.errors import ArgumentError, ConnectorError, SinkConnectionError, SourceConnectionError

T = TypeVar("T")

#: Seconds in which a server has to answer.
ANSWER_SECONDS = 4.0


def redis_module() -> Any:
    """Return the module `redis`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Redis", "redis", "redis", "redis")


@dataclass(frozen=True)
class RedisServer:
    """The address of a server; picklable.

    Attributes:
        url: `redis://user:password@host:port/db`, or `rediss://` for TLS; not shown.
        username: The user, instead of the one in the URL.
        password: The user's password, instead of the one in the URL; not shown.
    """

    url: str = field(repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """Return the address without user and password, for messages."""
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"

    def client(self) -> Any:
        """Return a client, which connects with its first command.

        Raises:
            ArgumentError: The URL is none.
            ExtraMissingError: The client is not installed.
        """
        module = redis_module()
        given = {"username": self.username, "password": self.password}
        try:
            return module.Redis.from_url(
                self.url,
                socket_timeout=ANSWER_SECONDS,
                socket_connect_timeout=ANSWER_SECONDS,
                retry=None,
                **{name: value for name, value in given.items() if value is not None},
            )
        except ValueError:
            raise ArgumentError(
                f"url: {self.place!r} is no URL of Redis; write redis://host:6379/0, or rediss:// for TLS"
            ) from None

    def asked(self, ask: Callable[[], T], reads: bool) -> T:
        """Return the result of commands.

        Raises:
            SourceConnectionError: A source cannot talk to the server.
            SinkConnectionError: A sink cannot.
        """
        module = redis_module()
        try:
            return ask()
        except (module.RedisError, OSError) as error:
            raise self.failure(error, reads) from None

    def failure(self, error: Exception, reads: bool) -> ConnectorError:
        """Return the error of a source or a sink."""
        errors = redis_module().exceptions
        if isinstance(error, errors.AuthenticationError | errors.AuthorizationError):
            why = f"it refuses the user ({error}); check username and password"
        elif isinstance(error, errors.NoPermissionError):
            why = f"it refuses a command ({error}); check the rights of username"
        elif isinstance(error, errors.BusyLoadingError):
            why = str(error)
        elif isinstance(error, errors.ConnectionError | errors.TimeoutError | OSError):
            why = f"{error}; check url, and that a server runs there"
        else:
            why = str(error)
        return (SourceConnectionError if reads else SinkConnectionError)(f"Redis at {self.place}: {why}")
