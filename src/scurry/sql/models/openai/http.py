"""JsonEndpoint: JSON that is posted to an address, over connections that stay open."""

from __future__ import annotations

import email.utils
import http.client
import json
import ssl
import threading
import time
import urllib.parse
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from email.message import Message
from typing import Any

from scurry.common.redaction import without_secrets
from scurry.errors import ModelCallError

#: Answers after which OpenAI's own client asks again, beside those from 500 on.
_TRANSIENT = {408, 409, 429}
#: The most characters of an answer that an error shows.
_SHOWN = 500
#: The longest wait that a server may ask for, in seconds, as for OpenAI's own client.
_LONGEST_WAIT = 60.0


_Answer = tuple[int, Message, bytes]


class JsonEndpoint:
    """Posts JSON to an address; each thread has its own connection."""

    def __init__(self, url: str, api_key: str, timeout: float) -> None:
        """Describe the endpoint; the first call connects.

        Args:
            url: Its address.
            api_key: Key that authorises calls.
            timeout: Seconds after which a call fails whose server sends nothing.
        """
        self._url = urllib.parse.urlsplit(url)
        self._proxy = _proxy(self._url)
        target = urllib.parse.urlunsplit(("", "", self._url.path or "/", self._url.query, ""))
        # a proxy of http reads the address, one of https only passes bytes on
        self._target = url if self._proxy is not None and self._url.scheme == "http" else target
        self._secrets = {"api-key": api_key}
        self._timeout = timeout
        self._headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
        if self._proxy is not None and self._url.scheme == "http":
            self._headers |= _authorization(self._proxy)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._connections: set[http.client.HTTPConnection] = set()
        self._is_closed = False

    def post(self, body: Mapping[str, Any]) -> Any:
        """Return the answer of the server.

        Raises:
            ModelCallError: It does not answer, or refuses.
        """
        data = json.dumps(body).encode()
        try:
            status, headers, text = self._exchanged(data)
        except (OSError, http.client.HTTPException) as error:
            raise self._error(f"{self._place} does not answer: {error or type(error).__name__}", True) from error
        if status >= 400:
            transient = status in _TRANSIENT or status >= 500
            said = f"{self._place} answered {status}: {_message(text)}"
            raise self._error(said, transient, _retry_after(headers) if transient else None)
        try:
            return json.loads(text)
        except ValueError as error:
            raise self._error(f"{self._place} answered {status} without JSON: {_message(text)}", False) from error

    def close(self) -> None:
        """Close all connections; calls in flight fail."""
        with self._lock:
            self._is_closed = True
            connections, self._connections = self._connections, set()
        for connection in connections:
            connection.close()

    @property
    def _place(self) -> str:
        return (
            f"{self._url.scheme}://{self._url.hostname}{f':{self._url.port}' if self._url.port else ''}{self._url.path}"
        )

    def _error(self, message: str, is_transient: bool, retry_after: float | None = None) -> ModelCallError:
        error = ModelCallError(without_secrets(message, self._secrets))
        error.is_transient, error.retry_after = is_transient, retry_after
        return error

    def _exchanged(self, data: bytes) -> _Answer:
        connection = getattr(self._own, "connection", None)
        is_fresh = connection is None
        if connection is None:
            connection = self._connected()
        try:
            return self._answer(connection, data)
        except (OSError, http.client.HTTPException):
            self._drop(connection)
            if is_fresh or self._is_closed:
                raise
        # servers close connections that were idle, which shows only now
        connection = self._connected()
        try:
            return self._answer(connection, data)
        except (OSError, http.client.HTTPException):
            self._drop(connection)
            raise

    def _answer(self, connection: http.client.HTTPConnection, data: bytes) -> _Answer:
        connection.request("POST", self._target, data, self._headers)
        response = connection.getresponse()
        text = response.read()
        if response.will_close:
            self._drop(connection)
        return response.status, response.headers, text

    def _connected(self) -> http.client.HTTPConnection:
        url, proxy, is_secure = self._url, self._proxy, self._url.scheme == "https"
        host, port = url.hostname or "", url.port or (443 if is_secure else 80)
        place = (host, port) if proxy is None else (proxy.hostname or "", proxy.port or 80)
        connection: http.client.HTTPConnection
        if is_secure:
            connection = http.client.HTTPSConnection(
                *place, timeout=self._timeout, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(*place, timeout=self._timeout)
        if proxy is not None and is_secure:
            connection.set_tunnel(host, port, _authorization(proxy))
        with self._lock:
            if self._is_closed:
                raise ConnectionAbortedError("the model is closed")
            self._connections.add(connection)
        self._own.connection = connection
        return connection

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        self._own.connection = None
        with self._lock:
            self._connections.discard(connection)
        connection.close()


def _proxy(url: urllib.parse.SplitResult) -> urllib.parse.SplitResult | None:
    """Return the proxy that the environment names for an address."""
    found = urllib.request.getproxies().get(url.scheme)
    if not found or urllib.request.proxy_bypass(url.hostname or ""):
        return None
    return urllib.parse.urlsplit(found if "://" in found else f"http://{found}")


def _authorization(proxy: urllib.parse.SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    user = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(user.encode()).decode()}"}


def _message(text: bytes) -> str:
    """Return the message of an answer: `error.message` if it is OpenAI's, else its text."""
    shown = text.decode(errors="replace").strip()
    try:
        error = json.loads(text)["error"]
        shown = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, TypeError, KeyError):
        pass
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _retry_after(headers: Message) -> float | None:
    """Return the seconds that a server asks to wait; None if it does not say, or more than anybody waits."""
    found: float | None = None
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            found = float(milliseconds) / 1000
        elif (text := headers.get("retry-after")) is not None:
            try:
                found = float(text)
            except ValueError:
                found = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except ValueError:
        return None
    return found if found is not None and 0 <= found <= _LONGEST_WAIT else None
