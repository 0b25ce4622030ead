"""Sinks of tables: rows are inserted exactly once, or written by their key."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scurry.common.types import Row, RowKind
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.exactly_once import JdbcExactlyOnceSink
from scurry.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.sink import WRITING
from scurry.connectors.jdbc.statement import Rows, Statement
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ValidationError
from scurry.sql.connectors.jdbc import statements
from scurry.sql.connectors.jdbc.columns import TableColumns


@dataclass(frozen=True)
class AppendSink(Sink):
    """Insert every row exactly once.

    Attributes:
        rows: Executes the statement of the rows.
        columns: The columns.
    """

    rows: JdbcExactlyOnceSink
    columns: TableColumns

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that passes rows to the committer."""
        named = replace(context, sink_id=_short(context.sink_id))
        return _AppendWriter(self.rows.create_writer(named), self.columns)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that inserts the rows in one transaction."""
        return self.rows.create_committer(_short(sink_id))


def _short(sink_id: str) -> str:
    """Return a name that fits the column `sink_id` of the table of commits."""
    return hashlib.sha256(sink_id.encode()).hexdigest()[:40]


class _AppendWriter(SinkWriter):
    def __init__(self, rows: SinkWriter, columns: TableColumns) -> None:
        self._rows = rows
        self._columns = columns

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for changes in values:
            if changes.kinds is not None and any(changes.kinds):
                raise ValidationError(
                    "please declare primary key for sink table when query contains update/delete record."
                )
            self._rows.write(self._columns.rows(changes))

    def prepare_commit(self) -> list[Any]:
        return self._rows.prepare_commit()

    def abort(self) -> None:
        self._rows.abort()


@dataclass(frozen=True)
class UpsertSink(Sink):
    """Write rows by their primary key, from the tasks: writing a row again changes nothing.

    Attributes:
        table: The table.
        key: Names of the columns of the primary key.
        columns: All columns.
        connection: Where the database is.
        execution: Batch size and number of retries.
    """

    table: str
    key: tuple[str, ...]
    columns: TableColumns
    connection: JdbcConnectionOptions
    execution: JdbcExecutionOptions

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first write."""
        return _UpsertWriter(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that has nothing to do."""
        return _Nothing()


_GONE = (RowKind.DELETE.value, RowKind.UPDATE_BEFORE.value)


class _UpsertWriter(SinkWriter):
    """Keep the last change of each key, and write these."""

    def __init__(self, sink: UpsertSink) -> None:
        database = database_of(sink.connection)
        self._columns = sink.columns
        self._key = [sink.columns.names.index(name) for name in sink.key]
        self._upsert = Statement(
            database, statements.upsert(sink.table, sink.columns.names, sink.key), sink.columns.row_type()
        )
        self._delete = Statement(database, statements.delete(sink.table, sink.key), sink.columns.row_type(sink.key))
        self._session = JdbcSession(database, sink.execution.get_max_retries())
        self._size = sink.execution.get_batch_size() or float("inf")
        self._interval = sink.execution.get_batch_interval_ms() / 1000 or float("inf")
        self._last: dict[tuple[Any, ...], Row | None] = {}
        self._since = time.monotonic()

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for changes in values:
            kinds = changes.kinds if changes.kinds is not None else [0] * changes.batch.num_rows
            for kind, row in zip(kinds, self._columns.rows(changes), strict=True):
                if not self._last:
                    self._since = time.monotonic()
                key = tuple(row[position] for position in self._key)
                # A row before an update is followed by the row after it, unless a condition has dropped that one.
                self._last[key] = None if kind in _GONE else row
                if len(self._last) >= self._size:
                    self._flush()
        if self._last and time.monotonic() - self._since >= self._interval:
            self._flush()

    def _flush(self) -> None:
        last, self._last = self._last, {}
        self._write(self._upsert, [row for row in last.values() if row is not None])
        self._write(self._delete, [Row(*key) for key, row in last.items() if row is None])

    def _write(self, statement: Statement, records: list[Row]) -> None:
        if records:
            rows: Rows = statement.rows(records)
            statement.write(self._session, lambda connection, run: run(connection, rows), WRITING)

    def prepare_commit(self) -> list[Any]:
        self._flush()
        self._session.close()
        return []

    def abort(self) -> None:
        self._session.close()


class _Nothing(Committer):
    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        return
