"""JdbcExactlyOnceSink: each record's statement executed once, whatever fails."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scurry.connectors.jdbc.databases import Database, database_of
from scurry.connectors.jdbc.options import JdbcExactlyOnceOptions
from scurry.connectors.jdbc.row_text import RowText
from scurry.connectors.jdbc.session import Session
from scurry.connectors.jdbc.sink import WRITING, JdbcSink
from scurry.connectors.jdbc.statement import Rows, Run, Statement
from scurry.connectors.sink import Committer, SinkWriter, WriterContext
from scurry.errors import SinkCommitError

__all__ = ["JdbcExactlyOnceSink"]

#: A task's records of a micro-batch that are less than this much text travel with the task's result.
CARRIED_CHARACTERS = 256 * 1024

#: Records in a block of text where the sink's batches have no size.
_BLOCK_ROWS = 5000


@dataclass(frozen=True)
class JdbcExactlyOnceSink(JdbcSink):
    """Executes an SQL statement exactly once for every record, all of a micro-batch in one transaction.

    A task must not touch the target. Had each task a transaction of its own, some of a batch's would be committed when
    the job dies, others not, and the repeated batch may deal its records to other tasks (after a restart with another
    parallelism it certainly does): no record of what each task had committed says which *records* are missing.
    Prepared transactions (what Flink's XA sink uses) move the question, for some may be committed when the driver dies;
    they also hold locks until somebody ends them, and PostgreSQL refuses them unless configured.

    So a micro-batch is committed as a whole. Tasks hand their records to the committer, few with their result, many
    through a staging table. The committer, in one transaction: locks the sink's row in the commit table; stops if that
    says the batch, or a later one, is committed; executes the statement for all records; deletes what was staged; and
    writes the batch's number into the row. Then

    - killed before that transaction is committed: it never happened. The repeated batch has the same number, brings its
      records itself, and what its dead predecessors staged is read by nobody and deleted with the next commit;
    - killed after, but before Spark knows: the batch comes again, its number is found, nothing is executed;
    - the connection is lost while it is being committed: the number tells which of the two it was;
    - a driver that was thought dead commits at the same time: the row's lock lets one go first, the number stops the
      other.

    This rests on three things: the engine repeats a batch under its number and with the same input, operators make the
    same records of it, and no other job uses the same sink id, which the engine sees to. The price is that one
    connection executes a batch's statements (pipelined), so a target that needs many writers is better served by an
    upsert and `JdbcSink`.

    Attributes:
        tables: Names of commit table and staging table, both in the target database.
    """

    tables: JdbcExactlyOnceOptions = field(default_factory=JdbcExactlyOnceOptions)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that hands records on."""
        return _StagingWriter(self, context)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that executes the statement."""
        return _TransactionCommitter(self, sink_id)


@dataclass(frozen=True)
class _Staged:
    """What a task hands to the committer: blocks of text, or where they are."""

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
            "ON CONFLICT DO NOTHING"  # a repeated transaction finds its own
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
                    f"records of a batch are gone from {self._table}; something else deletes from it. The batch is not "
                    "committed, so a restarted job writes it"
                )
            yield found[0]

    def clear(self, connection: Any, batch_id: int) -> None:
        connection.execute(self._delete, [self._sink_id, batch_id])


class _StagingWriter(SinkWriter):
    def __init__(self, sink: JdbcExactlyOnceSink, context: WriterContext) -> None:
        database = database_of(sink.connection)
        self._statement = Statement(database, sink.sql, sink.type_info)
        self._text = RowText(sink.type_info)
        self._session = Session(database, sink.execution.get_max_retries())
        self._staging = _Staging(database, sink.tables.staging_table, context.sink_id)
        self._batch_id = context.batch_id
        self._size = sink.execution.get_batch_size() or _BLOCK_ROWS
        self._writer = uuid.uuid4().hex  # of every attempt, so that none meets what another has left
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
        text = self._text.encode(block)
        self._blocks.append(text)
        self._carried += len(text)
        if self._staged or self._carried > CARRIED_CHARACTERS:
            self._stage()

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
        self._session = Session(database, sink.execution.get_max_retries())
        self._staging = _Staging(database, sink.tables.staging_table, sink_id)
        self._table = sink.tables.commit_table
        self._sink_id = sink_id
        self._created = False
        # locks the row, made if there is none, and tells what is in it
        self._lock, _ = database.translate(
            f"INSERT INTO {self._table} AS known (sink_id, batch_id) VALUES (?, -1) "
            "ON CONFLICT (sink_id) DO UPDATE SET batch_id = known.batch_id RETURNING batch_id"
        )
        self._update, _ = database.translate(
            f"UPDATE {self._table} SET batch_id = ?, committed_at = CURRENT_TIMESTAMP WHERE sink_id = ?"
        )

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if not committables:
            return  # nothing was committed by an earlier try, either: it had the same input
        if not self._created:
            self._session.transact(self._create_tables, WRITING)
            self._created = True

        def commit(connection: Any, run: Run) -> None:
            (committed,) = connection.execute(self._lock, [self._sink_id]).fetchone()
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

    def finish(self) -> None:
        self._session.close()
