"""MySqlCapture: chunks of tables by SELECT, ranges of the log from the binlog; runs in tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.bounds import ChunkBounds, in_batches
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
from scurry.connectors.cdc.mysql.session import BINARY, MySqlSession, bound_marker, collation_of, value_of
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.cdc.mysql.values import selected
from scurry.connectors.jdbc.mysql import quoted

#: Keys that one request asks for: each is a SELECT of its own in a UNION, which servers parse by recursion.
_KEYS_OF_REQUEST = 500


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
        found = changes(self.settings, work.start, work.end, work.tables, work.follows_columns)
        with contextlib.closing(_Places(self.settings, work.segments)) as places:
            for batch in in_batches(found):
                places.look_up(batch)
                for change in batch:
                    table = change.table
                    key = [table.columns.index(name) for name in table.key]
                    keep_old = change.old is None or places.newer(change, change.old)
                    keep_new = change.new is None or places.newer(change, change.new)
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
        with contextlib.closing(_Places(self.settings, {})) as places:
            bounds = places.bounds(work.table, [each for each in (work.lower, work.upper) if each is not None])
            bounds.look_up(row[at] for row in rows)
            wanted = 0 if work.lower is None else 1
            return [row for row in rows if bounds.place(row[at]) == wanted]


class _Chunks:
    """The chunks of a table that were read, for changes that came before or after them."""

    def __init__(self, segments: list[Segment], bounds: ChunkBounds) -> None:
        self._marks = [number_of(segment.mark) for segment in segments]
        self._first, self._last = min(self._marks), max(self._marks)
        self._is_open = segments[-1].upper is None
        self.bounds = bounds

    def newer(self, position: Sequence[Any]) -> bool | list[bool]:
        """Return whether a change is newer than all that was read, or by chunk if it depends on the chunk."""
        here = number_of(position)
        if here > self._last:
            return True
        if here <= self._first and self._is_open:
            return False
        return [here > mark for mark in self._marks]


class _Places:
    """Places of keys among the bounds of chunks; the server compares texts, whose order depends on collations."""

    def __init__(self, settings: MySqlSettings, segments: dict[TableId, list[Segment]]) -> None:
        self._settings = settings
        self._segments = segments
        self._connection: Any = None
        self._collations: dict[TableId, str | None] = {}
        self._chunks: dict[TableId, _Chunks] = {}

    def newer(self, change: BinlogChange, row: Sequence[Any]) -> bool:
        """Return whether a change is newer than the row that was read."""
        newer = self._newer(change)
        if isinstance(newer, bool):
            return newer
        place = self._chunks[change.table.id].bounds.place(row[_chunk_key(change.table)])
        return place >= len(newer) or newer[place]

    def _newer(self, change: BinlogChange) -> bool | list[bool]:
        table, segments = change.table, self._segments.get(change.table.id)
        if not segments:
            return True
        if table.id not in self._chunks:
            uppers = [segment.upper for segment in segments if segment.upper is not None]
            self._chunks[table.id] = _Chunks(segments, self.bounds(table, uppers))
        return self._chunks[table.id].newer(change.position)

    def look_up(self, batch: list[BinlogChange]) -> None:
        """Ask for the chunks of all rows of some changes at once."""
        keys: dict[TableId, list[Any]] = {}
        for change in batch:
            if not isinstance(self._newer(change), bool):
                at = _chunk_key(change.table)
                rows = [row for row in (change.old, change.new) if row is not None]
                keys.setdefault(change.table.id, []).extend(row[at] for row in rows)
        for name, some in keys.items():
            self._chunks[name].bounds.look_up(some)

    def bounds(self, table: CapturedTable, bounds: list[Any]) -> ChunkBounds:
        """Return the bounds of chunks of a table."""
        kind = "" if table.chunk_key is None else table.type_of(table.chunk_key)
        if kind.startswith(BINARY):
            bounds = [bytes.fromhex(bound) for bound in bounds]
        return ChunkBounds(bounds, 0, value_of(kind), lambda keys: self._asked(table, bounds, keys))

    def _asked(self, table: CapturedTable, bounds: list[Any], keys: list[Any]) -> Iterator[int]:
        if self._connection is None:
            self._connection = connect(self._settings)
        if table.id not in self._collations:
            self._collations[table.id] = collation_of(self._connection, table)
        collation = self._collations[table.id]
        value = "%s" if collation is None else f"CONVERT(%s USING {collation.split('_')[0]}) COLLATE {collation}"
        for start in range(0, len(keys), _KEYS_OF_REQUEST):
            some = keys[start : start + _KEYS_OF_REQUEST]
            numbered = " UNION ALL ".join([f"SELECT {at} AS place, {value} AS v" for at in range(len(some))])
            listed = " UNION ALL ".join([f"SELECT {value} AS v"] * len(bounds))
            query = (
                f"SELECT COUNT(bounds.v) FROM ({numbered}) AS of_rows LEFT JOIN ({listed}) AS bounds "
                "ON bounds.v < of_rows.v GROUP BY of_rows.place ORDER BY of_rows.place"
            )
            with self._connection.cursor() as cursor:
                cursor.execute(query, [*some, *bounds])
                yield from (count for (count,) in cursor.fetchall())

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()


def _chunk_key(table: CapturedTable) -> int:
    assert table.chunk_key is not None, "there are no bounds without a key"
    return table.columns.index(table.chunk_key)


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
