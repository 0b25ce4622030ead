"""The log of PostgreSQL: peeked from the slot, which stays where it is until the driver advances it."""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Sequence
from typing import Any

from scurry.connectors.cdc.bounds import ChunkBounds, in_batches
from scurry.connectors.cdc.capture import CapturedTable, LogWork, RowBlock, Segment, TableId
from scurry.connectors.cdc.changes import BlockBuilder, change_rows, check_place, upserted_rows
from scurry.connectors.cdc.postgres.connection import connect, lsn_of, lsn_text, newest_end, when_slot_is_free
from scurry.connectors.cdc.postgres.pgoutput import UNCHANGED, Begin, Change, Relation, Values, parse
from scurry.connectors.cdc.postgres.session import collation
from scurry.connectors.cdc.postgres.settings import PostgresSettings
from scurry.connectors.cdc.postgres.visibility import Visibility
from scurry.errors import LogLostError, MalformedRecordError

#: Messages that are fetched at once.
_FETCH = 2000
#: Types whose values are compared here.
_NUMBERS = {"smallint", "integer", "bigint", "numeric", "real", "double precision"}
_PEEK = (
    "SELECT data FROM pg_logical_slot_peek_binary_changes($1, $2::pg_lsn, NULL, 'proto_version', '1', "
    "'publication_names', $3)"
)


def messages(settings: PostgresSettings, start: int, end: int) -> Iterator[bytes]:
    """Yield the messages of transactions that are committed up to `end`.

    Raises:
        LogLostError: The slot has gone on.
    """
    import psycopg

    connection = connect(settings)
    connection.autocommit = False

    def peek() -> Any:
        try:
            there = connection.execute(
                "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = $1", [settings.slot]
            ).fetchone()
            if there is None or there[0] is None or lsn_of(there[0]) > start:
                gone = "is gone" if there is None else f"has gone on to {there[0]}, {lsn_text(start)} was to be read"
                raise LogLostError(f"replication slot '{settings.slot}' {gone}").with_hint(
                    "start the job without its checkpoint: 'scan.startup.mode' = 'initial' reads the tables again"
                )
            cursor = psycopg.RawServerCursor(connection, "scurry")
            cursor.format = psycopg.pq.Format.BINARY
            cursor.execute(_PEEK, [settings.slot, lsn_text(end), quoted_list(settings.publication)], binary=True)
            return cursor, cursor.fetchmany(_FETCH)
        except psycopg.Error:
            connection.rollback()
            raise

    try:
        cursor, rows = when_slot_is_free(settings, peek)
        while rows:
            for (data,) in rows:
                yield bytes(data)
            rows = cursor.fetchmany(_FETCH)
    finally:
        connection.close()


def quoted_list(name: str) -> str:
    """Return a name as an element of the list that pgoutput takes."""
    return '"' + name.replace('"', '""') + '"'


def flushed_end(settings: PostgresSettings) -> int:
    """Return a position behind every transaction that is visible now, once the log up to there is on disk."""
    connection = connect(settings)
    try:
        return newest_end(lambda query: connection.execute(query).fetchone())
    finally:
        connection.close()


def changes(
    settings: PostgresSettings, start: int, end: int, tables: Sequence[CapturedTable], follows_columns: bool = False
) -> Iterator[tuple[Begin, CapturedTable, Change]]:
    """Yield the changes of some tables by transactions that are committed in a range.

    The values of a change are in the order of the columns of the table, None for columns that it had not yet, unless
    changes have the columns that the table had then; values that an update left as they are come from the row before,
    if that is known.
    """
    wanted = {(table.id.schema, table.id.name): table for table in tables}
    relations: dict[int, tuple[Relation, CapturedTable | None]] = {}
    begin: Begin | None = None
    for data in messages(settings, start, end):
        message = parse(data)
        if isinstance(message, Begin):
            begin = message
        elif isinstance(message, Relation):
            found = wanted.get((message.schema, message.name))
            if found is not None and follows_columns:
                found = found.with_columns(message.columns)
            relations[message.number] = (message, found)
        elif isinstance(message, Change) and begin is not None and start <= begin.lsn < end:
            relation, table = relations[message.relation]
            if table is not None:
                if not settings.needs_before:
                    _check_identity(message, relation, table)
                yield begin, table, _completed(_in_order(message, relation, table))


