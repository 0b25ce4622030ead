"""Clients of librdkafka: configuration, errors, and a pool that keeps clients between micro-batches."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from scurry.common._optional import optional_module
from scurry.connectors.kafka.properties import ClientProperties, meant_by
from scurry.errors import ArgumentError

#: Logs librdkafka's messages; silent unless the program sets a level.
_LOGGER = logging.getLogger("scurry.kafka.client")
if _LOGGER.level == logging.NOTSET:
    _LOGGER.setLevel(logging.CRITICAL)

#: Logs waiting for a cluster.
_ANNOUNCER = logging.getLogger("scurry.kafka")
_ANNOUNCER.addHandler(logging.NullHandler())

#: Time that a job waits for a cluster before it says so.
SILENCE_SECONDS = 1.0
#: The end of errors of librdkafka: `(after 0ms in state CONNECT, 5 identical error(s) suppressed)`.
_ASIDE = re.compile(r" \(after \d+ms in state .*\)$")

#: Unused clients are closed after this time.
_IDLE_SECONDS = 30.0

#: Java's default: a client notices a returning broker within 1 s; librdkafka's default is 10 s.
_DEFAULTS = {"reconnect.backoff.max.ms": 1000}
#: Since this version a client that loses all brokers forgets them, after which its transactions may hang indefinitely.
#: (Before 2.11 the property that prevents this is unknown, or makes the loss fatal.)
_FORGETS_BROKERS = 0x02100000


def _defaults(version: int) -> dict[str, Any]:
    """Return the default properties for a version of librdkafka."""
    return {**_DEFAULTS, "metadata.recovery.strategy": "none"} if version >= _FORGETS_BROKERS else _DEFAULTS


def confluent() -> Any:
    """Return the module `confluent_kafka`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Kafka", "confluent-kafka", "kafka", "confluent_kafka", "confluent_kafka.admin")


def announce_wait(servers: str, seconds: float) -> None:
    """Log that the job waits for a cluster; print it on standard error if the program has configured no logging."""
    _ANNOUNCER.warning("waiting up to %.0f s for the Kafka broker %s", seconds, servers)
    logger: logging.Logger | None = _ANNOUNCER
    while logger is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            return
        logger = logger.parent if logger.propagate else None
    print(f"waiting up to {seconds:.0f} s for the Kafka broker {servers}", file=sys.stderr, flush=True)


def committed(consumer: Any, partitions: Sequence[Any], seconds: float) -> list[Any]:
    """Return the partitions for which the consumer's group has committed offsets, with these offsets.

    This does not use librdkafka's AdminClient, which crashes the process when the group's coordinator has moved.

    Raises:
        KafkaException: The offset of a partition is not available now.
    """
    found = consumer.committed(list(partitions), seconds)
    for each in found:
        if each.error is not None:
            raise confluent().KafkaException(each.error)
    return [each for each in found if each.offset >= 0]


def check(properties: ClientProperties) -> None:
    """Check the properties with librdkafka, without connecting.

    Raises:
        ArgumentError: A property is unknown or has an invalid value.
    """
    module = confluent()
    try:
        module.Producer(Trouble().watched(properties.client()))
    except module.KafkaException as error:
        reason = error.args[0].str()
        unknown = re.search(r'No such configuration property: "(.+)"', reason)
        raise ArgumentError(f"Kafka client: {reason}").with_hint(meant_by(unknown[1]) if unknown else "") from None


class Trouble:
    """Collect the errors that a client reports: the reasons for its time-outs."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def watched(self, configuration: dict[str, Any]) -> dict[str, Any]:
        """Return a client's configuration that reports errors to this object."""
        defaults = _defaults(confluent().libversion()[1])
        return {**defaults, **configuration, "error_cb": self.heard, "logger": _LOGGER, "log_level": 4}

    def heard(self, error: Any) -> None:
        """Store an error, without librdkafka's remarks on the state of its connection and repetitions."""
        self._said[error.name()] = _ASIDE.sub("", error.str())

    def clear(self) -> None:
        """Forget all errors, because the cluster has answered."""
        self._said.clear()

    @property
    def refused(self) -> str | None:
        """Why the cluster denies access; None if it does not."""
        return next((text for name, text in self._said.items() if _refuses(name)), None)

    def reason(self, otherwise: object = "it does not answer") -> str:
        """Return the most informative error: denied access, else the latest error, else `otherwise`."""
        said = {name: text for name, text in self._said.items() if name != "_ALL_BROKERS_DOWN"}
        text = self.refused or next(reversed(said.values()), str(otherwise))
        return f"{text}; check security.protocol and the sasl.* and ssl.* properties" if self.refused else text

    def reason_of_silence(self, otherwise: object) -> str:
        """Return the reason why a cluster has never answered, with a cure."""
        reason = self.reason(otherwise)
        return reason if self.refused else f"{reason}; is a broker running there, and can this machine reach it?"


def _refuses(name: str) -> bool:
    return name in ("_AUTHENTICATION", "_SSL") or name.endswith(("_AUTHORIZATION_FAILED", "_AUTHENTICATION_FAILED"))


class Closable(Protocol):
    """An object that can be closed."""

    def close(self) -> None:
        """Release it."""


C = TypeVar("C", bound=Closable)


class ClientPool(Generic[C]):
    """A pool of the process's unused clients, by key; each client is used by one task at a time.

    A pooled client only saves time: its position in a partition is arbitrary.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[Any, list[tuple[float, C]]] = {}
        self._timer: threading.Timer | None = None

    def take(self, key: Any, make: Callable[[], C]) -> C:
        """Return an unused client of the key, or create one."""
        with self._lock:
            free = self._free.get((os.getpid(), key))  # a forked process must not touch its parent's
            if free:
                return free.pop()[1]
        return make()

    def give(self, key: Any, client: C) -> None:
        """Return a working client to the pool."""
        with self._lock:
            self._free.setdefault((os.getpid(), key), []).append((time.monotonic(), client))
            self._watch()

    def _watch(self) -> None:
        if self._timer is None or not self._timer.is_alive():
            self._timer = threading.Timer(_IDLE_SECONDS, self._close_idle)
            self._timer.daemon = True
            self._timer.start()

    def _close_idle(self) -> None:
        now, process, idle = time.monotonic(), os.getpid(), []
        with self._lock:
            for key in [key for key in self._free if key[0] == process]:
                idle += [client for since, client in self._free[key] if now - since >= _IDLE_SECONDS]
                self._free[key] = [(since, client) for since, client in self._free[key] if now - since < _IDLE_SECONDS]
                if not self._free[key]:
                    del self._free[key]
            self._timer = None
            if any(key[0] == process for key in self._free):
                self._watch()
        for client in idle:
            client.close()
