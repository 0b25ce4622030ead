"""Let a session listen for requests, until it ends."""

from __future__ import annotations

import os
import threading
from typing import Any

from scurry.errors import ConfigError
from scurry.rest.endpoint import listen, url_of
from scurry.rest.registry import JobEntry, Registration, register
from scurry.rest.session.interface import OperableSession
from scurry.rest.settings import RestSettings

#: Maximum size of an uploaded program, in bytes.
LARGEST_PROGRAM = 32 * 1024 * 1024


class SessionEndpoint:
    """The listening socket of a session and its server.

    Args:
        settings: Where it listens, and the token.
        no_token: Whether requests need no token, for clients that cannot send one; on loopback only.

    Raises:
        ConfigError: None of the ports is available, or other machines could use it without a token.
    """

    def __init__(self, settings: RestSettings, no_token: bool = False) -> None:
        if no_token and not settings.loopback:
            raise ConfigError(
                f"rest.bind-address = {settings.bind_address!r} lets other machines run programs as you: --no-token is "
                "for 127.0.0.1"
            )
        self._settings, self._no_token = settings, no_token
        #: whether a client has asked for the end, after which no job runs again
        self.stopped = False
        self._socket = listen(settings, "the session", "set rest.port to 0 for a free port, or rest.bind-port")
        self._over = threading.Event()
        self._registration: Registration | None = None
        self._server: Any = None

    @property
    def url(self) -> str:
        """The address for clients, such as `http://127.0.0.1:8081`."""
        return url_of(self._settings, self._socket)

    def serve(self, session: OperableSession) -> None:
        """Serve a session until `close`."""
        settings = self._settings
        entry = JobEntry(
            session.name,
            session.name,
            os.getpid(),
            self.url,
            session.started_ms,
            token_file=settings.token_file,
            token=settings.token if settings.own_token and not self._no_token else None,
        )
        self._registration = register(entry, "sessions")
        threading.Thread(target=self._run, args=(session,), name="scurry-rest", daemon=True).start()

    def _stop(self) -> None:
        self.stopped = True
        self._over.set()

    def wait(self) -> None:
        """Wait until `close` is called."""
        self._over.wait()
        self.close()

    def close(self) -> None:
        """Answer no more requests."""
        self._over.set()
        if self._server is not None:
            self._server.should_exit = True
        if self._registration is not None:
            self._registration.remove()

    def _run(self, session: OperableSession) -> None:
        from scurry.rest.guard import Guard
        from scurry.rest.page import page_files
        from scurry.rest.server import EndpointServer
        from scurry.rest.session.app import session_application

        application = session_application(session, self._stop)
        settings = self._settings
        token = None if self._no_token else settings.token
        guard = Guard(application, token, settings.loopback, settings.address, LARGEST_PROGRAM, page_files())
        self._server = EndpointServer(guard, LARGEST_PROGRAM + 64 * 1024)
        self._server.run(sockets=[self._socket])
