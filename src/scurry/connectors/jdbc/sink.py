"""JdbcSink: executes an SQL statement for every record, at least once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scurry.common.typeinfo import RowTypeInfo
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.statement import Rows, Statement
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext

WRITING = "cannot write to"


@dataclass(frozen=True)
class JdbcSink(Sink):
    """Execute an SQL statement for every record, in batches, from the tasks.

    At least once: every batch is a separate transaction, so what a failed task has written remains, and the repeated
    task writes it again. With an idempotent statement (`INSERT ... ON CONFLICT ... DO UPDATE`) this has no effect. For
    all others, use `JdbcExactlyOnceSink`.

    Attributes:
        sql: The statement, with a `?` for each field of a record, in order.
        type_info: Type of the records.
        connection: The connection options.
        execution: Batch size and number of retries.
    """

    sql: str
    type_info: RowTypeInfo
    connection: JdbcConnectionOptions
    execution: JdbcExecutionOptions

    def __post_init__(self) -> None:
        """Check everything that needs no connection, like `Statement`."""
        Statement(database_of(self.connection), self.sql, self.type_info)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first write."""
        return _BatchWriter(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that has nothing to do."""
        return _Nothing()


class _BatchWriter(SinkWriter):
    def __init__(self, sink: JdbcSink) -> None:
        database = database_of(sink.connection)
        self._statement = Statement(database, sink.sql, sink.type_info)
        self._session = JdbcSession(database, sink.execution.get_max_retries())
        self._size = sink.execution.get_batch_size() or float("inf")
        self._interval = sink.execution.get_batch_interval_ms() / 1000 or float("inf")
        self._rows: Rows = []
        self._since = 0.0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        if not self._rows:
            self._since = time.monotonic()
        self._rows += self._statement.rows(values)
        while len(self._rows) >= self._size:
            self._flush(int(self._size))
        if self._rows and time.monotonic() - self._since >= self._interval:
            self._flush(len(self._rows))

    def _flush(self, count: int) -> None:
        batch, self._rows = self._rows[:count], self._rows[count:]
        self._since = time.monotonic()
        self._statement.write(self._session, lambda connection, run: run(connection, batch), WRITING)

    def prepare_commit(self) -> list[Any]:
        if self._rows:
            self._flush(len(self._rows))
        self._session.close()
        return []

    def abort(self) -> None:
        self._session.close()


class _Nothing(Committer):
    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        return
