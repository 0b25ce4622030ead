"""The address and credentials of a schema registry, by the property names of Confluent's clients."""

from __future__ import annotations

import base64
import ssl
import urllib.parse
from collections.abc import Mapping

from scurry.errors import ArgumentError, UnsupportedError

_KNOWN = frozenset(
    {
        "basic.auth.credentials.source",
        "basic.auth.user.info",
        "bearer.auth.credentials.source",
        "bearer.auth.token",
        "schema.registry.request.timeout.ms",
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.key.location",
    }
)
#: Flink's SQL connectors and Confluent's clients sometimes use this prefix.
_PREFIX = "schema.registry."


class RegistrySettings:
    """The settings of a registry client; its text contains no secrets. Settings with equal content are equal."""

    def __init__(self, url: str, configs: Mapping[str, str] | None = None) -> None:
        """Create settings from the address and the properties.

        Args:
            url: One or more addresses, separated by commas; they may contain user and password.
            configs: Properties: `basic.auth.user.info`, `bearer.auth.token`, `ssl.ca.location`,
                `ssl.certificate.location`, `ssl.key.location`, `schema.registry.request.timeout.ms`, and the two
                `*.credentials.source`.

        Raises:
            ArgumentError: An address is not an HTTP address, or credentials are missing.
            UnsupportedError: A property is not supported.
        """
        given = {_name(name): str(value) for name, value in (configs or {}).items()}
        self._given = given
        parts = [_address(each.strip()) for each in url.split(",") if each.strip()]
        if not parts:
            raise ArgumentError("the schema registry has no address; give its URL, e.g. http://registry:8081")
        self._source = url
        #: The addresses, without credentials.
        self.urls = tuple(address for address, _ in parts)
        #: The value of the Authorization header.
        self.authorization = _authorization(given, next((login for _, login in parts if login), None))
        try:
            self.timeout_seconds = int(given.get("schema.registry.request.timeout.ms", "10000")) / 1000
        except ValueError:
            raise ArgumentError("schema.registry.request.timeout.ms must be a whole number of milliseconds") from None

    @property
    def _key(self) -> tuple[object, ...]:
        return self.urls, self.authorization, tuple(sorted(self._given.items()))

    def __eq__(self, other: object) -> bool:
        """Compare addresses and properties."""
        return isinstance(other, RegistrySettings) and self._key == other._key

    def __hash__(self) -> int:
        """Hash addresses and properties."""
        return hash(self._key)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the arguments."""
        return RegistrySettings, (self._source, self._given)

    def __repr__(self) -> str:
        """Return the addresses without credentials."""
        return ",".join(self.urls)

    def tls(self) -> ssl.SSLContext:
        """Return the TLS context for https addresses.

        Raises:
            ArgumentError: A certificate cannot be read.
        """
        certificate = self._given.get("ssl.certificate.location")
        try:
            context = ssl.create_default_context(cafile=self._given.get("ssl.ca.location"))
            if certificate is not None:
                context.load_cert_chain(certificate, self._given.get("ssl.key.location"))
        except OSError as error:
            raise ArgumentError(f"the certificates for the schema registry cannot be read: {error}") from None
        return context


def _name(name: str) -> str:
    short = name.removeprefix(_PREFIX)
    if short in _KNOWN:
        return short
    if name in _KNOWN:
        return name
    hint = "export certificates as PEM files and set ssl.ca.location" if "store" in name else "remove it"
    raise UnsupportedError(f"schema registry property {name}: {hint}; known are {', '.join(sorted(_KNOWN))}")


def _address(url: str) -> tuple[str, str | None]:
    """Return an address without credentials, and the `user:password` in it."""
    found = urllib.parse.urlsplit(url)
    if found.scheme not in ("http", "https") or not found.hostname:
        raise ArgumentError("a schema registry is at an address such as http://registry:8081, which was not given")
    login, _, host = found.netloc.rpartition("@")
    return f"{found.scheme}://{host}{found.path}".rstrip("/"), urllib.parse.unquote(login) or None


def _authorization(given: Mapping[str, str], in_url: str | None) -> str | None:
    basic = given.get("basic.auth.credentials.source")
    bearer = given.get("bearer.auth.credentials.source")
    if basic not in (None, "URL", "USER_INFO") or bearer not in (None, "STATIC_TOKEN"):
        raise UnsupportedError(
            "credentials for a schema registry come from basic.auth.user.info (USER_INFO), from the URL (URL) or from "
            "bearer.auth.token (STATIC_TOKEN)"
        )
    if basic == "USER_INFO" and "basic.auth.user.info" not in given:
        raise ArgumentError("basic.auth.credentials.source is USER_INFO; set basic.auth.user.info to user:password")
    if bearer is not None and "bearer.auth.token" not in given:
        raise ArgumentError("bearer.auth.credentials.source is STATIC_TOKEN; set bearer.auth.token")
    if "bearer.auth.token" in given:
        return f"Bearer {given['bearer.auth.token']}"
    login = given.get("basic.auth.user.info") or in_url
    return None if login is None else f"Basic {base64.b64encode(login.encode()).decode()}"
