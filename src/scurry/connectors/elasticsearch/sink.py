"""ElasticsearchSink: writes the actions that an emitter makes of records in bulk requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.connectors.elasticsearch.bulk import Action, BulkRequests, BulkSettings
from scurry.connectors.http.client import HttpSettings
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext

#: Records of which actions are made at once.
_PIECE_RECORDS = 1000


class Emitter(Protocol):
    """Makes actions of records; picklable."""

    def actions(self, values: Sequence[Any]) -> list[Action]:
        """Return the actions of some records."""


@dataclass(frozen=True)
class ElasticsearchSink(Sink):
    """Write documents, from the tasks, before each commit.

    At least once: a repeated micro-batch sends its actions again. Documents with an id are overwritten by what they
    were, so that in the end each is there once; documents without an id may be there twice.

    Attributes:
        hosts: Addresses of the server.
        bulk: When requests are sent, and what follows failures.
        emitter: Makes actions of records.
    """

    hosts: HttpSettings
    bulk: BulkSettings
    emitter: Emitter

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first request."""
        return _BulkWriter(self)


class _BulkWriter(BufferedWriter):
    def __init__(self, sink: ElasticsearchSink) -> None:
        super().__init__(sink.bulk.max_actions, sink.bulk.interval_ms)
        self._emitter = sink.emitter
        self._most_bytes = sink.bulk.max_bytes or float("inf")
        self._bytes = 0
        self._requests = BulkRequests(sink.hosts, sink.bulk)

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for start in range(0, len(values), _PIECE_RECORDS):
            super().write(values[start : start + _PIECE_RECORDS])
            if self._held and self._bytes >= self._most_bytes:
                self._flush(len(self._held))

    def prepared(self, values: list[Any]) -> list[Any]:
        actions = self._emitter.actions(values)
        self._bytes += sum(len(action.lines) for action in actions)
        return actions

    def flush(self, records: list[Any]) -> None:
        self._requests.send(records)
        self._bytes -= sum(len(action.lines) for action in records)

    def close(self) -> None:
        self._requests.close()
