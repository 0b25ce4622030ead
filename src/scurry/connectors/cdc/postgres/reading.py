"""PostgresCapture: chunks of tables by COPY, ranges of the log by peeking into the slot; runs in tasks."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import (
    CapturedTable,
    CaptureSession,
    ChangeCapture,
    ChunkWork,
    LogWork,
    RowBlock,
)
from scurry.connectors.cdc.changes import Undo, UndoRows
from scurry.connectors.cdc.postgres.connection import connect, explained
from scurry.connectors.cdc.postgres.log import LogReader, changes, flushed_end
from scurry.connectors.cdc.postgres.pgoutput import Change
from scurry.connectors.cdc.postgres.session import PostgresSession, collation, quoted, table_name
from scurry.connectors.cdc.postgres.settings import PostgresSettings
from scurry.connectors.cdc.postgres.visibility import Visibility

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes of rows that are parsed together, at most, unless a row is larger.
_BLOCK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class PostgresCapture(ChangeCapture):
    """The tables of a PostgreSQL database.

    Attributes:
        settings: The server and the tables.
    """

    settings: PostgresSettings

    def open(self) -> CaptureSession:
        """Return the session of the driver."""
        return PostgresSession(self.settings)

    def read_log(self, work: LogWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the changes of a range of the log."""
        with explained(self.settings):
            yield from LogReader(self.settings, work, columns).blocks()

    def read_chunk(self, work: ChunkWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the rows of a chunk, from the snapshot that the driver keeps.

        If the driver that kept it has died, the rows are those of now, with later changes undone.
        """
        with explained(self.settings):
            connection = connect(self.settings)
            try:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                if work.mark is None or self._imported(connection, *work.mark):
                    yield from self._rows(connection, work, _wanted(work.table, columns))
                else:
                    connection.execute("ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    yield from self._rows_as_of(connection, work, columns)
            finally:
                connection.close()

    def _imported(self, connection: Any, name: str, visible: str) -> bool:
        """Return whether the snapshot is there; a server that is started again gives its name to another one."""
        import psycopg

        try:
            connection.execute(f"SET TRANSACTION SNAPSHOT '{name}'")
        except (psycopg.errors.InvalidParameterValue, psycopg.errors.UndefinedObject):
            return False
        (found,) = connection.execute("SELECT txid_current_snapshot()::text").fetchone()
        return bool(found == visible)

    def _rows(self, connection: Any, work: ChunkWork, names: tuple[str, ...]) -> Iterator[RowBlock]:
        types = tuple(map(work.table.type_of, names))
        listed = ", ".join(map(quoted, names))
        condition = _condition(connection, work)
        query = f"COPY (SELECT {listed} FROM {table_name(work.table.id)}{condition}) TO STDOUT (FORMAT csv)"
        with connection.cursor().copy(query) as copy:
            for part in _parts(copy, self.settings.fetch_rows):
                columns = _columns(part, names)
                yield RowBlock(work.table.id, names, types, columns, len(columns[0]))

    def _rows_as_of(self, connection: Any, work: ChunkWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the rows of a chunk as of a snapshot that is gone: later changes in the log are undone."""
        table = work.table
        (now,) = connection.execute("SELECT txid_current_snapshot()::text").fetchone()
        then, seen = Visibility.of(work.mark[1]), Visibility.of(now)
        key = [table.columns.index(name) for name in table.key]
        undo = Undo(lambda row: tuple(row[at] for at in key)) if key else UndoRows()
        end = flushed_end(self.settings)
        for begin, _, change in changes(self.settings, work.log, end, (table,)):
            if seen.sees(begin.xid) and not then.sees(begin.xid):
                _undo(undo, change)
        wanted = _wanted(table, columns)
        places = [table.columns.index(name) for name in wanted]
        types = tuple(map(table.type_of, wanted))
        restored = _of_chunk(connection, work, undo.rows())
        if restored:
            chosen = [[row[at] for row in restored] for at in places]
            yield RowBlock(table.id, wanted, types, chosen, len(restored))
        for block in self._rows(connection, work, table.columns):
            yield _without(block, undo, wanted, places, types)


def _undo(undo: Undo | UndoRows, change: Change) -> None:
    if change.whole or change.kind == "I":
        undo.add(change.old, change.new)
    elif change.kind == "U" and change.old is not None:  # the key has changed, and the row before is not known
        undo.add(None, change.new)


def _without(
    block: RowBlock, undo: Undo | UndoRows, names: tuple[str, ...], places: Sequence[int], types: tuple[str, ...]
) -> RowBlock:
    import pyarrow as pa

    columns = [block.columns[at] for at in places]
    if len(undo):
        rows = zip(*(column.to_pylist() for column in block.columns), strict=True)
        kept = pa.array([at for at, row in enumerate(rows) if not undo.touches(row)], pa.int64())
        columns = [column.take(kept) for column in columns]
    return RowBlock(block.table, names, types, columns, len(columns[0]))


def _wanted(table: CapturedTable, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns to read; at least one, so that rows are counted."""
    if columns is None:
        return table.columns
    return tuple(name for name in columns if name in table.columns) or table.columns[:1]


def _condition(connection: Any, work: ChunkWork) -> str:
    if work.table.chunk_key is None:
        return ""
    column, kind = quoted(work.table.chunk_key), work.table.type_of(work.table.chunk_key)
    found = []
    if work.lower is not None:
        found.append(f"{column} > {_literal(connection, work.lower)}::{kind}")
    if work.upper is not None:
        found.append(f"{column} <= {_literal(connection, work.upper)}::{kind}")
    if work.upper is None and found and work.table.chunk_key not in work.table.key:
        found = [f"({found[0]} OR {column} IS NULL)"]
    return f" WHERE {' AND '.join(found)}" if found else ""


def _literal(connection: Any, text: str) -> str:
    from psycopg import sql

    return str(sql.Literal(text).as_string(connection))


def _of_chunk(connection: Any, work: ChunkWork, rows: list[Sequence[Any]]) -> list[Sequence[Any]]:
    """Return the rows that belong to a chunk; the database compares, because order depends on collations.

    It is asked once for all of them: what has changed since the snapshot may be as many rows as there are.
    """
    table = work.table
    if table.chunk_key is None or not rows:
        return rows
    at, kind = table.columns.index(table.chunk_key), table.type_of(table.chunk_key)
    key = f"key::{kind}{collation(connection, table)}"
    query = (
        f"SELECT CASE WHEN key IS NULL THEN $4 ELSE ($2::text IS NULL OR {key} > $2::text::{kind}) AND "
        f"($3::text IS NULL OR {key} <= $3::text::{kind}) END "
        "FROM unnest($1::text[]) WITH ORDINALITY AS of_rows (key, place) ORDER BY place"
    )
    parameters = [[row[at] for row in rows], work.lower, work.upper, work.upper is None]
    found = connection.execute(query, parameters).fetchall()
    return [row for row, (belongs,) in zip(rows, found, strict=True) if belongs]


def _parts(copy: Any, most_rows: int) -> Iterator[bytes]:
    """Yield whole rows, joined."""
    rows: list[bytes] = []
    size = 0
    for row in copy:
        rows.append(bytes(row))
        size += len(row)
        if len(rows) >= most_rows or size >= _BLOCK_BYTES:
            yield b"".join(rows)
            rows, size = [], 0
    if rows:
        yield b"".join(rows)


def _columns(part: bytes, names: tuple[str, ...]) -> list[pa.Array]:
    import pyarrow as pa
    from pyarrow import csv

    labels = [str(at) for at in range(len(names))]
    table = csv.read_csv(
        io.BytesIO(part),
        csv.ReadOptions(column_names=labels, use_threads=False, block_size=max(len(part) + 1, 1024)),
        csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types={label: pa.string() for label in labels},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return [column.combine_chunks() for column in table.columns]
