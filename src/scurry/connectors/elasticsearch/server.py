"""Errors of servers that do not answer or refuse, for sinks and sources."""

from __future__ import annotations

from typing import TypeVar

from scurry.connectors.http.client import HttpAnswer, HttpSettings
from scurry.errors import ConnectorError

E = TypeVar("E", bound=ConnectorError)


def unreachable(hosts: HttpSettings, error: ConnectionError, kind: type[E]) -> E:
    """Return the error for hosts of which none answers."""
    return kind(f"no host of 'hosts' answers ({error}): check the addresses, and that the server runs")


def access_refused(hosts: HttpSettings, answer: HttpAnswer, kind: type[E]) -> E:
    """Return the error for credentials that are refused."""
    known = "refuses the user" if hosts.authorization else "wants a user"
    return kind(f"{answer.host} {known} (HTTP {answer.status}): check 'username' and 'password'")
