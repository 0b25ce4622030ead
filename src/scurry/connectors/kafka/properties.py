"""Conversion of Kafka client properties from Java's names, as PyFlink programs use them, to librdkafka's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scurry.common.redaction import has_secret
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scurry.errors.suggestions import did_you_mean

#: Properties of Java's clients or Flink's connector that other modules of the source or sink interpret.
_OURS = frozenset(
    """
    auto.offset.reset commit.offsets.on.checkpoint default.api.timeout.ms enable.auto.commit
    partition.discovery.interval.ms scurry.channels
    """.split()
)

#: Properties of the internals of Java's clients, which have no effect here.
_WITHOUT_MEANING = frozenset(
    """
    auto.commit.interval.ms buffer.memory group.protocol key.deserializer key.serializer max.block.ms max.poll.records
    partition.assignment.strategy register.consumer.metrics ssl.keystore.type ssl.truststore.password
    ssl.truststore.type value.deserializer value.serializer
    """.split()
)

_RENAMED = {
    "client.id.prefix": "client.id",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}

#: Further properties that programs set, for hints at misspelt ones.
_COMMON = frozenset(
    """
    acks allow.auto.create.topics api.version.request batch.num.messages batch.size bootstrap.servers
    broker.address.family check.crcs client.id client.rack compression.codec compression.level compression.type
    connections.max.idle.ms debug delivery.timeout.ms enable.idempotence fetch.max.bytes fetch.message.max.bytes
    fetch.min.bytes fetch.queue.backoff.ms fetch.wait.max.ms group.id group.instance.id heartbeat.interval.ms
    isolation.level linger.ms max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms
    message.max.bytes message.timeout.ms metadata.max.age.ms metadata.recovery.strategy queue.buffering.max.kbytes
    queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes queued.min.messages
    receive.message.max.bytes reconnect.backoff.max.ms reconnect.backoff.ms request.required.acks retries
    retry.backoff.max.ms retry.backoff.ms sasl.jaas.config sasl.kerberos.keytab sasl.kerberos.principal
    sasl.kerberos.service.name sasl.mechanism sasl.mechanisms sasl.oauthbearer.client.id sasl.oauthbearer.config
    sasl.oauthbearer.method sasl.password sasl.username security.protocol session.timeout.ms socket.keepalive.enable
    socket.timeout.ms ssl.ca.location ssl.ca.pem ssl.certificate.location ssl.certificate.pem ssl.cipher.suites
    ssl.endpoint.identification.algorithm ssl.key.location ssl.key.password ssl.key.pem ssl.keystore.location
    ssl.keystore.password ssl.truststore.location statistics.interval.ms sticky.partitioning.linger.ms
    transaction.timeout.ms transactional.id
    """.split()
)


def meant_by(unknown: str) -> str:
    """Return a hint at the property that an unknown one means, or at where all of them are listed."""
    known = [*_COMMON, *_OURS, *_WITHOUT_MEANING, *_RENAMED]
    return did_you_mean(unknown, sorted(known)) or (
        "properties have the names of Java's clients or of librdkafka, which lists them in its CONFIGURATION.md"
    )


_CLASSES = re.compile(r"\.class(es)?$|^metric\.reporters$|^config\.providers|^security\.providers$")
_SECRET = re.compile(r"password|secret|token|jaas|ssl\.key|ssl\.keystore\.key|credential|api[._-]?key", re.IGNORECASE)
_JAAS = re.compile(
    r'(?:Plain|Scram)LoginModule\s+required\b.*?\busername="(?P<username>[^"]*)".*?\bpassword="(?P<password>[^"]*)"',
    re.DOTALL,
)


def holds_secret(name: str, value: str) -> bool:
    """Return whether a property is a secret, or has one in it."""
    return _SECRET.search(name) is not None or has_secret(name, value)


class ClientProperties:
    """The properties of a client; its text does not contain secrets."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        """Create properties from Java's or librdkafka's names.

        Raises:
            ArgumentTypeError: A name is not a string.
            ArgumentError: There are no bootstrap servers.
            UnsupportedError: A property only has a meaning for Java's clients.
        """
        for name in given:
            if not isinstance(name, str):
                raise ArgumentTypeError(f"names of Kafka properties are strings, got {name!r}")
        self._given = {name: _text(value) for name, value in given.items()}
        if not self._given.get("bootstrap.servers"):
            raise ArgumentError("no bootstrap servers: call set_bootstrap_servers('host:port,...')")
        self._client = _for_librdkafka(self._given)

    def __repr__(self) -> str:
        """Return the properties without secrets."""
        shown = ", ".join(f"{k}={'******' if _SECRET.search(k) else v}" for k, v in sorted(self._given.items()))
        return f"ClientProperties({shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClientProperties) and self._given == other._given

    def __hash__(self) -> int:
        return hash(frozenset(self._given.items()))

    @property
    def servers(self) -> str:
        """The bootstrap servers."""
        return self._given["bootstrap.servers"]

    def text(self, name: str, default: str = "") -> str:
        """Return a property as text."""
        return self._given.get(name, default)

    def integer(self, name: str, default: int) -> int:
        """Return a property that is a whole number.

        Raises:
            ArgumentError: It is not a whole number.
        """
        try:
            return int(self._given.get(name, default))
        except ValueError:
            raise ArgumentError(f"Kafka property {name} must be a whole number, got {self._given[name]!r}") from None

    def flag(self, name: str, default: bool) -> bool:
        """Return a property that is true or false."""
        return self._given.get(name, str(default)).lower() == "true"

    def client(self, defaults: Mapping[str, Any] | None = None, **fixed: Any) -> dict[str, Any]:
        """Return the configuration of a librdkafka client.

        Args:
            defaults: Values of properties that are not set.
            **fixed: Values that override the properties, with `_` for `.` in names.
        """
        return {**(defaults or {}), **self._client, **{name.replace("_", "."): value for name, value in fixed.items()}}

    @property
    def patience_seconds(self) -> float:
        """Return the seconds that a known cluster may be unavailable: Kafka's `default.api.timeout.ms`."""
        return self.integer("default.api.timeout.ms", 60_000) / 1000


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _for_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    client: dict[str, str] = {}
    for name, value in given.items():
        if name in _OURS or name in _WITHOUT_MEANING:
            continue
        if _CLASSES.search(name):
            raise UnsupportedError(
                f"Kafka property {name} names a Java class; scurry's clients are librdkafka's and load none: remove it"
            )
        if name == "sasl.jaas.config":
            client.update(_credentials(value))
        elif name == "ssl.endpoint.identification.algorithm":
            client[name] = value or "none"
        elif name in ("ssl.truststore.location", "ssl.keystore.location"):
            client.update(_store(name, value, given))
        else:
            client[_RENAMED.get(name, name)] = value
    return client


