"""DiscardSink: drops the records of operators without a successor."""

from __future__ import annotations

from typing import Any

from scurry.connectors.sink import Sink, SinkWriter, WriterContext


class DiscardSink(Sink):
    """Drop every record; the operator before it runs only for its side effects."""

    staged = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that drops its records."""
        return _Dropping()


class _Dropping(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        return

    def prepare_commit(self) -> list[Any]:
        return []
