"""MySqlCapture: chunks of tables by SELECT, ranges of the log from the binlog; runs in tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import (
    CapturedTable,
    CaptureSession,
    ChangeCapture,
    ChunkWork,
    LogWork,
    RowBlock,
    Segment,
    TableId,
)
from scurry.connectors.cdc.changes import BlockBuilder, Undo, change_rows, check_place
from scurry.connectors.cdc.mysql.binlog import BinlogChange, changes, current_position, number_of
from scurry.connectors.cdc.mysql.connection import connect, explained
from scurry.connectors.cdc.mysql.session import MySqlSession, bound_marker, collation_of, compared
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.cdc.mysql.values import selected
from scurry.connectors.jdbc.mysql import quoted


@dataclass(frozen=True)
class MySqlCapture(ChangeCapture):
    """The tables of a MySQL or MariaDB server.

    Attributes:
        settings: The server and the tables.
    """

    settings: MySqlSettings

    def open(self) -> CaptureSession:
        """Return the session of the driver."""
        return MySqlSession(self.settings)

    def read_log(self, work: LogWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the changes of a range of the binlog that no chunk has."""
        builder = BlockBuilder()
        with contextlib.closing(_Places(self.settings)) as places:
            for change in changes(self.settings, work.start, work.end, work.tables, work.follows_columns):
                table, segments = change.table, work.segments.get(change.table.id)
                key = [table.columns.index(name) for name in table.key]
                keep_old = change.old is None or places.newer(table, segments, change, change.old)
                keep_new = change.new is None or places.newer(table, segments, change, change.new)
                check_place(table, change.old, change.new, keep_old, keep_new)
                rows = change_rows(change.old, change.new, keep_old, keep_new, key)
                names, taken = _taken(table, columns)
                chosen = [(kind, [row[at] for at in taken]) for kind, row in rows]
                yield from builder.add(table, names, chosen, change.millis, change.position)
            yield from builder.finish()

    def read_chunk(self, work: ChunkWork, columns: Sequence[str] | None) -> Iterator[RowBlock]:
        """Yield the rows of a chunk as of its mark: rows that have changed since are as the binlog says they were."""
        table = work.table
        with explained(self.settings), contextlib.closing(connect(self.settings, texts=True)) as connection:
            cursor = connection.cursor()
            condition, parameters = _condition(work)
            columns_and_types = zip(table.columns, table.types, strict=True)
            listed = ", ".join(selected(quoted(name), kind) for name, kind in columns_and_types)
            name = f"{quoted(table.id.database)}.{quoted(table.id.name)}"
            cursor.execute(f"SELECT {listed} FROM {name}{condition}", parameters)
            undo = self._undo(work)
            names, taken = _taken(table, columns)
            types = tuple(table.types[at] for at in taken)
            while rows := cursor.fetchmany(self.settings.fetch_rows):
                kept = [row for row in rows if not undo.touches(row)] if len(undo) else rows
                if kept:
                    every = list(zip(*kept, strict=True))
                    yield RowBlock(table.id, names, types, [list(every[at]) for at in taken], len(kept))
            restored = self._restored(work, undo)
            if restored:
                chosen = [[row[at] for row in restored] for at in taken]
                yield RowBlock(table.id, names, types, chosen, len(restored))

    def _undo(self, work: ChunkWork) -> Undo:
        table = work.table
        key = [table.columns.index(name) for name in table.key]
        undo = Undo(lambda row: tuple(row[at] for at in key))
        if work.mark is not None:
            with contextlib.closing(connect(self.settings)) as connection:
                end = current_position(connection)  # not before what the rows show
            for change in changes(self.settings, work.mark, end, (table,)):
                undo.add(change.old, change.new)
        return undo

    def _restored(self, work: ChunkWork, undo: Undo) -> list[Sequence[Any]]:
        rows = undo.rows()
        if not rows or work.table.chunk_key is None:
            return rows
        at = work.table.columns.index(work.table.chunk_key)
        with contextlib.closing(_Places(self.settings)) as places:
            return [row for row in rows if places.within(work.table, work.lower, row[at], work.upper)]


class _Places:
    """Places of keys among the bounds of chunks; the server compares texts, whose order depends on collations."""

    def __init__(self, settings: MySqlSettings) -> None:
        self._settings = settings
        self._connection: Any = None
        self._collations: dict[TableId, str | None] = {}

    def newer(
        self, table: CapturedTable, segments: list[Segment] | None, change: BinlogChange, row: Sequence[Any]
    ) -> bool:
        """Return whether a change is newer than the row that was read."""
        if not segments:
            return True
        here = number_of(change.position)
        newer = [here > number_of(segment.mark) for segment in segments]
        if all(newer):
            return True
        at = 0 if table.chunk_key is None else table.columns.index(table.chunk_key)
        for segment, is_newer in zip(segments, newer, strict=True):
            if self.within(table, None, row[at], segment.upper):
                return is_newer
        return True

    def within(self, table: CapturedTable, lower: Any, key: Any, upper: Any) -> bool:
        """Return whether a key is behind a bound, and not behind another one."""
        return (lower is None or not self._up_to(table, key, lower)) and (
            upper is None or self._up_to(table, key, upper)
        )

    def _up_to(self, table: CapturedTable, key: Any, bound: Any) -> bool:
        assert table.chunk_key is not None, "there are no bounds without a key"
        quick = compared(table.type_of(table.chunk_key), key, bound)
        if quick is not None:
            return quick
        if self._connection is None:
            self._connection = connect(self._settings)
        if table.id not in self._collations:
            self._collations[table.id] = collation_of(self._connection, table)
        collation = self._collations[table.id]
        side = "%s" if collation is None else f"CONVERT(%s USING {collation.split('_')[0]}) COLLATE {collation}"
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT {side} <= {side}", [key, bound])
            return bool(cursor.fetchone()[0])

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()


def _taken(table: CapturedTable, columns: Sequence[str] | None) -> tuple[tuple[str, ...], list[int]]:
    names = table.columns if columns is None else tuple(name for name in columns if name in table.columns)
    names = names or table.columns[:1]
    return names, [table.columns.index(name) for name in names]


def _condition(work: ChunkWork) -> tuple[str, list[Any]]:
    if work.table.chunk_key is None:
        return "", []
    column, marker = quoted(work.table.chunk_key), bound_marker(work.table.type_of(work.table.chunk_key))
    up_to = f"({column} <= {marker} OR {column} IS NULL)" if work.lower is None else f"{column} <= {marker}"
    bounds = [(f"{column} > {marker}", work.lower), (up_to, work.upper)]
    found = [(text, value) for text, value in bounds if value is not None]
    return (f" WHERE {' AND '.join(text for text, _ in found)}" if found else ""), [value for _, value in found]
