"""URLs of connections: `scurry://` in this process, `scurry://:TOKEN@HOST:PORT/CATALOG/DATABASE` in a gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from scurry._dataclasses import dataclass
from scurry.dbapi.exceptions import InterfaceError
from scurry.errors.suggestions import did_you_mean

_SCHEMES = ("scurry", "scurry+gateway")
_MODES = ("batch", "streaming")
_TRUE_OR_FALSE = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Target:
    """The place of a session, and its settings.

    Attributes:
        endpoint: The gateway, such as `http://127.0.0.1:8083`; None for this process.
        token: The token for its requests.
        catalog: The catalog that is current.
        database: The database that is current.
        runtime_mode: `batch` or `streaming`.
        timeout: Seconds that an execution or a fetch takes at most; None for no limit.
        changelog: Whether each row begins with its kind of change.
        init_file: A file with statements that are executed first.
        settings: Settings of the session.
    """

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    catalog: str | None = None
    database: str | None = None
    runtime_mode: str = "batch"
    timeout: float | None = None
    changelog: bool = False
    init_file: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)


def target_of(url: str) -> Target:
    """Return the target of a URL.

    Raises:
        InterfaceError: It is no such URL.
    """
    try:
        parts = urlsplit(url)
        host, port, password = parts.hostname, parts.port, parts.password
    except ValueError as error:
        raise InterfaceError(f"the URL of the connection cannot be read: {error}") from None
    if parts.scheme not in _SCHEMES:
        raise InterfaceError(
            f"the URL of the connection begins with {parts.scheme or 'no scheme'}://; take scurry:// for this process, "
            "or scurry://HOST:PORT for a SQL gateway"
        )
    if host is None and parts.scheme != "scurry":
        raise InterfaceError("scurry+gateway:// needs HOST:PORT of a SQL gateway")
    given = arguments_of(dict(parse_qsl(parts.query, keep_blank_values=True)))
    tls = given.pop("tls", False)
    names = [unquote(name) for name in parts.path.split("/") if name]
    if len(names) > 2:
        raise InterfaceError("the path of the URL is /CATALOG or /CATALOG/DATABASE")
    catalog, database = (names + [None, None])[:2]
    return Target(
        endpoint=None if host is None else endpoint_of(host, port, tls),
        token=None if password is None else unquote(password),
        catalog=catalog,
        database=database,
        **given,
    )


def endpoint_of(host: str, port: int | None, tls: bool) -> str:
    """Return the URL of a gateway's REST endpoint, by default on port 8083."""
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port or 8083}"


def arguments_of(query: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that the query of a URL names; keys with a dot are settings of the session.

    Raises:
        InterfaceError: A key is unknown, or a value cannot be read.
    """
    given: dict[str, Any] = {}
    settings: dict[str, str] = {}
    for key, value in query.items():
        if "." in key:
            settings[key] = value
        elif key in _READERS:
            given[key] = _READERS[key](key, value)
        elif key in ("token", "password"):
            raise InterfaceError(
                "a token in the query of a URL would be shown and logged: write scurry://:TOKEN@HOST:PORT, set "
                "SCURRY_REST_TOKEN, or pass token="
            )
        else:
            known = f"there are {', '.join(_READERS)}, and settings of the session"
            raise InterfaceError(f"{key!r} in the query of the URL is unknown: {did_you_mean(key, _READERS) or known}")
    return {**given, **({"settings": settings} if settings else {})}


def mode_of(key: str, value: str) -> str:
    """Return a runtime mode in small letters."""
    if value.lower() not in _MODES:
        raise InterfaceError(f"{key} is 'batch' or 'streaming', got {value!r}")
    return value.lower()


def _seconds(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InterfaceError(f"{key} is a number of seconds, got {value!r}") from None


def _flag(key: str, value: str) -> bool:
    if value.lower() not in _TRUE_OR_FALSE:
        raise InterfaceError(f"{key} is true or false, got {value!r}")
    return _TRUE_OR_FALSE[value.lower()]


_READERS: dict[str, Any] = {
    "runtime_mode": mode_of,
    "timeout": _seconds,
    "changelog": _flag,
    "init_file": lambda key, value: value,
    "tls": _flag,
}
