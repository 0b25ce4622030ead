"""The web server of a job, which limits the number of connections and how long each may take.

Clients without the token must not be able to keep others out. So a connection is unauthenticated until it has sent a
request with the token; unauthenticated connections have a share of all connections and a time limit. If more clients
want to connect, the oldest unauthenticated connection is closed, or the clients wait in the backlog of the listening
socket: none is refused.

    backlog ──▶ unauthenticated (64, 10 s) ──token──▶ clients (64 more; 5 s between requests)
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from scurry.rest.guard import AUTHENTICATED, ENDING
from scurry.rest.job import ServedJob

#: Maximum number of connections that have not presented the token.
MOST_UNAUTHENTICATED = 64
#: Maximum number of all connections; those beyond `MOST_UNAUTHENTICATED` are reserved for clients with the token.
MOST_CONNECTIONS = 128
#: Seconds that a connection has to complete the head of a request with the token.
HEAD_SECONDS = 10.0
#: Seconds that an unauthenticated connection may stay while others wait; a client sends its request sooner.
CROWDED_SECONDS = 0.5
#: Maximum bytes of a request, including those read of a body that was refused.
MOST_BYTES = 1 << 20
#: Seconds that an ended job waits for clients to poll the results of their operations.
GRACE_SECONDS = 10.0

_LARGEST_HEAD = 32 * 1024


class Connection(H11Protocol):
    """A connection, closed if it does not send a request with the token in time, or sends too much."""

    #: Maximum bytes of a request that has presented the token.
    most_bytes = MOST_BYTES
    #: whether the server is about to end
    ending: Callable[[], bool] = staticmethod(lambda: False)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # They become part of the state of every request.
        self.app_state = {AUTHENTICATED: self._authenticated, ENDING: self.ending}
        self.began = time.monotonic()
        #: whether no request has presented the token yet
        self.is_unauthenticated = True
        self._received = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Return whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _expect_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _too_late(self) -> None:
        self.end(408, f"no complete request with a token within {HEAD_SECONDS:g} s")

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        most = MOST_BYTES if self.is_unauthenticated else self.most_bytes
        if self._received > most:
            self.end(413, f"requests have {most} bytes at most")
        elif not self.transport.is_closing():
            super().data_received(data)

    def _authenticated(self) -> None:
        # The head of a request has arrived, with the token: the application limits the rest.
        self.is_unauthenticated = False
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def on_response_complete(self) -> None:
        self._received = 0
        if not self.is_unauthenticated:
            self._expect_request()
        super().on_response_complete()

    def end(self, status: int, reason: str) -> None:
        """Close the connection, with an error response if no response has begun."""
        if self.transport.is_closing():
            return
        if self.is_idle and self.conn.our_state is h11.IDLE:
            self._refuse(status, reason)
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse requests that are not HTTP or whose head is too long."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refuse(400, f"no HTTP/1.1 request, or its head has more than {_LARGEST_HEAD} bytes")
        else:
            self.transport.close()

    def _refuse(self, status: int, reason: str) -> None:
        body = json.dumps({"errors": [reason]}).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        phrase = HTTPStatus(status).phrase.encode()
        for event in (h11.Response(status_code=status, headers=headers, reason=phrase), h11.Data(body)):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class EndpointServer(uvicorn.Server):
    """Serve an application until the process is asked to end.

    Args:
        application: The application that answers requests.
        most_bytes: Maximum bytes of a request that has presented the token.
    """

    def __init__(self, application: Any, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                loop="asyncio",
                http=Connection,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=5,
                h11_max_incomplete_event_size=_LARGEST_HEAD,
            )
        )
        self._most_bytes = most_bytes
        self._accepting: list[asyncio.Task[None]] = []

    async def startup(self, sockets: Sequence[socket.socket] | None = None) -> None:
        """Begin to accept connections, up to the limit."""
        await super().startup([])
        self._accepting = [asyncio.create_task(self._accept(listener)) for listener in sockets or ()]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections and close the open ones."""
        self.should_exit = True  # for streams, which end by themselves
        for task in self._accepting:
            task.cancel()
        await super().shutdown(sockets)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._room()
            try:
                accepted, _ = await loop.sock_accept(listener)
                await loop.connect_accepted_socket(self._connection, accepted)
            except OSError:  # no file descriptors left, or the client has disconnected
                await asyncio.sleep(0.05)

    def _connection(self) -> Connection:
        connection = Connection(self.config, self.server_state, {})
        connection.most_bytes = self._most_bytes
        connection.ending = lambda: self.should_exit
        return connection

    async def _room(self) -> None:
        """Wait until one more connection is allowed, and close the oldest one that blocks it."""
        doomed: Connection | None = None
        while True:
            present = cast("list[Connection]", list(self.server_state.connections))
            unauthenticated = [each for each in present if each.is_unauthenticated]
            if len(unauthenticated) < MOST_UNAUTHENTICATED and len(present) < MOST_CONNECTIONS:
                return
            crowded = len(unauthenticated) >= MOST_UNAUTHENTICATED
            closable = unauthenticated if crowded else [each for each in present if each.is_idle]
            oldest = min(closable, key=lambda each: each.began, default=None)
            if oldest is not None and oldest is doomed:
                oldest.end(408, "others wait to connect: send a request with the token sooner")
                self.server_state.connections.discard(oldest)
                continue
            # First read what it has sent while this process was busy.
            doomed = oldest if oldest is not None and time.monotonic() - oldest.began > CROWDED_SECONDS else None
            await asyncio.sleep(0.01)


class JobServer(EndpointServer):
    """Serve the application of a job until the job or the program ends.

    Args:
        application: The application that answers requests.
        over: Set when the job has ended.
    """

    def __init__(self, job: ServedJob, application: Any, over: threading.Event) -> None:
        super().__init__(application)
        self._job, self._over = job, over
        self._ended: float | None = None

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end; wait for clients that still poll for a result."""
        if self._over.is_set() or not (threading.main_thread().is_alive() or self._job.is_ending):
            now = time.monotonic()
            self._ended = now if self._ended is None else self._ended
            grace_is_over = now - self._ended > GRACE_SECONDS
            return grace_is_over or not self._job.operations.awaited(GRACE_SECONDS)
        return await super().on_tick(counter)
