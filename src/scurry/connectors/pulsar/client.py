"""Clients of Pulsar: settings, errors, and message ids as numbers."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.common.redaction import without_secrets
from scurry.errors import ArgumentError, ScurryError, SinkConnectionError, SourceConnectionError

#: Seconds that a request may take.
_REQUEST_SECONDS = 5
#: Seconds that a broker may be away, once it has answered.
PATIENCE_SECONDS = 60.0


def pulsar() -> Any:
    """Return the module `pulsar`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Pulsar", "pulsar-client", "pulsar", "pulsar")


class MessageKey(NamedTuple):
    """The id of a message in a partition; in the order of messages."""

    ledger: int
    entry: int
    batch: int

    @staticmethod
    def of(message_id: Any) -> MessageKey:
        """Return the id that the client has."""
        return MessageKey(message_id.ledger_id(), message_id.entry_id(), message_id.batch_index())

    def id(self) -> Any:
        """Return it as the client takes it."""
        return pulsar().MessageId(-1, *self)


#: Before all messages.
EARLIEST = MessageKey(-1, -1, -1)


@dataclass(frozen=True)
class PulsarService:
    """A cluster, and how to connect to it; its text has no secrets.

    Attributes:
        service_url: `pulsar://host:port`, or `pulsar+ssl://host:port`.
        auth_plugin: Java's class of the authentication, which names one of the client's; None without.
        auth_params: Its parameters, as `token:...` or in JSON.
        options: Settings of the client, by Flink's names.
    """

    service_url: str
    auth_plugin: str | None = None
    auth_params: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"PulsarService({self.place})"

    @cached_property
    def place(self) -> str:
        """Return the address for messages."""
        return without_secrets(self.service_url)

    def check(self) -> None:
        """Check the settings without connecting.

        Raises:
            ArgumentError: The address is none of Pulsar, or there is no such authentication.
        """
        if not self.service_url.startswith(("pulsar://", "pulsar+ssl://")):
            raise ArgumentError(f"the service URL begins with pulsar:// or pulsar+ssl://, got {self.place!r}")
        self._authentication()

    def _authentication(self) -> Any:
        if self.auth_plugin is None:
            return None
        name, module = self.auth_plugin.rpartition(".")[2], pulsar()
        if name == "AuthenticationToken":
            return module.AuthenticationToken(self.auth_params.removeprefix("token:"))
        given = _parameters(self.auth_params)
        if name == "AuthenticationBasic":
            return module.AuthenticationBasic(given.get("userId", ""), given.get("password", ""))
        if name == "AuthenticationTls":
            return module.AuthenticationTLS(given.get("tlsCertFile", ""), given.get("tlsKeyFile", ""))
        if name == "AuthenticationOAuth2":
            return module.AuthenticationOauth2(self.auth_params)
        raise ArgumentError(
            f"authentication {self.auth_plugin!r} is none of AuthenticationToken, AuthenticationBasic, "
            "AuthenticationTls, AuthenticationOAuth2"
        )

    def client(self) -> Any:
        """Return a client, which connects with its first request."""
        module, given = pulsar(), dict(self.options)
        tls: dict[str, Any] = {}
        if "pulsar.client.tlsTrustCertsFilePath" in given:
            tls["tls_trust_certs_file_path"] = given["pulsar.client.tlsTrustCertsFilePath"]
        if given.get("pulsar.client.tlsAllowInsecureConnection", "").lower() == "true":
            tls["tls_allow_insecure_connection"] = True
        return module.Client(
            self.service_url,
            authentication=self._authentication(),
            operation_timeout_seconds=_REQUEST_SECONDS,
            connection_timeout_ms=_REQUEST_SECONDS * 1000,
            # A logger of Python would be called by threads of the client while the interpreter ends, which aborts.
            logger=module.FileLogger(module.LoggerLevel.Error, os.devnull),
            **tls,
        )

    def error(self, error: Exception, reads: bool) -> ScurryError:
        """Return the error for a request that failed."""
        module, text = pulsar(), str(error).removeprefix("Pulsar error: ")
        if isinstance(error, (module.AuthenticationError, module.AuthorizationError)):
            reason = f"{text}; check set_authentication (pulsar.client.authPluginClassName, authParams)"
        elif isinstance(error, (module.Timeout, module.ConnectError)):
            reason = f"it does not answer ({text}); check set_service_url (service-url), and that a broker runs there"
        else:
            reason = text
        kind = SourceConnectionError if reads else SinkConnectionError
        return kind(f"Pulsar at {self.place}: {reason}")


def _parameters(text: str) -> dict[str, str]:
    if text.startswith("{"):
        found: dict[str, str] = json.loads(text)
        return found
    return dict(part.partition(":")[::2] for part in text.split(",") if part)


def full_name(topic: str) -> str:
    """Return the whole name of a topic: `persistent://public/default/...`."""
    if "://" in topic:
        return topic
    return f"persistent://{topic}" if topic.count("/") == 2 else f"persistent://public/default/{topic}"
