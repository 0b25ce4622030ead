"""Conversion of the JDBC URLs of MySQL and MariaDB to the arguments of PyMySQL."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote

from scurry._dataclasses import dataclass
from scurry.connectors.jdbc.connection import Connection
from scurry.errors import ArgumentError, UnsupportedError

CONNECT_SECONDS = 10
"""How long a server may take to answer unless the URL says `connectTimeout`."""

_URL = re.compile(
    r"jdbc:(?P<scheme>mysql|mariadb)://(?P<host>\[[^\]]*\]|[^:/?,@]*)(?::(?P<port>\d+))?(?:/(?P<database>[^?]*))?"
    r"(?:\?(?P<parameters>.*))?",
    re.DOTALL,
)

#: Parameters whose effect sessions have anyway -> the values that ask for it; None for any.
_HAS_IT_ANYWAY: dict[str, tuple[str, ...] | None] = {
    "allowPublicKeyRetrieval": None,  # the key is asked for when it is needed
    "autoReconnect": None,  # retries connect again
    "characterEncoding": ("utf-8", "utf8", "utf8mb4"),
    "connectionTimeZone": ("utc", "gmt", "+00:00"),
    "rewriteBatchedStatements": None,  # insertions are always written together
    "serverTimezone": ("utc", "gmt", "+00:00"),
    "tinyInt1isBit": ("true",),
    "useCursorFetch": None,
    "useUnicode": ("true", "yes"),
    "zeroDateTimeBehavior": ("exception",),
}
#: Names of modes in the drivers of MySQL and MariaDB -> what they ask for.
_SSL_MODES = {
    "disabled": "disabled",
    "disable": "disabled",
    "false": "disabled",
    "preferred": "preferred",
    "required": "required",
    "trust": "required",
    "verify_ca": "verify-ca",
    "verify-ca": "verify-ca",
    "verify_identity": "verify-full",
    "verify-full": "verify-full",
}
_OTHERS = ("connectTimeout", "password", "serverSslCert", "socketTimeout", "sslMode", "useSSL", "user")


@dataclass(frozen=True)
class MySqlAddress:
    """Parts of a URL.

    Attributes:
        arguments: Arguments of `pymysql.connect`.
        tls: One of `disabled`, `preferred`, `required`, `verify-ca`, `verify-full`.
        authorities: The file of the certificates that are trusted; None for those of the machine.
    """

    arguments: dict[str, Any]
    tls: str
    authorities: str | None

    @property
    def encrypted(self) -> bool:
        """True if a connection without TLS is refused."""
        return self.tls not in ("disabled", "preferred")

    def tls_arguments(self) -> dict[str, Any]:
        """Return the arguments of `pymysql.connect` for TLS; without any it is used if the server has it."""
        if self.tls == "preferred":
            return {}
        if self.tls == "disabled":
            return {"ssl_disabled": True}
        made = ssl.create_default_context(cafile=self.authorities)
        made.check_hostname = self.tls == "verify-full"
        if not self.tls.startswith("verify"):
            made.verify_mode = ssl.CERT_NONE
        return {"ssl": made}


def mysql_address(options: Connection) -> MySqlAddress:
    """Return the address and settings in a JDBC URL with user and password.

    Raises:
        ArgumentError: The URL is not valid.
        UnsupportedError: A parameter is not supported.
    """
    url = _URL.fullmatch(options.get_db_url())
    if url is None:
        raise ArgumentError(
            f"{options.shown_url} is no URL of one server like jdbc:mysql://host:3306/database; user and password go "
            "into with_user_name and with_password, in SQL into 'username' and 'password'"
        )
    found: dict[str, Any] = {
        "host": url["host"].strip("[]") or "localhost",
        "port": int(url["port"] or 3306),
        "database": unquote(url["database"] or "") or None,
        "connect_timeout": CONNECT_SECONDS,
        "charset": "utf8mb4",
    }
    # As the drivers: that of MySQL encrypts if the server can, that of MariaDB if it is told to.
    tls, authorities = "preferred" if url["scheme"] == "mysql" else "disabled", None
    for name, value in parse_qsl(url["parameters"] or "", keep_blank_values=True):
        if name == "sslMode" and value.lower() in _SSL_MODES:
            tls = _SSL_MODES[value.lower()]
        elif name == "useSSL" and value.lower() in ("true", "false"):
            tls = "required" if value.lower() == "true" else "disabled"
        elif name == "serverSslCert":
            authorities = value
        elif name in _ARGUMENTS:
            argument, convert = _ARGUMENTS[name]
            found[argument] = convert(value)
        elif not _has_anyway(name, value):
            raise _unknown(name)
    for name, explicit in (("user", options.get_user_name()), ("password", options.get_password())):
        if explicit is not None:
            found[name] = explicit
    return MySqlAddress(found, tls, authorities)


def _has_anyway(name: str, value: str) -> bool:
    values = _HAS_IT_ANYWAY.get(name, ())
    return values is None or value.lower() in values


def _unknown(name: str) -> UnsupportedError:
    if name in ("serverTimezone", "connectionTimeZone"):
        return UnsupportedError(
            f"the parameter {name} of a jdbc:mysql: URL can only be UTC: sessions are in UTC, in which values of "
            "TIMESTAMP are read and written"
        )
    known = ", ".join(sorted([*_HAS_IT_ANYWAY, *_OTHERS], key=str.lower))
    return UnsupportedError(f"the parameter {name} of a jdbc:mysql: URL, or its value, is not known; there are {known}")


def _seconds(millis: str) -> int:
    if not millis.isdigit():
        raise ArgumentError(f"{millis!r} in a jdbc:mysql: URL is no number of milliseconds")
    return max(1, int(millis) // 1000)


def _read_seconds(millis: str) -> int | None:
    return _seconds(millis) if millis != "0" else None


#: parameter -> argument of PyMySQL, and how its value is made
_ARGUMENTS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "connectTimeout": ("connect_timeout", _seconds),
    "password": ("password", str),
    "socketTimeout": ("read_timeout", _read_seconds),
    "user": ("user", str),
}