def _check_identity(change: Change, relation: Relation, table: CapturedTable) -> None:
    """Check that updates and deletes have the primary key of the row before."""
    known = {name for name, is_known in zip(relation.columns, relation.keys, strict=True) if is_known}
    if change.kind != "I" and not known.issuperset(table.key):
        raise _incomplete(table, "its REPLICA IDENTITY is an index without all columns of the primary key")


def _incomplete(table: CapturedTable, reason: str) -> MalformedRecordError:
    error = MalformedRecordError(f"table {table.id.path}", None, "", reason)
    return error.with_hint(
        f"ALTER TABLE {table.id.path} REPLICA IDENTITY FULL, and start without the checkpoint; for tables with a "
        "primary key 'changelog-mode' = 'upsert' needs no rows before"
    )


def _in_order(change: Change, relation: Relation, table: CapturedTable) -> Change:
    if relation.columns == table.columns:
        return change
    places = [relation.columns.index(name) if name in relation.columns else None for name in table.columns]

    def ordered(values: Values | None) -> Values | None:
        return None if values is None else [None if at is None else values[at] for at in places]

    return change._replace(old=ordered(change.old), new=ordered(change.new))


def _completed(change: Change) -> Change:
    """Return a change with the values of columns that did not change."""
    if change.new is None or change.old is None or not change.whole or UNCHANGED not in change.new:
        return change
    new = [before if each is UNCHANGED else each for before, each in zip(change.old, change.new, strict=True)]
    return change._replace(new=new)


class _Chunks:
    """The chunks of a table that were read, for changes that came before or after them."""

    def __init__(self, segments: list[Segment], bounds: ChunkBounds) -> None:
        self._visible = [Visibility.of(segment.mark[1]) for segment in segments]
        self._is_open = segments[-1].upper is None
        self._xid: int | None = None
        self._newer: bool | list[bool] = True
        self.bounds = bounds

    def newer(self, xid: int) -> bool | list[bool]:
        """Return whether a transaction is newer than all that was read, or by chunk if it depends on the chunk."""
        if xid != self._xid:
            newer = [not visible.sees(xid) for visible in self._visible]
            none = self._is_open and not any(newer)
            self._xid, self._newer = xid, all(newer) or (False if none else newer)
        return self._newer


