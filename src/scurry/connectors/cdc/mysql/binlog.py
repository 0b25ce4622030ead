"""The binlog of MySQL and MariaDB, from one position to another; runs in tasks."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scurry.connectors.cdc.capture import CapturedTable
from scurry.connectors.cdc.mysql.connection import connect, connected, explained, login
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.cdc.mysql.values import text_of
from scurry.errors import DatabaseConnectionError, MalformedRecordError

#: Maximum times that a range is begun anew after another reader with the same number has ended it.
_TRIES = 5
#: Begins the names of columns of which the binlog has none.
_UNKNOWN = "UNKNOWN_COL"


class BinlogChange(NamedTuple):
    """A change of a row, with values in the order of the columns of its table."""

    table: CapturedTable
    old: Sequence[Any] | None
    new: Sequence[Any] | None
    millis: int
    position: list[Any]


def number_of(position: Sequence[Any]) -> tuple[int, int]:
    """Return a position, a file and a place in it, as numbers that can be compared."""
    return int(str(position[0]).rpartition(".")[2]), int(position[1])


def current_position(connection: Any) -> list[Any]:
    """Return the end of the binlog."""
    import pymysql

    with connection.cursor() as cursor:
        try:
            cursor.execute("SHOW MASTER STATUS")
        except pymysql.err.ProgrammingError:  # its name since MySQL 8.4
            cursor.execute("SHOW BINARY LOG STATUS")
        found = cursor.fetchone()
    return [found[0], int(found[1])]


def changes(
    settings: MySqlSettings,
    start: Sequence[Any],
    end: Sequence[Any],
    tables: Sequence[CapturedTable],
    follows_columns: bool = False,
) -> Iterator[BinlogChange]:
    """Yield the changes of tables between two positions at which transactions end.

    Args:
        settings: The server.
        start: The first position.
        end: The last position.
        tables: The tables.
        follows_columns: Whether changes have the columns that their table had then.

    Raises:
        LogLostError: The server has purged them.
    """
    given = 0
    for left in reversed(range(_TRIES)):
        try:
            for number, change in enumerate(_read(settings, start, end, tables, follows_columns)):
                if number >= given:  # those before were passed on by an earlier try
                    given += 1
                    yield change
            return
        except DatabaseConnectionError:
            if not left:
                raise


def _read(
    settings: MySqlSettings,
    start: Sequence[Any],
    end: Sequence[Any],
    tables: Sequence[CapturedTable],
    follows_columns: bool,
) -> Iterator[BinlogChange]:
    from pymysqlreplication import BinLogStreamReader
    from pymysqlreplication.event import RotateEvent, XidEvent
    from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

    wanted = {(table.id.database, table.id.name): _Rows(table) for table in tables}
    since = settings.startup.timestamp or 0
    last = number_of(end)
    if number_of(start) >= last:
        return
    with explained(settings):
        stream = BinLogStreamReader(
            connection_settings=login(settings),
            pymysql_wrapper=connected,
            server_id=random.randint(*settings.server_ids),
            log_file=start[0],
            log_pos=int(start[1]),
            resume_stream=True,
            blocking=False,
            only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent, RotateEvent, XidEvent],
            only_schemas=sorted({database for database, _ in wanted}),
            only_tables=sorted({name for _, name in wanted}),
            enable_logging=False,
        )
        with contextlib.closing(stream):
            for event in stream:
                here = [stream.log_file, int(event.packet.log_pos)]
                if isinstance(event, RotateEvent):
                    if number_of([event.next_binlog, event.position]) >= last:
                        return
                    continue
                if number_of(here) > last:
                    return
                rows = None if isinstance(event, XidEvent) else wanted.get((event.schema, event.table))
                if rows is not None and event.timestamp * 1000 >= since:
                    rows = rows.as_of(event) if follows_columns else rows
                    for old, new in rows.of(event):
                        yield BinlogChange(rows.table, old, new, event.timestamp * 1000, here)
                if number_of(here) == last:
                    return


class _Rows:
    """Rows of events with the values of a table's columns, as texts."""

    def __init__(self, table: CapturedTable) -> None:
        self.table = table
        self._texts = [(name, text_of(kind)) for name, kind in zip(table.columns, table.types, strict=True)]
        self._as_it_was: _Rows = self

    def as_of(self, event: Any) -> _Rows:
        """Return the rows with the columns that the table had at an event."""
        names = tuple(column.name for column in event.columns)
        if names != self._as_it_was.table.columns and not any(name.startswith(_UNKNOWN) for name in names):
            self._as_it_was = _Rows(self.table.with_columns(names))
        return self._as_it_was

    def of(self, event: Any) -> Iterator[tuple[Sequence[Any] | None, Sequence[Any] | None]]:
        for row in event.rows:
            if "before_values" in row:
                yield self._values(row, "before_"), self._values(row, "after_")
            elif type(event).__name__ == "WriteRowsEvent":
                yield None, self._values(row, "")
            else:
                yield self._values(row, ""), None

    def _values(self, row: Any, which: str) -> list[Any]:
        values, missing = row[f"{which}values"], row.get(f"{which}none_source", row.get("none_source", {}))
        if any(name.startswith(_UNKNOWN) for name in values):
            raise MalformedRecordError(
                f"table {self.table.id.path}", None, "", "the binlog does not name its columns"
            ).with_hint("SET GLOBAL binlog_row_metadata = FULL, and start without the checkpoint")
        found = []
        for name, text in self._texts:
            value = values.get(name)
            if value is None and missing.get(name) == "empty set":
                value = set()
            found.append(None if value is None else text(value))
        return found


def newest(settings: MySqlSettings) -> list[Any]:
    """Return the end of the binlog, on a connection of its own."""
    with explained(settings), contextlib.closing(connect(settings)) as connection:
        return current_position(connection)
