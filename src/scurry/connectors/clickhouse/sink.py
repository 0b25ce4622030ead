"""ClickHouseSink: inserts rows as blocks of columns, by which the server knows them when they come again."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.clickhouse.client import ClickHouse, ClickHouseTable, ServerRefusal, TableFacts
from scurry.connectors.clickhouse.columns import Misfits, check_columns, check_row, stored_schema
from scurry.connectors.files.formats.columnar import Tables
from scurry.connectors.lakes.writer import TablesOf, tables_of_records
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.staging import Delivery, Numbered, StagingCommitter
from scurry.errors import ArgumentError, RecordRejectedError, SinkConnectionError
from scurry.sql.types.nested_types import RowType

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows of a block, unless the sink says otherwise; ClickHouse wants few large ones.
BLOCK_ROWS = 100_000
#: Rows of a block at most: a server that divides blocks would know only parts of them.
MOST_BLOCK_ROWS = 1_000_000
#: Bytes of rows that are held back for a block.
BLOCK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class ClickHouseSink(Sink):
    """Insert rows into a table.

    At least once: tasks insert blocks of rows before each commit. A block that is sent again since its answer was lost
    is dropped by tables that remember blocks; a repeated micro-batch makes other blocks.

    Exactly once, with a staging directory: the driver stages the blocks of a micro-batch, then inserts them under their
    numbers. What is repeated is the same block under the same number, which the table drops.

    Attributes:
        table: The table.
        row: The type of the rows.
        block_rows: Rows of a block, at most.
        interval_ms: Milliseconds that rows wait for others, 0 for any; at most until the commit.
        staging: The directory of staged blocks; None for at least once.
        tables: Converts what is written to columns.
    """

    table: ClickHouseTable
    row: RowType
    block_rows: int = BLOCK_ROWS
    interval_ms: int = 0
    staging: str | None = None
    tables: TablesOf = tables_of_records

    def __post_init__(self) -> None:
        """Check the columns and the size of blocks.

        Raises:
            UnsupportedError: Columns of ClickHouse do not hold one of the types.
            ArgumentError: Blocks have no rows, or too many.
        """
        check_row(self.row)
        if not 1 <= self.block_rows <= MOST_BLOCK_ROWS:
            raise ArgumentError(f"a block of ClickHouse has 1 to {MOST_BLOCK_ROWS} rows here, not {self.block_rows}")

    @property
    def schema(self) -> pa.Schema:
        """The columns as they are sent."""
        return stored_schema(self.row)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that inserts, or for exactly once one that makes blocks for the committer."""
        tables = self.tables(self.row, self.schema)
        return _Blocks(self, tables) if self.staging is None else _StagedBlocks(self, tables, context.sink_id)

    def create_committer(self, sink_id: str) -> Committer:
        """Check that the table takes the rows, and return the committer.

        Raises:
            ArgumentError: The table has other columns.
            SourceNotFoundError: There is no such table.
            SinkConnectionError: The server does not answer, or the table does not remember blocks.
        """
        facts = self.checked()
        if self.staging is None:
            return super().create_committer(sink_id)
        return StagingCommitter(self.staging, sink_id, lambda name: _Delivery(self, facts, name))

    def checked(self) -> TableFacts:
        """Return engine and columns of the table, which fits the sink."""
        _facts_of.cache_clear()  # the tables of this start of the job
        server = ClickHouse(self.table, SinkConnectionError)
        try:
            facts = server.facts()
            check_columns(self.table, facts, self.row)
            if self.staging is not None and not server.remembered_blocks(facts):
                raise SinkConnectionError(
                    f"exactly once ('sink.delivery-guarantee') needs a table that remembers blocks; {self.table.shown} "
                    f"is {facts.engine} and does not: ALTER TABLE {self.table.quoted} MODIFY SETTING "
                    "non_replicated_deduplication_window = 1000"
                )
        finally:
            server.close()
        return facts


@lru_cache(maxsize=16)
def _facts_of(table: ClickHouseTable) -> TableFacts:
    """Return engine and columns of a table, once in a process: each micro-batch has writers of its own."""
    server = ClickHouse(table, SinkConnectionError)
    try:
        return server.facts()
    finally:
        server.close()


