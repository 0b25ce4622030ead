"""Conversion of PostgreSQL's JDBC URLs to the parameters of libpq."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, unquote

from scurry.connectors.jdbc.connection import Connection
from scurry.errors import ArgumentError, UnsupportedError

CONNECT_SECONDS = 10
"""How long a server may take to answer unless the URL says `connectTimeout`."""

_URL = re.compile(r"jdbc:postgresql:(?://(?P<hosts>[^/?]*)/?)?(?P<database>[^?]*)(?:\?(?P<parameters>.*))?", re.DOTALL)
_HOST = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>\d+))?")

#: parameter of PostgreSQL's JDBC driver -> parameter of libpq
_NAMES = {
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "options": "options",
    "password": "password",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslmode": "sslmode",
    "sslpassword": "sslpassword",
    "sslrootcert": "sslrootcert",
    "user": "user",
}
_TARGETS = {
    "any": "any",
    "primary": "primary",
    "master": "primary",
    "secondary": "standby",
    "slave": "standby",
    "preferSecondary": "prefer-standby",
    "preferSlave": "prefer-standby",
}
_OTHERS = ("currentSchema", "prepareThreshold", "reWriteBatchedInserts", "ssl", "stringtype", "targetServerType")


def libpq_parameters(options: Connection) -> dict[str, Any]:
    """Return the keyword arguments of `psycopg.connect` for a JDBC URL with user and password.

    Raises:
        ArgumentError: The URL is not valid.
        UnsupportedError: A parameter is not supported.
    """
    url = _URL.fullmatch(options.get_db_url())
    if url is None or "@" in (url["hosts"] or ""):
        raise ArgumentError(
            f"{options.shown_url} is no URL like jdbc:postgresql://host:5432/database; user and password go into "
            "with_user_name and with_password, in SQL into 'username' and 'password'"
        )
    given = dict(parse_qsl(url["parameters"] or "", keep_blank_values=True))
    found: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, "application_name": "scurry", **_servers(url["hosts"])}
    for name, value in given.items():
        if name in _NAMES:
            found[_NAMES[name]] = value
        else:
            _add(found, name, value)
    for name, explicit in (("user", options.get_user_name()), ("password", options.get_password())):
        if explicit is not None:
            found[name] = explicit
    database = unquote(url["database"]) or found.get("user")  # like the JDBC driver and libpq
    return {**found, "dbname": database} if database else found


def _servers(hosts: str | None) -> dict[str, str]:
    names, ports = [], []
    for server in (hosts or "localhost").split(","):
        found = _HOST.fullmatch(server)
        if found is None:
            raise ArgumentError(f"{server!r} is no host:port in a jdbc:postgresql: URL")
        names.append(found["host"].strip("[]") or "localhost")
        ports.append(found["port"] or "5432")
    return {"host": ",".join(names), "port": ",".join(ports)}


def _add(found: dict[str, Any], name: str, value: str) -> None:
    """Add a parameter that has another form in libpq."""
    if name == "ssl":
        if value.lower() != "false":  # "ssl" without a value means true, too
            found.setdefault("sslmode", "verify-full")
    elif name == "currentSchema":
        setting = f"-c search_path={value}".replace("\\", "\\\\").replace(", ", ",")
        found["options"] = f"{found['options']} {setting}" if "options" in found else setting
    elif name == "targetServerType" and value in _TARGETS:
        found["target_session_attrs"] = _TARGETS[value]
    elif name == "prepareThreshold" and value.lstrip("-").isdigit():
        found["prepare_threshold"] = int(value) if int(value) > 0 else None
    elif name == "stringtype" and value == "unspecified":
        return  # text is accepted for columns of any type anyway
    elif name == "reWriteBatchedInserts":
        return  # batches are always pipelined
    else:
        known = ", ".join(sorted([*_NAMES, *_OTHERS], key=str.lower))
        raise UnsupportedError(
            f"the parameter {name} of a jdbc:postgresql: URL, or its value, is not known; there are {known}"
        )
