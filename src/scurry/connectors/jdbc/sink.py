"""JdbcSink: executes an SQL statement for every record, at least once."""

from __future__ import annotations

from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import RowTypeInfo
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.statement import Rows, Statement
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext

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


class _BatchWriter(BufferedWriter):
    def __init__(self, sink: JdbcSink) -> None:
        super().__init__(sink.execution.get_batch_size(), sink.execution.get_batch_interval_ms())
        database = database_of(sink.connection)
        self._statement = Statement(database, sink.sql, sink.type_info)
        self._session = JdbcSession(database, sink.execution.get_max_retries())

    def prepared(self, values: list[Any]) -> Rows:
        return self._statement.rows(values)

    def flush(self, records: Rows) -> None:
        self._statement.write(self._session, lambda connection, run: run(connection, records), WRITING)

    def close(self) -> None:
        self._session.close()