class LogReader:
    """Read a range of the log as blocks of rows."""

    def __init__(self, settings: PostgresSettings, work: LogWork, columns: Sequence[str] | None) -> None:
        self._settings = settings
        self._work = work
        self._columns = columns
        self._asked: Any = None
        self._collations: dict[TableId, str] = {}
        self._chunks: dict[TableId, _Chunks] = {}

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the changes."""
        work, builder = self._work, BlockBuilder()
        found = changes(self._settings, work.start, work.end, work.tables, work.follows_columns)
        for batch in in_batches((begin, table, self._checked(change, table)) for begin, table, change in found):
            self._look_up(batch)
            for begin, table, change in batch:
                rows = self._rows(change, table, begin)
                if rows:
                    names, chosen = self._chosen(table, rows)
                    yield from builder.add(table, names, chosen, begin.millis, begin.lsn)
        yield from builder.finish()
        if self._asked is not None:
            self._asked.close()

    def _checked(self, change: Change, table: CapturedTable) -> Change:
        """Return a change, and check that no value is missing."""
        old, new = change.old, change.new
        if new is not None and UNCHANGED in new:
            column = table.columns[new.index(UNCHANGED)]
            raise _incomplete(table, f"an update does not say what column '{column}' has, which it left as is")
        if self._settings.needs_before and change.kind != "I" and not (change.whole and old is not None):
            what = "an update" if change.kind == "U" else "a delete"
            raise _incomplete(table, f"the row before {what} is not known")
        return change

    def _rows(self, change: Change, table: CapturedTable, begin: Begin) -> list[tuple[int, Sequence[Any]]]:
        old, new = change.old, change.new
        key = [table.columns.index(name) for name in table.key]
        keep_old = old is None or self._applies(table, begin, change, old)
        keep_new = new is None or self._applies(table, begin, change, new)
        is_known = change.whole or change.kind == "I"
        is_exact = self._settings.needs_before or (self._settings.gives_before and is_known)
        rows = change_rows if is_exact else upserted_rows
        if is_exact:
            check_place(table, old, new, keep_old, keep_new)
        return rows(old, new, keep_old, keep_new, key)

    def _applies(self, table: CapturedTable, begin: Begin, change: Change, row: Sequence[Any]) -> bool:
        """Return whether a row of a transaction is newer than the rows that were read."""
        newer = self._newer(table, begin)
        if isinstance(newer, bool):
            return newer
        if row is change.old and not change.whole and table.chunk_key not in table.key:
            raise _incomplete(table, f"the row before has no '{table.chunk_key}', by which the table is read")
        place = self._chunks[table.id].bounds.place(row[_chunk_key(table)])
        return place >= len(newer) or newer[place]

    def _newer(self, table: CapturedTable, begin: Begin) -> bool | list[bool]:
        """Return whether a transaction is newer than the rows of a table that were read, perhaps by chunk."""
        segments = self._work.segments.get(table.id)
        if not segments:
            return True
        if table.id not in self._chunks:
            self._chunks[table.id] = _Chunks(segments, self._bounds(table, segments))
        return self._chunks[table.id].newer(begin.xid)

    def _look_up(self, batch: list[tuple[Begin, CapturedTable, Change]]) -> None:
        """Ask for the chunks of all rows of some changes at once."""
        keys: dict[TableId, list[Any]] = {}
        for begin, table, change in batch:
            if not isinstance(self._newer(table, begin), bool):
                at = _chunk_key(table)
                keys.setdefault(table.id, []).extend(row[at] for row in (change.old, change.new) if row is not None)
        for name, some in keys.items():
            self._chunks[name].bounds.look_up(some)

    def _bounds(self, table: CapturedTable, segments: list[Segment]) -> ChunkBounds:
        bounds = [segment.upper for segment in segments if segment.upper is not None]
        kind = "" if table.chunk_key is None else table.type_of(table.chunk_key)

        def ask(keys: list[Any]) -> list[int]:
            if self._asked is None:
                self._asked = connect(self._settings)
            if table.id not in self._collations:
                self._collations[table.id] = collation(self._asked, table)
            query = (
                f"SELECT (SELECT count(*) FROM unnest($1::text[]) AS b WHERE b::{kind}{self._collations[table.id]} "
                f"< key::{kind}) FROM unnest($2::text[]) WITH ORDINALITY AS of_rows (key, place) ORDER BY place"
            )
            return [count for (count,) in self._asked.execute(query, [bounds, keys]).fetchall()]

        return ChunkBounds(bounds, len(bounds), _number if kind.partition("(")[0] in _NUMBERS else None, ask)

    def _chosen(
        self, table: CapturedTable, rows: list[tuple[int, Sequence[Any]]]
    ) -> tuple[tuple[str, ...], list[tuple[int, Sequence[Any]]]]:
        if self._columns is None:
            return table.columns, rows
        names = tuple(name for name in self._columns if name in table.columns) or table.columns[:1]
        places = [table.columns.index(name) for name in names]
        return names, [(kind, [values[at] for at in places]) for kind, values in rows]


def _chunk_key(table: CapturedTable) -> int:
    assert table.chunk_key is not None, "a table without a chunk key is one segment"
    return table.columns.index(table.chunk_key)


def _number(text: str) -> tuple[bool, decimal.Decimal]:
    """Return the value by which a number compares: NaN is behind all others."""
    return (True, decimal.Decimal(0)) if text == "NaN" else (False, decimal.Decimal(text))