def _credentials(jaas: str) -> dict[str, str]:
    """Return user and password of a JAAS configuration; errors never show it."""
    found = _JAAS.search(jaas)
    if found is None:
        raise UnsupportedError(
            "sasl.jaas.config is understood for PlainLoginModule and ScramLoginModule with username and password; for "
            "other mechanisms use librdkafka's properties (sasl.kerberos.*, sasl.oauthbearer.*)"
        )
    return {"sasl.username": found["username"], "sasl.password": found["password"]}


def _store(name: str, path: str, given: Mapping[str, str]) -> dict[str, str]:
    trust = name == "ssl.truststore.location"
    kind = given.get("ssl.truststore.type" if trust else "ssl.keystore.type", "")
    if kind.upper() == "PEM" or path.endswith((".pem", ".crt")):
        return {"ssl.ca.location": path} if trust else {"ssl.certificate.location": path, "ssl.key.location": path}
    if not trust and (kind.upper() == "PKCS12" or path.endswith((".p12", ".pfx"))):
        return {name: path}
    raise UnsupportedError(
        f"{name}={path}: librdkafka reads no Java key stores; "
        + (
            "export the certificates (keytool -exportcert -rfc) and set ssl.ca.location to the file"
            if trust
            else "convert it (keytool -importkeystore -deststoretype PKCS12) and set ssl.keystore.type to PKCS12"
        )
    )