class Inserts:
    """Insert blocks; for one thread."""

    def __init__(self, sink: ClickHouseSink, facts: TableFacts | None = None) -> None:
        self._sink = sink
        self._columns = sink.row.names
        self.server = ClickHouse(sink.table, SinkConnectionError)
        self._misfits = None if facts is None else Misfits(facts)

    def check(self, rows: pa.RecordBatch) -> None:
        """Refuse rows that do not fit the table."""
        if self._misfits is None:
            self._misfits = Misfits(_facts_of(self._sink.table))
        try:
            self._misfits.check(rows)
        except RecordRejectedError:
            _facts_of.cache_clear()  # the table may be mended before the job starts again
            raise

    def insert(self, rows: pa.RecordBatch) -> None:
        """Insert rows, under a name that only they have."""
        self.check(rows)
        self.send(encoded(rows), uuid.uuid4().hex)

    def send(self, block: bytes, token: str) -> None:
        """Insert a block.

        Raises:
            RecordRejectedError: The server refuses a row.
            SinkConnectionError: It does not answer, or refuses the block.
        """
        try:
            self.server.insert(self._columns, block, token)
        except ServerRefusal as refusal:
            raise _refused(refusal, block, self._sink.table) from None


def _refused(refusal: ServerRefusal, block: bytes, table: ClickHouseTable) -> Exception:
    """Return the error for values that the server refuses; of a violated constraint it tells the row."""
    text = f"{refusal.host} refuses rows for {table.shown}: {refusal}"
    row = re.search(r"violated at row (\d+)", str(refusal))
    if row is None:
        return SinkConnectionError(text)
    rows = decoded(block)
    found = rows.slice(min(max(int(row[1]) - 1, 0), rows.num_rows - 1), 1)
    return RecordRejectedError(text, found.to_pylist()[0])


def encoded(rows: pa.RecordBatch) -> bytes:
    """Return rows as a stream of Arrow with one batch, which the server takes as one block."""
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, rows.schema) as writer:
        writer.write_batch(rows)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def decoded(block: bytes) -> pa.RecordBatch:
    """Return the rows of a block."""
    import pyarrow as pa

    return pa.ipc.open_stream(block).read_next_batch()


class _Blocks(SinkWriter):
    """Collect rows, and insert them when they are enough."""

    def __init__(self, sink: ClickHouseSink, tables: Tables) -> None:
        self._sink, self._tables = sink, tables
        self._inserts = Inserts(sink)
        self._held: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._since = 0.0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        if not values:
            return
        if not self._held:
            self._since = time.monotonic()
        rows = self._tables.table(self._tables.prepare(values))
        self._held.append(rows)
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        waited = self._sink.interval_ms and time.monotonic() - self._since >= self._sink.interval_ms / 1000
        if self._rows >= self._sink.block_rows or self._bytes >= BLOCK_BYTES or waited:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        rows = pa.concat_tables(self._held).combine_chunks()
        self._held, self._rows, self._bytes = [], 0, 0
        for batch in rows.to_batches(max_chunksize=self._sink.block_rows):
            self.done(batch)

    def done(self, rows: pa.RecordBatch) -> None:
        """Insert a block."""
        self._inserts.insert(rows)

    def prepare_commit(self) -> list[Any]:
        if self._rows:
            self._flush()
        self._inserts.server.close()
        return []

    def abort(self) -> None:
        self._inserts.server.close()


class _StagedBlocks(_Blocks):
    """Make blocks, which the committer stages."""

    def __init__(self, sink: ClickHouseSink, tables: Tables, sink_id: str) -> None:
        super().__init__(replace(sink, interval_ms=0), tables)
        self._blocks: list[Any] = []

    def done(self, rows: pa.RecordBatch) -> None:
        """Keep a block for the committer."""
        self._inserts.check(rows)
        self._blocks.append([(self._sink.table.shown, None, encoded(rows), 0, None)])

    def prepare_commit(self) -> list[Any]:
        super().prepare_commit()
        return self._blocks


class _Delivery(Delivery):
    """Insert staged blocks. Content is part of their names: a staging directory that is lost begins with 1 again."""

    def __init__(self, sink: ClickHouseSink, facts: TableFacts, name: str) -> None:
        self._inserts, self._name = Inserts(sink, facts), name

    def send(self, topic: str, records: Sequence[Numbered]) -> None:
        for number, (_, _, block, _, _) in records:
            assert block is not None, "blocks have rows"
            content = blake2b(block, digest_size=16).hexdigest()
            self._inserts.send(block, f"{self._name}/{number}/{content}")

    def close(self) -> None:
        self._inserts.server.close()
