"""Resolve the endpoint settings of a job from its configuration, before it starts."""

from __future__ import annotations

import ipaddress
import os
import secrets
import stat
import sys
from dataclasses import field
from pathlib import Path

from scurry._dataclasses import dataclass
from scurry.common._config import rest as options
from scurry.common._process import threads
from scurry.common.configuration import Configuration
from scurry.errors import ConfigError

TOKEN_VARIABLE = "SCURRY_REST_TOKEN"

_SHORTEST_TOKEN = 16
_MAKE_TOKEN = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"


@dataclass(frozen=True)
class RestSettings:
    """The address of a job's endpoint and the token that requests must present.

    Attributes:
        bind_address: The address to listen on.
        ports: Ports to try in turn; 0 is any free one.
        address: The host name for clients.
        token: The token that every request must present.
        own_token: Whether `token` was made for this job alone, so that the registry may store it for this user.
        token_file: The file that the token was read from, if any.
    """

    bind_address: str
    ports: tuple[int, ...]
    address: str
    token: str = field(repr=False)
    own_token: bool = False
    token_file: str | None = None

    @property
    def loopback(self) -> bool:
        """Return whether only processes of this machine can connect."""
        return is_loopback(self.bind_address)

    @classmethod
    def of(cls, configuration: Configuration, runner: str) -> RestSettings | None:
        """Return the settings of a job; None if it has no endpoint.

        Args:
            configuration: The environment's configuration.
            runner: `spark` or `local`.

        Raises:
            ConfigError: Other machines could reach the job without a token, or its token cannot be used.
        """
        wanted = configuration.get(options.REST)
        # Who is at a terminal looks for the job in `scurry list`; elsewhere most jobs in one process are tests.
        if wanted == "off" or (wanted == "auto" and not _is_served(runner)):
            return None
        bind_address = configuration.get(options.REST_BIND_ADDRESS) or "127.0.0.1"
        token, token_file = configured_token(configuration)
        if token is None and not is_loopback(bind_address):
            raise ConfigError(
                f"{options.REST_BIND_ADDRESS.key} = {bind_address!r} lets other machines operate this job, which needs "
                f"a token: put one into a file ({_MAKE_TOKEN}) and set {options.REST_TOKEN_FILE.key}, or set the "
                f"environment variable {TOKEN_VARIABLE}; or stay with 127.0.0.1"
            )
        return cls(
            bind_address=bind_address,
            ports=configuration.get(options.REST_BIND_PORT) or (configuration.get(options.REST_PORT) or 0,),
            address=configuration.get(options.REST_ADDRESS) or _reachable(bind_address),
            token=token or secrets.token_urlsafe(32),
            own_token=token is None,
            token_file=token_file,
        )


def _is_served(runner: str) -> bool:
    return threads.THREADS and (runner == "spark" or _at_terminal())


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is a loopback address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_token_file(path: str) -> str:
    """Read a token from a file.

    Raises:
        ConfigError: The file cannot be read, or other users can read it.
    """
    file = Path(path).expanduser()
    try:
        mode = file.stat().st_mode
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(f"the token file {path} cannot be read: {reason}") from None
    # Kubernetes mounts secrets as links to files that a group may read: refuse only files that all users can read.
    if stat.S_IMODE(mode) & stat.S_IRWXO:
        raise ConfigError(
            f"the token file {path} can be read by every user of this machine: chmod 600 {path}, or mount it with "
            "mode 0400"
        )
    return token


def configured_token(configuration: Configuration) -> tuple[str | None, str | None]:
    """Return the token from the configuration, else from the environment, and the file it was read from."""
    path = configuration.get(options.REST_TOKEN_FILE)
    if path:
        return _usable(read_token_file(path), f"the token in {path}"), str(Path(path).expanduser().resolve())
    if value := configuration.get(options.REST_TOKEN):
        return _usable(value, f"the token in {options.REST_TOKEN.key}"), None
    if variable := os.environ.get(TOKEN_VARIABLE):
        return _usable(variable, f"the token in the environment variable {TOKEN_VARIABLE}"), None
    return None, None


def _usable(token: str, what: str) -> str:
    # The message must not show the token: errors end up in logs.
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{what} cannot be used: it must be {_SHORTEST_TOKEN} or more ASCII characters without spaces; "
            f"make one with {_MAKE_TOKEN}"
        )
    return token


def _reachable(bind_address: str) -> str:
    """Return the host name for clients, given a bind address that may stand for all addresses of this machine."""
    if bind_address in ("0.0.0.0", "::", "[::]"):
        import socket

        return socket.getfqdn()
    return bind_address


def _at_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
