"""Sinks of tables: rows are inserted exactly once, or written by their key."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.types import Row
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.exactly_once import JdbcExactlyOnceSink
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.sink import WRITING
from scurry.connectors.jdbc.statement import Rows, Statement
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ValidationError
from scurry.sql.connectors.jdbc.columns import TableColumns

#: Refusal of updated or deleted rows for a table without a primary key.
WITHOUT_KEY = "please declare primary key for sink table when query contains update/delete record."


@dataclass(frozen=True)
class AppendSink(Sink):
    """Insert every row exactly once.

    Attributes:
        rows: Executes the statement of the rows.
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
            self._rows.write(self._columns.rows(changes.inserted(ValidationError(WITHOUT_KEY))))

    def prepare_commit(self) -> list[Any]:
        return self._rows.prepare_commit()

    def abort(self) -> None:
        self._rows.abort()


@dataclass(frozen=True)
class UpsertSink(Sink):
    """Write rows by their primary key, from the tasks: writing a row again changes nothing.

    Attributes:
        connection: Address of the database.
        max_retries: How often a write is retried.
    """

    table: str
    key: tuple[str, ...]
    columns: TableColumns
    connection: JdbcConnectionOptions
    max_retries: int

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first write."""
        return _UpsertWriter(self)


class _UpsertWriter(SinkWriter):
    """Write changes in a transaction each; none has two rows of the same key."""

    def __init__(self, sink: UpsertSink) -> None:
        database, columns = database_of(sink.connection), sink.columns
        self._columns = columns
        self._key = [columns.names.index(name) for name in sink.key]
        self._upsert = Statement(
            database, columns.dialect.upsert(sink.table, columns.names, sink.key), columns.row_type()
        )
        self._delete = Statement(database, columns.dialect.delete(sink.table, sink.key), columns.row_type(sink.key))
        self._session = JdbcSession(database, sink.max_retries)

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        import pyarrow as pa

        if not values:
            return
        rows = iter(self._columns.rows(pa.concat_batches([changes.batch for changes in values])))
        for changes in values:
            # gone is the finite one: zip has to end before it takes a row of the next changes
            each = list(zip(changes.gone, rows, strict=False))
            self._execute(self._upsert, [row for gone, row in each if not gone])
            self._execute(self._delete, [Row(*(row[at] for at in self._key)) for gone, row in each if gone])

    def _execute(self, statement: Statement, records: list[Row]) -> None:
        if records:
            rows: Rows = statement.rows(records)
            statement.write(self._session, lambda connection, run: run(connection, rows), WRITING)

    def prepare_commit(self) -> list[Any]:
        self._session.close()
        return []

    def abort(self) -> None:
        self._session.close()
