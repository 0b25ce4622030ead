"""Addresses of servers."""

from __future__ import annotations

from scurry.connectors.http.client import HttpSettings

#: Seconds until a connection is there, and before all hosts are tried again: an error is there within 5 s.
_CONNECT_SECONDS, _PAUSES = 2.0, (0.3,)
#: Seconds in which the server sends something. An INSERT answers when it is done.
_ANSWER_SECONDS = 300.0


def hosts_of(url: str, username: str | None, password: str | None) -> HttpSettings:
    """Return the addresses of a server or of its replicas.

    Args:
        url: Addresses of the HTTP interface, with `,`; `clickhouse://` is `http://`.
        username: The user, None for the server's default one.
        password: The user's password.

    Raises:
        ArgumentError: An address is none.
    """
    addresses = (each.strip().rstrip("/") for each in url.split(","))
    hosts = tuple(each.replace("clickhouse://", "http://", 1) for each in addresses if each)
    return HttpSettings(
        hosts,
        username,
        password,
        connect_timeout=_CONNECT_SECONDS,
        socket_timeout=_ANSWER_SECONDS,
        reconnect_pauses=_PAUSES,
    )
