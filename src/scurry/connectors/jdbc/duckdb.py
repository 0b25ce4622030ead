"""DuckDB files, through its Python package."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from scurry.common.typeinfo import RowTypeInfo, TypeInformation, Types
from scurry.connectors.jdbc.connection import Connection
from scurry.connectors.jdbc.database import Database, Fault
from scurry.connectors.jdbc.placeholders import translate
from scurry.errors import ArgumentError, ExtraMissingError

_PREFIX = "jdbc:duckdb:"
#: Rows of one INSERT: DuckDB takes 3 ms for a statement, however many rows it has.
_INSERT_ROWS = 500
_INSERT = re.compile(r"(?P<head>\s*INSERT\b[^?]+?\bVALUES\s*)(?P<row>\(\s*\?(?:\s*,\s*\?)*\s*\))(?P<tail>[^?]*)", re.I)
_LISTED = re.compile(r"\(([^()]*)\)")
_LOCKED = "Could not set lock"
_TYPES: dict[str, TypeInformation] = {
    "BOOLEAN": Types.BOOLEAN(),
    "TINYINT": Types.BYTE(),
    "SMALLINT": Types.SHORT(),
    "INTEGER": Types.INT(),
    "BIGINT": Types.LONG(),
    "FLOAT": Types.FLOAT(),
    "DOUBLE": Types.DOUBLE(),
    "DECIMAL": Types.BIG_DEC(),
    "VARCHAR": Types.STRING(),
    "DATE": Types.SQL_DATE(),
    "TIME": Types.SQL_TIME(),
    "TIMESTAMP": Types.SQL_TIMESTAMP(),
    "BLOB": Types.PRIMITIVE_ARRAY(Types.BYTE()),
}


class DuckDb(Database):
    """A DuckDB file. One process has it at a time; the transactions of its threads may conflict, and are repeated."""

    jdbc_drivers = ("org.duckdb.DuckDBDriver",)
    has_big_integers = False

    def __init__(self, options: Connection) -> None:
        """Check the URL and the driver."""
        super().__init__(options)
        self._path = options.get_db_url().removeprefix(_PREFIX)
        if not self._path or self._path.startswith((":memory:", "md:")) or "?" in self._path:
            raise ArgumentError(f"{options.shown_url}: give the path of a file, jdbc:duckdb:/path/to/file, and no more")
        if importlib.util.find_spec("duckdb") is None:
            raise ExtraMissingError("jdbc:duckdb: URLs need duckdb; pip install 'scurry[duckdb]'")

    @property
    def errors(self) -> type[Exception]:
        """The base class of DuckDB's errors."""
        import duckdb

        return duckdb.Error

    def open(self, autocommit: bool = False) -> Any:
        """Open the file, or create it, in a session of UTC."""
        import duckdb

        with _errors_of_duckdb():
            connection = duckdb.connect(self._path)
            connection.execute("SET TimeZone = 'UTC'")
        return DuckDbConnection(connection, autocommit)

    def alive(self, connection: Any) -> bool:
        """Return True: a file has no connection to lose."""
        return True

    def fault(self, error: Exception) -> Fault:
        """Return the category by class."""
        import duckdb

        if isinstance(error, duckdb.TransactionException) or _LOCKED in str(error):
            return Fault.PASSING
        if isinstance(error, duckdb.IOException | duckdb.PermissionException):
            return Fault.ACCESS
        if isinstance(error, duckdb.CatalogException | duckdb.BinderException | duckdb.ParserException):
            return Fault.STATEMENT
        if isinstance(error, duckdb.IntegrityError | duckdb.DataError | duckdb.InvalidInputException):
            return Fault.RECORD
        return Fault.OTHER

    def lacks_table(self, error: Exception) -> bool:
        """Return whether it is the message on an unknown table."""
        return "Table with name" in str(error) and "does not exist" in str(error)

    def text(self, error: Exception) -> str:
        """Return the first line of an error's message, with a cure if another process has the file."""
        words = str(error).strip().splitlines()[0]
        if _LOCKED not in words:
            return words
        return f"{words}: one process has a DuckDB file at a time; run the job in one, with 'scurry.runner': local"

    def translate(self, sql: str) -> tuple[str, int]:
        """Keep the `?` placeholders."""
        return translate(sql, lambda _: "?")

    def row_type(self, connection: Any, query: str) -> RowTypeInfo:
        """Return the types of the columns; those without a counterpart are any values."""
        described = connection.execute(f"SELECT * FROM ({query}\n) AS scurry_query LIMIT 0").description
        kinds = [_TYPES.get(str(kind).partition("(")[0], Types.PICKLED_BYTE_ARRAY()) for _, kind, *_ in described]
        return RowTypeInfo(kinds, [name for name, *_ in described])

    def stream(self, query: str, parameters: Sequence[Any], fetch_size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Read the result of one statement in blocks."""
        with closing(self.open(autocommit=True)) as connection:
            found = connection.execute(query, parameters)
            while rows := _fetched(found, fetch_size):
                yield rows

    def create_table(self, connection: Any, name: str, columns: str) -> None:
        """Create the table; tasks that do so at once conflict, and repeat it."""
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

    def parameter(self, type_info: TypeInformation) -> Callable[[Any], Any] | None:
        """Pass all values as they are."""
        return None


@contextmanager
def _errors_of_duckdb() -> Iterator[None]:
    """Raise DuckDB's own classes of errors.

    A library that was imported after it and is built like it, as Pulsar's client, makes RuntimeErrors of all of them.
    Their texts are JSON.
    """
    try:
        yield
    except RuntimeError as error:
        try:
            told = json.loads(str(error))
            kind, message = told["exception_type"], told["exception_message"]
        except (ValueError, LookupError, TypeError):
            raise error from None
        import duckdb

        raise getattr(duckdb, f"{kind}Exception", duckdb.Error)(f"{kind} Error: {message}") from None


def _fetched(found: Any, fetch_size: int) -> list[tuple[Any, ...]]:
    with _errors_of_duckdb():
        rows: list[tuple[Any, ...]] = found.fetchmany(fetch_size)
    return rows


def _are_other_rows(head: str, tail: str, rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether no row of an INSERT conflicts with another one, as far as the statement tells."""
    if not tail.strip():
        return True
    columns, key = (_LISTED.search(part) for part in (head, tail))
    places = [0]
    if columns is not None and key is not None:
        names = [name.strip() for name in columns[1].split(",")]
        places = [names.index(name) for each in key[1].split(",") if (name := each.strip()) in names] or places
    return len({tuple(row[place] for place in places) for row in rows}) == len(rows)


class DuckDbConnection:
    """DuckDB's connection, whose transactions begin with their first statement, as those of other drivers do."""

    def __init__(self, connection: Any, autocommit: bool) -> None:
        """Wrap a connection."""
        self._connection = connection
        self._autocommit = autocommit
        self._begun = False

    def cursor(self) -> DuckDbConnection:
        """Return itself: a cursor of DuckDB is another connection, with transactions of its own."""
        return self

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Execute a statement, and return its result."""
        with _errors_of_duckdb():
            if not (self._begun or self._autocommit):
                self._connection.execute("BEGIN")
                self._begun = True
            return self._connection.execute(sql, list(parameters))

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each row; an INSERT has many at once, but none that replaces another one of them."""
        found = _INSERT.fullmatch(sql)
        if found is None or not _are_other_rows(found["head"], found["tail"], rows):
            for row in rows:
                self.execute(sql, row)
            return
        for at in range(0, len(rows), _INSERT_ROWS):
            block = rows[at : at + _INSERT_ROWS]
            listed = ", ".join([found["row"]] * len(block))
            self.execute(found["head"] + listed + found["tail"], [value for row in block for value in row])

    def commit(self) -> None:
        """Commit the transaction, if one has begun."""
        if self._begun:
            self._begun = False
            with _errors_of_duckdb():
                self._connection.commit()

    def rollback(self) -> None:
        """Roll the transaction back, if one has begun."""
        if self._begun:
            self._begun = False
            with _errors_of_duckdb():
                self._connection.rollback()

    def close(self) -> None:
        """Close the connection; uncommitted work is rolled back."""
        self._connection.close()
