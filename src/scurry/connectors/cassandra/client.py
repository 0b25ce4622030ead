"""Sessions of Cassandra, and its errors as scurry's."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.common.redaction import without_secrets
from scurry.errors import (
    ArgumentError,
    ConnectorError,
    SinkConnectionError,
    SourceConnectionError,
)

_HOST = re.compile(r"[\w.:-]+")
#: Seconds until a connection is there, and for a request.
_CONNECT_SECONDS, _REQUEST_SECONDS = 4.0, 20.0


@dataclass(frozen=True)
class CassandraSettings:
    """A cluster.

    Attributes:
        hosts: Addresses of some nodes, without ports.
        port: The port of all nodes.
        username: The user; None for none.
        password: The user's password.
        consistency: Name of the level of consistency, such as `LOCAL_QUORUM`; None for the driver's.
        cluster: Returns a `Cluster` of the driver, in place of all of these; None for none.
    """

    hosts: tuple[str, ...] = ("localhost",)
    port: int = 9042
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    consistency: str | None = None
    cluster: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        """Check the addresses.

        Raises:
            ArgumentError: No address is given, or the port is none.
        """
        if not self.hosts or not all(map(_HOST.fullmatch, self.hosts)) or not 0 < self.port < 1 << 16:
            given = without_secrets(", ".join(self.hosts))
            raise ArgumentError(f"{given!r} with port {self.port} is no address of Cassandra; expected names of hosts")

    @property
    def shown(self) -> str:
        """The addresses, for messages."""
        return ", ".join(f"{host}:{self.port}" for host in self.hosts)


def library(name: str) -> Any:
    """Return a module of the driver, `cassandra` or one below.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Cassandra", "cassandra-driver", "cassandra", name)


@functools.lru_cache(maxsize=16)
def session_of(settings: CassandraSettings) -> Any:
    """Return the session of this process for a cluster.

    Raises:
        Exception: An error of the driver, which `failure` explains.
    """
    if settings.cluster is not None:
        return settings.cluster().connect()
    driver, policies = library("cassandra.cluster"), library("cassandra.policies")
    profile: dict[str, Any] = {
        "request_timeout": _REQUEST_SECONDS,
        "load_balancing_policy": policies.RoundRobinPolicy(),
    }
    if settings.consistency is not None:
        levels = library("cassandra").ConsistencyLevel
        profile["consistency_level"] = levels.name_to_value[settings.consistency]
    login = None
    if settings.username is not None:
        login = library("cassandra.auth").PlainTextAuthProvider(settings.username, settings.password or "")
    cluster = driver.Cluster(
        list(settings.hosts),
        port=settings.port,
        auth_provider=login,
        execution_profiles={driver.EXEC_PROFILE_DEFAULT: driver.ExecutionProfile(**profile)},
        protocol_version=4,
        connect_timeout=_CONNECT_SECONDS,
        control_connection_timeout=_CONNECT_SECONDS,
    )
    try:
        return cluster.connect()
    except BaseException:
        cluster.shutdown()
        raise


def errors() -> tuple[type[Exception], ...]:
    """Return the kinds of errors of the driver."""
    return (library("cassandra").DriverException, library("cassandra.cluster").NoHostAvailable)


def is_passing(error: Exception) -> bool:
    """Return whether a request may succeed when it is sent again."""
    driver = library("cassandra")
    kinds = (driver.OperationTimedOut, driver.Timeout, driver.Unavailable, driver.WriteFailure)
    if isinstance(error, library("cassandra.cluster").NoHostAvailable):
        return not _is_refused(error)
    return isinstance(error, kinds)


def _is_refused(error: Exception) -> bool:
    kinds = (library("cassandra").AuthenticationFailed, library("cassandra").Unauthorized)
    inner = getattr(error, "errors", None)
    within = list(inner.values()) if isinstance(inner, dict) else []
    return any(isinstance(each, kinds) for each in (error, *within))


def failure(settings: CassandraSettings, error: Exception, is_sink: bool) -> ConnectorError:
    """Return scurry's error for one of the driver."""
    kind, text = SinkConnectionError if is_sink else SourceConnectionError, without_secrets(str(error))
    if _is_refused(error):
        return kind(f"Cassandra at {settings.shown} refuses the user: check 'username' and 'password' ({text})")
    if is_passing(error):
        return kind(f"no node of Cassandra answers at {settings.shown} ('hosts', 'port'): {text}")
    return kind(f"Cassandra refuses a statement: {text}")
