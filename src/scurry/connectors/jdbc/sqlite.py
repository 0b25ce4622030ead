"""SQLite files, through the standard library, for experiments and for tests without a server."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, Literal

from scurry.common.typeinfo import DateTypeInfo, RowTypeInfo, TimestampTypeInfo, TimeTypeInfo, TypeInformation, Types
from scurry.connectors.jdbc.connection import Connection
from scurry.connectors.jdbc.database import Database, Fault
from scurry.connectors.jdbc.placeholders import translate
from scurry.errors import ArgumentError

_PREFIX = "jdbc:sqlite:"
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BUSY_SECONDS = 10.0


class Sqlite(Database):
    """An SQLite file. It has one writer at a time, for which others wait up to 10 s."""

    jdbc_drivers = ("org.sqlite.JDBC",)
    has_big_integers = False

    def __init__(self, options: Connection) -> None:
        """Check the URL and the driver."""
        super().__init__(options)
        self._path = options.get_db_url().removeprefix(_PREFIX)
        if not self._path or self._path.startswith(":memory:") or "?" in self._path:
            raise ArgumentError(f"{options.shown_url}: give the path of a file, jdbc:sqlite:/path/to/file, and no more")

    @property
    def errors(self) -> type[Exception]:
        """The base class of the standard library's errors."""
        return sqlite3.Error

    def open(self, autocommit: bool = False) -> Any:
        """Open the file, or create it."""
        # A transaction that reads before it writes may fail at once; an IMMEDIATE one waits for other writers.
        transactions: Literal["IMMEDIATE"] | None = None if autocommit else "IMMEDIATE"
        return sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=transactions, check_same_thread=False)

    def alive(self, connection: Any) -> bool:
        """Return True: a file has no connection to lose."""
        return True

    def fault(self, error: Exception) -> Fault:
        """Return the category by class and code."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _LOCKED:
            return Fault.PASSING
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOTADB):
            return Fault.ACCESS
        if isinstance(error, sqlite3.IntegrityError | sqlite3.DataError):
            return Fault.RECORD
        wrong = code == sqlite3.SQLITE_ERROR or isinstance(error, sqlite3.ProgrammingError)
        return Fault.STATEMENT if wrong else Fault.OTHER

    def lacks_table(self, error: Exception) -> bool:
        """Return whether it is the message on an unknown table: SQLite has no code for it."""
        return str(error).startswith("no such table")

    def translate(self, sql: str) -> tuple[str, int]:
        """Keep the `?` placeholders."""
        return translate(sql, lambda _: "?")

    def row_type(self, connection: Any, query: str) -> RowTypeInfo:
        """Return the columns' names without types: SQLite's columns have values of any type."""
        cursor = connection.execute(f"SELECT * FROM ({query}\n) LIMIT 0")
        names = [name for name, *_ in cursor.description]
        return RowTypeInfo([Types.PICKLED_BYTE_ARRAY()] * len(names), names)

    def stream(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Read the rows of one statement in blocks."""
        with closing(self.open()) as connection:
            cursor = connection.execute(query, parameters)
            while rows := cursor.fetchmany(fetch_size):
                yield rows

    def create_table(self, connection: Any, name: str, columns: str) -> None:
        """Create the table; no lock is needed, because a file has one writer at a time."""
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

    def parameter(self, type_info: TypeInformation) -> Callable[[Any], Any] | None:
        """Convert decimals, dates and times to text."""
        if type_info == Types.BIG_DEC():
            return str
        if isinstance(type_info, DateTypeInfo | TimeTypeInfo):
            return datetime.date.isoformat if isinstance(type_info, DateTypeInfo) else datetime.time.isoformat
        return _timestamp_text if isinstance(type_info, TimestampTypeInfo) else None


def _timestamp_text(value: datetime.datetime) -> str:
    return value.isoformat(" ")
