"""Serve the gateway until it is stopped."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from scurry.common.configuration import Configuration
from scurry.common.redaction import printable, without_secrets
from scurry.errors import ConfigError
from scurry.rest.endpoint import listen
from scurry.rest.settings import RestSettings, configured_token, is_loopback
from scurry.sql.gateway.sessions import Sessions
from scurry.sql.statements.materialized.interrupted import resume_interrupted
from scurry.sql.statements.materialized.refreshers import be_gateway
from scurry.sql.statements.session import TableSession

#: Maximum size of a request's body, in bytes: statements may be long.
LARGEST_BODY = 900 * 1024

_OPEN = """\
WARNING: --no-token: every user and every program of this machine can run statements as you, and read and write your \
files that way. Web pages in a browser are still refused.
"""


def serve(
    configuration: Mapping[str, str],
    host: str,
    port: int,
    max_sessions: int,
    idle_seconds: float,
    *,
    no_token: bool,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve sessions until the process is asked to end.

    Args:
        configuration: The settings that sessions begin with.
        host: The address to listen on.
        port: The port; 0 for any free one.
        max_sessions: Most sessions at a time.
        idle_seconds: After how long without a request a session is closed; 0 for never.
        no_token: Whether requests need no token, which only a gateway on loopback may allow.
        started: Called with the URL, once the gateway listens.

    Raises:
        ConfigError: The address cannot be used, or other machines could use the gateway without a token.
    """
    given, _ = configured_token(Configuration.from_dict(dict(configuration)))
    if not is_loopback(host) and (no_token or given is None):
        raise ConfigError(
            f"--host {host} lets other machines run statements as you, which needs a token: set SCURRY_REST_TOKEN to "
            "one, without --no-token; or stay with 127.0.0.1"
        )
    token = None if no_token else given or secrets.token_urlsafe(32)
    settings = RestSettings(host, (port,), host, token or "")
    listener = listen(settings, "the gateway", "choose another --port, or 0 for any free one")
    url = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    _announce(url, token, given is not None)
    if started is not None:
        started(url)
    over = threading.Event()
    sessions = Sessions(configuration, max_sessions, idle_seconds)
    be_gateway()
    threading.Thread(target=_resume, args=(configuration,), name="scurry-resuming", daemon=True).start()
    try:
        _server(sessions, token, settings, over).run(sockets=[listener])
    finally:
        over.set()
        sessions.close_all()
        listener.close()


def _resume(configuration: Mapping[str, str]) -> None:
    """Go on with the materialized tables of a gateway that was killed."""
    for name, problem in resume_interrupted(TableSession.create(Configuration.from_dict(dict(configuration)))):
        said = f"cannot resume {name}: {problem}" if problem else f"resumed the materialized table {name}"
        print(printable(without_secrets(said)), file=sys.stderr, flush=True)


def _announce(url: str, token: str | None, given: bool) -> None:
    print(f"SQL gateway at {url}", flush=True)
    if token is None:
        sys.stderr.write(_OPEN)
    elif given:
        print("Requests need the token of SCURRY_REST_TOKEN.", flush=True)
    else:
        print(f"Requests need a token: export SCURRY_REST_TOKEN={token}", flush=True)


def _server(sessions: Sessions, token: str | None, settings: RestSettings, over: threading.Event) -> Any:
    from scurry.rest.guard import Guard
    from scurry.rest.server import EndpointServer
    from scurry.sql.gateway.app import application, close_idle  # not earlier: importing FastAPI takes half a second

    close_idle(sessions, over)
    guarded = Guard(application(sessions), token, settings.loopback, settings.address, LARGEST_BODY)
    return EndpointServer(guarded)
