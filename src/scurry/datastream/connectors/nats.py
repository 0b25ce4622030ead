"""Streams of NATS JetStream as sources and sinks; Flink has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.connectors.messages import MessageSource
from scurry.connectors.nats.client import NatsServer, nats_module
from scurry.connectors.nats.sink import NatsSink as _NatsSink
from scurry.connectors.nats.streams import NatsMessage, NatsStreams
from scurry.datastream.connectors._queues import QueueSourceBuilder, StagingSinkBuilder
from scurry.errors import ArgumentError

__all__ = ["NatsMessage", "NatsSink", "NatsSinkBuilder", "NatsSource", "NatsSourceBuilder"]


@made_by("builder")
class NatsSource(ApiObject, MessageSource):
    """Read a stream of JetStream exactly once: sequence numbers are part of the checkpoint."""

    @staticmethod
    def builder() -> NatsSourceBuilder:
        """Return a builder; servers, the stream and a deserializer must be set."""
        return NatsSourceBuilder()


class NatsSourceBuilder(QueueSourceBuilder):
    """Builder of a NatsSource."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads from the first message."""
        super().__init__()
        self._server: NatsServer | None = None
        self._stream: str | None = None
        self._subject: str | None = None
        self._begin: str | int = "earliest"
        self._bounded = False

    def set_servers(
        self, servers: str, username: str | None = None, password: str | None = None, token: str | None = None
    ) -> NatsSourceBuilder:
        """Set the servers, `nats://host:port` with commas between, and how to log in."""
        self._server = NatsServer(servers, username, password, token)
        return self

    def set_stream(self, stream: str) -> NatsSourceBuilder:
        """Set the name of the stream, which must exist."""
        self._stream = stream
        return self

    def set_subject(self, subject: str) -> NatsSourceBuilder:
        """Read only messages of these subjects, with the wildcards of NATS."""
        self._subject = subject
        return self

    def set_starting_position(self, position: str | int) -> NatsSourceBuilder:
        """Set where reading begins: `"earliest"`, `"latest"`, `"timestamp:N"` in milliseconds, or a sequence number.

        Raises:
            ArgumentError: There is no such beginning.
        """
        known = position in ("earliest", "latest") or (isinstance(position, int) and position >= 1)
        if not known and not (isinstance(position, str) and position[:10] == "timestamp:" and position[10:].isdigit()):
            raise ArgumentError(
                "a position is 'earliest', 'latest', 'timestamp:N' in milliseconds, or a number from 1, got "
                f"{position!r}"
            )
        self._begin = position
        return self

    def set_bounded(self) -> NatsSourceBuilder:
        """Stop at the messages that there are when the job starts."""
        self._bounded = True
        return self

    def build(self) -> NatsSource:
        """Return the source.

        Raises:
            ArgumentError: The servers, the stream or the deserializer are missing.
            ExtraMissingError: The client is not installed.
        """
        nats_module()
        decoder = self._built_decoder()
        if self._stream is None:
            raise ArgumentError("nothing to read: call set_stream")
        scan = NatsStreams(_given(self._server), self._stream, self._subject, self._begin, self._bounded)
        return NatsSource(scan, decoder, self._bounded, self._drop_malformed)


@made_by("builder")
class NatsSink(ApiObject, _NatsSink):
    """Publish records to subjects of streams, at least once or exactly once."""

    @staticmethod
    def builder() -> NatsSinkBuilder:
        """Return a builder; servers, a subject and a serializer must be set."""
        return NatsSinkBuilder()


class NatsSinkBuilder(StagingSinkBuilder):
    """Builder of a NatsSink."""

    target = "subject"

    def __init__(self) -> None:
        """Begin with nothing set."""
        super().__init__()
        self._server: NatsServer | None = None

    def set_servers(
        self, servers: str, username: str | None = None, password: str | None = None, token: str | None = None
    ) -> NatsSinkBuilder:
        """Set the servers, `nats://host:port` with commas between, and how to log in."""
        self._server = NatsServer(servers, username, password, token)
        return self

    def set_subject(self, subject: str) -> NatsSinkBuilder:
        """Set the subject, which a stream must store."""
        return self._to(subject, None)

    def set_subject_selector(self, selector: Callable[[Any], str]) -> NatsSinkBuilder:
        """Publish each record to the subject that a function returns for it."""
        return self._to(None, selector)

    def build(self) -> NatsSink:
        """Return the sink.

        Raises:
            ArgumentError: The servers, the subject or the serializer are missing, or exactly once is wanted and the
                staging directory is missing.
            ExtraMissingError: The client is not installed.
        """
        nats_module()
        return NatsSink(_given(self._server), self._built_serializer(), self._built_staging("NATS has no transactions"))


def _given(server: NatsServer | None) -> NatsServer:
    if server is None:
        raise ArgumentError("no servers: call set_servers('nats://host:4222')")
    return server
