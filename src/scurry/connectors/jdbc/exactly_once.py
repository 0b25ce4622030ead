"""JdbcExactlyOnceSink: executes the statement of each record exactly once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.jdbc.database import Database
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcExactlyOnceOptions
from scurry.connectors.jdbc.row_text import RowText
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.jdbc.sink import WRITING, JdbcSink
from scurry.connectors.jdbc.statement import Rows, Run, Statement
from scurry.connectors.sink import Committer, SinkWriter, WriterContext
from scurry.errors import SinkCommitError

#: Up to this size (in characters of text), a task sends its records of a micro-batch with its result.
CARRIED_CHARACTERS = 256 * 1024

#: A block of text is not longer if it can be divided; a server of MySQL takes 16 MB at once.
BLOCK_CHARACTERS = 4 * 1024 * 1024

#: Number of records in a block of text if the sink has no batch size.
_BLOCK_ROWS = 5000


@dataclass(frozen=True)
class JdbcExactlyOnceSink(JdbcSink):
    """Execute an SQL statement exactly once for every record, all of a micro-batch in one transaction.

    Tasks must not write to the target. If each task had its own transaction, a crash could leave some of a batch's
    transactions committed and others not. The repeated batch may assign its records to other tasks (with another
    parallelism it always does), so knowing which tasks had committed would not show which *records* are missing.
    Prepared transactions, which Flink's XA sink uses, do not solve this, because some may be committed when the driver
    dies. They also hold locks until they are ended, and PostgreSQL rejects them unless configured.

    A micro-batch is therefore committed as a whole. Tasks pass their records to the committer: few with their result,
    many through a staging table. In one transaction, the committer

    1. locks the sink's row in the commit table,
    2. unless the row says that the batch or a later one is committed, executes the statement for all records and writes
       the batch's number into the row,
    3. deletes the staged records.

    Failures are handled as follows:

    - Killed before the transaction is committed: nothing has happened. The repeated batch has the same number and
      stages its records again. Records staged by failed attempts are never read, and deleted with the next commit.
    - Killed after that, but before Spark records it: the repeated batch finds its number and executes nothing.
    - The connection is lost during the commit: the number shows whether the transaction was committed.
    - A driver that was assumed dead commits at the same time: the row's lock serializes the two, and the number stops
      the second.

    This requires that the engine repeats a batch with its number and the same input, that operators produce the same
    records from it, and that no other job uses the same sink id, which the engine ensures. The disadvantage is that one
    connection executes all statements of a batch (pipelined). For a target that needs many writers, use an upsert and
    `JdbcSink`.

    Attributes:
        tables: Names of commit table and staging table, both in the target database.
    """

    tables: JdbcExactlyOnceOptions = field(default_factory=JdbcExactlyOnceOptions)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that passes its records to the committer."""
        return _StagingWriter(self, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that executes the statement."""
        return _TransactionCommitter(self, sink_id)


@dataclass(frozen=True)
class _Staged:
    """The committable of a task: blocks of text, or their place in the staging table."""

    blocks: tuple[str, ...]
    writer: str = ""
    staged: int = 0


class _Staging:
    """The staging table."""

    def __init__(self, database: Database, table: str, sink_id: str) -> None:
        self._database = database
        self._table = table
        self._sink_id = sink_id
        self._insert, _ = database.translate(
            f"INSERT INTO {table} (sink_id, batch_id, writer, block, content) VALUES (?, ?, ?, ?, ?) "
            f"{database.keeping('block')}"  # a retried transaction may find its own rows
        )
        self._select, _ = database.translate(f"SELECT content FROM {table} WHERE writer = ? AND block = ?")
        self._delete, _ = database.translate(f"DELETE FROM {table} WHERE sink_id = ? AND batch_id <= ?")

    def create(self, connection: Any) -> None:
        columns = "sink_id varchar(64) NOT NULL, batch_id bigint NOT NULL, writer varchar(32) NOT NULL, "
        columns += "block integer NOT NULL, content text NOT NULL, PRIMARY KEY (writer, block)"
        self._database.create_table(connection, self._table, columns)

    def put(self, connection: Any, batch_id: int, writer: str, block: int, content: str) -> None:
        connection.execute(self._insert, [self._sink_id, batch_id, writer, block, content])

    def get(self, connection: Any, staged: _Staged) -> Iterator[str]:
        yield from staged.blocks
        for block in range(staged.staged):
            found = connection.execute(self._select, [staged.writer, block]).fetchone()
            if found is None:
                raise SinkCommitError(
                    f"records of a batch are missing in {self._table}; something else deletes from it. The batch is "
                    "not committed, so a restarted job writes it"
                )
            yield found[0]

    def clear(self, connection: Any, batch_id: int) -> None:
        connection.execute(self._delete, [self._sink_id, batch_id])


class _StagingWriter(SinkWriter):
    def __init__(self, sink: JdbcExactlyOnceSink, context: WriterContext) -> None:
        database = database_of(sink.connection)
        self._statement = Statement(database, sink.sql, sink.type_info)
        self._text = RowText(sink.type_info)
        self._session = JdbcSession(database, sink.execution.get_max_retries())
        self._staging = _Staging(database, sink.tables.staging_table, context.sink_id)
        self._batch_id = context.batch_id
        self._size = sink.execution.get_batch_size() or _BLOCK_ROWS
        self._writer = uuid.uuid4().hex  # unique to the attempt, which therefore never sees rows of other attempts
        self._rows: Rows = []
        self._blocks: list[str] = []
        self._carried = 0
        self._staged = 0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._rows += self._statement.rows(values)
        while len(self._rows) >= self._size:
            self._end_block(self._size)

    def _end_block(self, count: int) -> None:
        block, self._rows = self._rows[:count], self._rows[count:]
        for text in self._texts(block):
            self._blocks.append(text)
            self._carried += len(text)
        if self._staged or self._carried > CARRIED_CHARACTERS:
            self._stage()

    def _texts(self, block: Rows) -> Iterator[str]:
        text = self._text.encode(block)
        if len(text) <= BLOCK_CHARACTERS or len(block) == 1:
            yield text
            return
        half = len(block) // 2
        yield from self._texts(block[:half])
        yield from self._texts(block[half:])

    def _stage(self) -> None:
        blocks, first, staging = self._blocks, self._staged, self._staging

        def put(connection: Any) -> None:
            for number, content in enumerate(blocks, first):
                staging.put(connection, self._batch_id, self._writer, number, content)

        if not first:
            self._session.transact(staging.create, WRITING)
        self._session.transact(put, WRITING)
        self._staged += len(blocks)
        self._blocks = []

    def prepare_commit(self) -> list[Any]:
        if self._rows:
            self._end_block(len(self._rows))
        self._session.close()
        return [_Staged(tuple(self._blocks), self._writer, self._staged)] if self._blocks or self._staged else []

    def abort(self) -> None:
        self._session.close()


class _TransactionCommitter(Committer):
    def __init__(self, sink: JdbcExactlyOnceSink, sink_id: str) -> None:
        database = self._database = database_of(sink.connection)
        self._statement = Statement(database, sink.sql, sink.type_info)
        self._text = RowText(sink.type_info)
        self._session = JdbcSession(database, sink.execution.get_max_retries())
        self._staging = _Staging(database, sink.tables.staging_table, sink_id)
        self._table = sink.tables.commit_table
        self._sink_id = sink_id
        self._created = False
        self._sql = sink.sql
        self._lock = [database.translate(sql)[0] for sql in database.locking(self._table)]
        self._update, _ = database.translate(
            f"UPDATE {self._table} SET batch_id = ?, committed_at = CURRENT_TIMESTAMP WHERE sink_id = ?"
        )

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if not committables:
            return  # earlier attempts had the same input, so they committed nothing either
        if not self._created:
            self._session.transact(self._create_tables, WRITING)
            self._created = True

        def commit(connection: Any, run: Run) -> None:
            for sql in self._lock:
                found = connection.execute(sql, [self._sink_id])
            (committed,) = found.fetchone()
            if committed < batch_id:
                for staged in committables:
                    for text in self._staging.get(connection, staged):
                        run(connection, self._text.decode(text))
                connection.execute(self._update, [batch_id, self._sink_id])
            self._staging.clear(connection, batch_id)

        self._statement.write(self._session, commit, WRITING)

    def _create_tables(self, connection: Any) -> None:
        columns = "sink_id varchar(64) PRIMARY KEY, batch_id bigint NOT NULL, "
        columns += "committed_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP"
        self._database.create_table(connection, self._table, columns)
        self._staging.create(connection)
        self._database.check_transactions(connection, self._sql)

    def finish(self) -> None:
        self._session.close()
