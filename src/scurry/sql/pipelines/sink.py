"""PipelineSink: writes many tables of one system, which it creates and to which it adds columns."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.sql.pipelines.changes import SinkTable
from scurry.sql.pipelines.targets import Target

#: Tables that this process has created or altered.
_prepared: set[tuple[PipelineSink, str, str]] = set()


def prepare(sink: PipelineSink, table: SinkTable) -> None:
    """Create a table in the system, or change its columns; once per process and job."""
    known = (sink, table.path, table.digest)
    if known not in _prepared:
        sink.target.prepare(table)
        _prepared.add(known)


@dataclass(frozen=True)
class PipelineSink(Sink):
    """Write each table by a sink of its own, as a statement with this table does.

    A micro-batch in which the columns of a table change has two sinks of it, one after the other.

    Attributes:
        target: The system.
        run: Tells one start of the job from another, before which its tables may have changed.
    """

    target: Target
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer of a task."""
        return _TablesWriter(self, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of all tables."""
        return _TablesCommitter(self, sink_id)


def _id(sink_id: str, table: SinkTable) -> str:
    # One by columns, too: a committer knows by the number of a micro-batch that it has committed it.
    return f"{sink_id}-{table.path}-{table.digest}"


@dataclass(frozen=True)
class _Written:
    """The committables of a table in a task."""

    table: SinkTable
    committables: tuple[Any, ...] = field(repr=False)


class _TablesWriter(SinkWriter):
    def __init__(self, sink: PipelineSink, context: WriterContext) -> None:
        self._sink = sink
        self._context = context
        self._open: dict[str, tuple[SinkTable, SinkWriter]] = {}
        self._written: list[_Written] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for each in values:
            writer = self._writer(each.table)
            if each.record_count:  # otherwise it brings columns
                writer.write([each.changes])

    def _writer(self, table: SinkTable) -> SinkWriter:
        known = self._open.get(table.path)
        if known is not None and known[0] == table:
            return known[1]
        if known is not None:
            self._end(*known)
        prepare(self._sink, table)
        context = replace(self._context, sink_id=_id(self._context.sink_id, table))
        writer = self._sink.target.sink(table).create_writer(context)
        self._open[table.path] = table, writer
        return writer

    def _end(self, table: SinkTable, writer: SinkWriter) -> None:
        if committables := writer.prepare_commit():
            self._written.append(_Written(table, tuple(committables)))

    def prepare_commit(self) -> list[Any]:
        for known in self._open.values():
            self._end(*known)
        self._open = {}
        return self._written

    def abort(self) -> None:
        for _, writer in self._open.values():
            writer.abort()


class _TablesCommitter(Committer):
    def __init__(self, sink: PipelineSink, sink_id: str) -> None:
        self._sink = sink
        self._sink_id = sink_id
        self._committers: dict[SinkTable, Committer] = {}

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        by_table: dict[SinkTable, list[Any]] = {}
        for each in committables:
            by_table.setdefault(each.table, []).extend(each.committables)
        for table, found in by_table.items():
            self._committer(table).commit(batch_id, found)

    def _committer(self, table: SinkTable) -> Committer:
        if table not in self._committers:
            prepare(self._sink, table)
            self._committers[table] = self._sink.target.sink(table).create_committer(_id(self._sink_id, table))
        return self._committers[table]

    @property
    def is_full(self) -> bool:
        return any(each.is_full for each in self._committers.values())

    def restarted(self) -> None:
        for each in self._committers.values():
            each.restarted()

    def finish(self) -> None:
        for each in self._committers.values():
            each.finish()
