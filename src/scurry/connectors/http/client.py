"""HttpClient: requests to the first of some hosts that answers, over a connection that stays open."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import ssl
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import field
from email.message import Message
from typing import TypeVar

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.sink import COUNTED, RETRIES
from scurry.errors import ArgumentError

T = TypeVar("T")

#: Pauses before all hosts are tried again, unless the caller has its own.
RECONNECT_PAUSES = (0.2, 1.0)
#: Characters of an answer that an error shows.
SHOWN_CHARACTERS = 500
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class HttpSettings:
    """Addresses of hosts, credentials and timeouts of requests to them.

    Attributes:
        hosts: Their addresses, `http://name:port`, without user and path.
        username: The user of basic authentication; None for none.
        password: The user's password.
        token: The token of the header `Authorization: Bearer`; None for none.
        path_prefix: Prefix of paths.
        connect_timeout: Seconds until a connection is there.
        socket_timeout: Seconds in which the server sends something.
        is_verified: Whether the certificate of a host is checked.
        reconnect_pauses: Seconds before all hosts are tried again when none could be reached.
    """

    hosts: tuple[str, ...]
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    path_prefix: str = ""
    connect_timeout: float = 4.0
    socket_timeout: float = 30.0
    is_verified: bool = True
    reconnect_pauses: tuple[float, ...] = RECONNECT_PAUSES

    def __post_init__(self) -> None:
        """Check the addresses.

        Raises:
            ArgumentError: No address is given, or one is not of HTTP.
        """
        if not self.hosts:
            raise ArgumentError("there is no host; name one, such as http://localhost:9200")
        for host in self.hosts:
            checked_host(host)

    @property
    def shown(self) -> str:
        """The addresses, for messages."""
        return ", ".join(self.hosts)

    @property
    def authorization(self) -> str | None:
        """The header of the credentials."""
        if self.token is not None:
            return f"Bearer {self.token}"
        if self.username is None:
            return None
        user = f"{self.username}:{self.password or ''}"
        return f"Basic {base64.b64encode(user.encode()).decode()}"


def checked_host(host: str) -> urllib.parse.SplitResult:
    """Return the parts of an address.

    Raises:
        ArgumentError: It is none of HTTP, or has a user or a path.
    """
    shown = without_secrets(host)
    try:
        parts = urllib.parse.urlsplit(host)
        is_address = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ArgumentError(f"{shown!r} is no address of a host; expected http://name:port")
    if parts.username is not None or parts.path.strip("/") or parts.query:
        raise ArgumentError(
            f"{shown!r}: an address has neither user nor path; set the user by its own option, the path as a prefix"
        )
    return parts


@dataclass(frozen=True)
class HttpAnswer:
    """The answer to a request.

    Attributes:
        status: Its status.
        headers: Its headers.
        body: Its body.
        host: The host that answered.
    """

    status: int
    headers: Message
    body: bytes
    host: str

    @property
    def shown(self) -> str:
        """The beginning of the body, for messages."""
        text = without_secrets(self.body.decode(errors="replace").strip())
        return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


class HttpClient:
    """Send requests; for one thread. It stays with the host that answered last."""

    def __init__(self, settings: HttpSettings) -> None:
        """Describe the client; the first request connects."""
        self._settings = settings
        self._at = 0
        self._connection: http.client.HTTPConnection | None = None
        self._headers = {"Authorization": settings.authorization} if settings.authorization else {}
        self._is_interrupted = False

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> HttpAnswer:
        """Return the answer of the first host that gives one, whatever its status is.

        A request that was sent on a connection that broke is sent again.

        Args:
            method: Of HTTP.
            path: With a slash before and with its query.
            body: The content.
            headers: Further headers.

        Raises:
            ConnectionError: No host answers; the text says why each of them does not.
        """
        return self._answered(self._whole, method, path, body, headers)

    def open(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[http.client.HTTPResponse, str]:
        """Return the answer to a request, like `request`, with its content still to be read; and its host.

        Whoever does not read all of it closes the client.

        Raises:
            ConnectionError: No host answers; the text says why each of them does not.
        """
        return self._answered(lambda answer, host: (answer, host), method, path, body, headers)

    def _answered(
        self,
        take: Callable[[http.client.HTTPResponse, str], T],
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str] | None,
    ) -> T:
        reasons: dict[str, str] = {}
        for pause in (*self._settings.reconnect_pauses, None):
            for _ in self._settings.hosts:
                host = self._settings.hosts[self._at]
                try:
                    return take(self._exchanged(host, method, path, body, {**self._headers, **(headers or {})}), host)
                except (OSError, http.client.HTTPException) as error:
                    self.close()
                    reasons[host] = str(error) or type(error).__name__
                    self._at = (self._at + 1) % len(self._settings.hosts)
            if pause is not None:
                COUNTED.get()(RETRIES, 1)
                time.sleep(pause)
        raise ConnectionError(without_secrets("; ".join(f"{host}: {why}" for host, why in reasons.items())))

    def _whole(self, answer: http.client.HTTPResponse, host: str) -> HttpAnswer:
        found = HttpAnswer(answer.status, answer.headers, answer.read(), host)
        if answer.will_close:
            self.close()
        return found

    def _exchanged(
        self, host: str, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        was_open = self._connection is not None
        connection = self._connection = self._connection or self._connected(host)
        target = f"{self._settings.path_prefix.rstrip('/')}{path}"
        try:
            connection.request(method, target, body, dict(headers))
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if not was_open or isinstance(error, TimeoutError):
                raise
            # servers close connections that were idle, which shows only now
            connection = self._connection = self._connected(host)
            connection.request(method, target, body, dict(headers))
            return connection.getresponse()

    def _connected(self, host: str) -> http.client.HTTPConnection:
        if self._is_interrupted:
            raise ConnectionError("the client was interrupted")
        parts, settings = checked_host(host), self._settings
        place = (str(parts.hostname), parts.port or _PORTS[parts.scheme])
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            context = ssl.create_default_context()
            if not settings.is_verified:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection(*place, timeout=settings.connect_timeout, context=context)
        else:
            connection = http.client.HTTPConnection(*place, timeout=settings.connect_timeout)
        connection.connect()
        connection.sock.settimeout(settings.socket_timeout)
        return connection

    def interrupt(self) -> None:
        """Let the request fail that another thread waits for, and later ones."""
        self._is_interrupted = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with contextlib.suppress(OSError):  # it ends by itself
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
