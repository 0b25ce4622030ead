"""PipelineSink: writes many tables of one system, which it creates and to which it adds columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.sql.pipelines.changes import SinkTable
from scurry.sql.pipelines.targets import Target

#: Tables that this process has created or altered.
_prepared: set[tuple[Target, str, str]] = set()


def prepare(target: Target, table: SinkTable) -> None:
    """Create a table in the system, or add the columns that it lacks; once per process."""
    known = (target, table.path, table.digest)
    if known not in _prepared:
        target.prepare(table)
        _prepared.add(known)


@dataclass(frozen=True)
class PipelineSink(Sink):
    """Write each table by a sink of its own, as a statement with this table does.

    A micro-batch in which the columns of a table change has two sinks of it, one after the other.
    """

    target: Target

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return the writer of a task."""
        return _TablesWriter(self.target, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer of all tables."""
        return _TablesCommitter(self.target, sink_id)


def _id(sink_id: str, table: SinkTable) -> str:
    # One by columns, too: a committer knows by the number of a micro-batch that it has committed it.
    return f"{sink_id}-{table.path}-{table.digest}"


@dataclass(frozen=True)
class _Written:
    """The committables of a table in a task."""

    table: SinkTable
    committables: tuple[Any, ...] = field(repr=False)


class _TablesWriter(SinkWriter):
    def __init__(self, target: Target, context: WriterContext) -> None:
        self._target = target
        self._context = context
        self._open: dict[str, tuple[SinkTable, SinkWriter]] = {}
        self._written: list[_Written] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for each in values:
            self._writer(each.table).write([each.changes])

    def _writer(self, table: SinkTable) -> SinkWriter:
        known = self._open.get(table.path)
        if known is not None and known[0] == table:
            return known[1]
        if known is not None:
            self._end(*known)
        prepare(self._target, table)
        context = replace(self._context, sink_id=_id(self._context.sink_id, table))
        writer = self._target.sink(table).create_writer(context)
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
    def __init__(self, target: Target, sink_id: str) -> None:
        self._target = target
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
            prepare(self._target, table)
            self._committers[table] = self._target.sink(table).create_committer(_id(self._sink_id, table))
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
