"""Check every request to a job before anything else sees it.

A job on loopback can still be reached by other users of the machine, and by web pages in this user's browser, which can
send requests to any local port and, by DNS rebinding, under any name. Both lack the token. If it leaks, the checks of
Host and Origin still refuse web pages. Only the files of the page need no token: they say nothing about the job.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from scurry.common.job_client import REQUESTER
from scurry.rest.page import HEADERS, PageFile
from scurry.rest.settings import is_loopback

#: Key of a request's state: the function to call once the request has presented the token.
AUTHENTICATED = "authenticated"
#: Key of a request's state: the function that returns whether the server is about to stop.
ENDING = "ending"
#: Seconds a client has to send the body of its request.
BODY_SECONDS = 10.0

#: Requests that a job answers per second, and how many at once before that: more would take it processor time.
PER_SECOND, BURST = 100.0, 200

_LARGEST_BODY = 64 * 1024

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application that passes requests on to another one, or refuses them.

    Args:
        application: The application that answers accepted requests.
        token: The token that every request must present; None if none is needed.
        loopback_only: Whether the Host header must name this machine.
        address: The host name that the job announces, which is also accepted as Host.
        largest_body: Most bytes of a request's body.
        files: Files by their paths that need no token; a wrong one is refused even so.
        paced: Whether clients share the process with a job, which they may not slow down: beyond a number of requests
            per second they wait.
    """

    def __init__(
        self,
        application: Application,
        token: str | None,
        loopback_only: bool,
        address: str,
        largest_body: int = _LARGEST_BODY,
        files: Mapping[str, PageFile] | None = None,
        paced: bool = False,
    ) -> None:
        self._application = application
        self._token = None if token is None else token.encode()
        self._largest_body = largest_body
        self._loopback_only = loopback_only
        self._address = address.lower()
        self._files = files or {}
        # Those who lack the token do not let the others wait.
        self._pace = Pace(PER_SECOND, BURST) if paced else None
        self._pace_of_refusals = Pace(PER_SECOND, BURST) if paced else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        file = self._files.get(scope["path"]) if scope["method"] in ("GET", "HEAD") else None
        refusal = self._foreign(headers) or self._refusal(headers, needs_token=file is None)
        if refusal is None and file is None and (authenticated := scope.get("state", {}).get(AUTHENTICATED)):
            authenticated()
        pace = self._pace if refusal is None and file is None else self._pace_of_refusals
        if pace is not None:
            await pace.turn()
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        if file is not None:
            await _send_file(send, file, scope["method"])
            return
        client = scope.get("client")
        REQUESTER.set(f"a REST client at {client[0]}" if client else "a REST client")
        try:
            body = await asyncio.wait_for(_body(receive), BODY_SECONDS)
        except TimeoutError:
            await _refuse(send, 408, f"the body has not come within {BODY_SECONDS:g} s", close=True)
            return
        await self._answer(scope, _Received(body, receive), send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noticing(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._application(scope, receive, noticing)
        except Exception as error:  # the server would answer with plain text
            if not begun:
                await _refuse(send, 500, type(error).__name__)

    def _foreign(self, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self._loopback_only and not self._is_own(host):
            return 403, "the Host header names another machine: use the URL that `scurry list` shows"
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1") != f"http://{host}":
            return 403, "requests of web pages are refused"
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return 403, "requests of web pages are refused"
        return None

    def _refusal(self, headers: dict[bytes, bytes], needs_token: bool) -> tuple[int, str] | None:
        if (needs_token or b"authorization" in headers) and (refusal := self._wrong_token(headers)) is not None:
            return refusal
        if b"transfer-encoding" in headers:
            return 411, "send a Content-Length"
        if _number(headers.get(b"content-length", b"0")) > self._largest_body:
            return 413, f"bodies have {self._largest_body} bytes at most"
        return None

    def _wrong_token(self, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if self._token is None:
            return None
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not secrets.compare_digest(token.strip(), self._token):
            return 401, "no or wrong token: send `Authorization: Bearer TOKEN`; `scurry token JOB` prints a job's token"
        return None

    def _is_own(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        return is_loopback(name) or name.lower() == self._address


def _number(text: bytes) -> int:
    return int(text) if text.isdigit() and len(text) < 20 else sys.maxsize


async def _body(receive: Receive) -> bytes:
    """Read the body of a request, whose length was checked before; only a part if the client disconnects."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


class _Received:
    """Deliver a body that was read before, then receive further messages of the client."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> MutableMapping[str, Any]:
        body, self._body = self._body, None
        return await self._receive() if body is None else {"type": "http.request", "body": body, "more_body": False}


async def _send_file(send: Send, file: PageFile, method: str) -> None:
    headers = {"content-type": file.media_type, "content-length": str(len(file.content)), **HEADERS}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": pairs})
    await send({"type": "http.response.body", "body": file.content if method == "GET" else b""})


async def _refuse(send: Send, status: int, reason: str, close: bool = False) -> None:
    body = json.dumps({"errors": [reason]}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if close:
        headers.append((b"connection", b"close"))
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="scurry"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Pace:
    """The times at which requests of one kind are answered, in the order in which they came.

    Args:
        per_second: How many are answered per second in the long run.
        burst: How many are answered at once after a time without any.
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self._interval, self._saved = 1 / per_second, burst / per_second
        self._latest = time.monotonic() - self._saved

    async def turn(self) -> None:
        """Wait until it is the turn of one more request."""
        now = time.monotonic()
        self._latest = max(self._latest, now - self._saved) + self._interval
        if self._latest > now:
            await asyncio.sleep(self._latest - now)
