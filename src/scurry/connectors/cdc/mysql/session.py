"""MySqlSession: tables, bounds of chunks, and positions of the binlog, asked for by the driver."""

from __future__ import annotations

import datetime
import decimal
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scurry.connectors.cdc.capture import CapturedTable, CaptureSession, ChunkKey, LogPosition, Mark, Startup, TableId
from scurry.connectors.cdc.mysql.binlog import current_position, number_of
from scurry.connectors.cdc.mysql.connection import connect, explained, need_client
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.connectors.cdc.mysql.startup import FIRST_PLACE, position_of_gtid, position_of_time
from scurry.connectors.cdc.naming import captured_table, chosen, no_tables
from scurry.connectors.jdbc.mysql import quoted
from scurry.errors import DatabaseError, LogLostError, ValidationError

T = TypeVar("T")
#: Seconds that the first connection of a job may take, so that a wrong address is known soon.
FIRST_SECONDS = 4
#: Seconds for which a position is what chunks are read as of.
MARK_SECONDS = 10.0
#: Seconds after which a transaction of the binlog is visible, on servers that do not say which are.
_VISIBLE_SECONDS = 1.0
_SETTINGS = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL", "binlog_row_metadata": "FULL"}
_SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")
#: Types whose order is that of their bytes.
BINARY = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_NUMBERS = ("tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double")


def value_of(database_type: str) -> Callable[[Any], Any] | None:
    """Return the function whose values keys and bounds of a column compare by; None if only the server knows."""
    if database_type.startswith(BINARY):
        return bytes
    if not database_type.startswith(_NUMBERS):
        return None
    return lambda key: decimal.Decimal(str(key))


def bound_marker(database_type: str) -> str:
    """Return how statements take a bound of a column: bounds of binary columns are hexadecimal texts."""
    return "UNHEX(%s)" if database_type.startswith(BINARY) else "%s"


def collation_of(connection: Any, table: CapturedTable) -> str | None:
    """Return the collation of the chunk key of a table, None if it has none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT collation_name FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s AND column_name = %s",
            [table.id.database, table.id.name, table.chunk_key],
        )
        found = cursor.fetchone()
    return None if found is None else found[0]


class MySqlSession(CaptureSession):
    """The connection of the driver, which is made again when it is lost."""

    def __init__(self, settings: MySqlSettings) -> None:
        """Connect."""
        need_client()
        self._settings = settings
        self._connection: Any = connect(settings, min(FIRST_SECONDS, settings.connect_seconds))
        self._mark: Mark = None
        self._marked = float("-inf")

    def _ask(self, work: Callable[[Any], T]) -> T:
        """Return the result of `work` on the connection, which is made again if it is lost."""
        for retry in range(self._settings.retries + 1):
            try:
                if self._connection is None:
                    self._connection = connect(self._settings)
                with explained(self._settings):
                    return work(self._connection)
            except DatabaseError as error:
                if not isinstance(error, ConnectionError) or retry == self._settings.retries:
                    raise
                self._connection = None
                time.sleep(retry)
        raise AssertionError("the last try returns or raises")

    def _rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        def fetch(connection: Any) -> list[tuple[Any, ...]]:
            with connection.cursor() as cursor:
                cursor.execute(query, parameters)
                return list(cursor.fetchall())

        return self._ask(fetch)

    # ---------------------------------------------------------------- tables

    def tables(self) -> list[CapturedTable]:
        """Return the tables that the settings choose, with their columns."""
        rows = self._rows(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
        )
        names = [TableId(schema, "", name) for schema, name in rows if schema not in _SYSTEM]
        found = chosen(names, self._settings.tables)
        if not found:
            raise no_tables(names, self._settings.shown, self._settings.chosen_by, self._settings.tables)
        databases = sorted({name.database for name in found})
        listed = ", ".join(["%s"] * len(databases))
        columns = self._by_table(
            "SELECT table_schema, table_name, column_name, column_type FROM information_schema.columns "
            f"WHERE table_schema IN ({listed}) ORDER BY ordinal_position",
            databases,
        )
        keys = self._by_table(
            "SELECT table_schema, table_name, column_name FROM information_schema.statistics "
            f"WHERE table_schema IN ({listed}) AND index_name = 'PRIMARY' ORDER BY seq_in_index",
            databases,
        )
        return [self._table(name, columns[name], keys[name]) for name in found]

    def _by_table(self, query: str, parameters: Sequence[Any]) -> defaultdict[TableId, list[Any]]:
        """Return the rows of a query, without the database and the name that each begins with, by table."""
        found: defaultdict[TableId, list[Any]] = defaultdict(list)
        for database, name, *row in self._rows(query, parameters):
            found[TableId(database, "", name)].append(row)
        return found

    def _table(self, name: TableId, columns: list[Any], keys: list[Any]) -> CapturedTable:
        if not keys and self._settings.startup.reads_tables:
            raise ValidationError(f"table {name.path} has no primary key, by which its rows are read").with_hint(
                "add one, or read changes only: 'scan.startup.mode' = 'latest-offset'"
            )
        names, types = tuple(row[0] for row in columns), tuple(row[1] for row in columns)
        return captured_table(name, names, types, tuple(row[0] for row in keys), self._settings.chunk_key)

    def upper_bound(self, table: CapturedTable, lower: ChunkKey, rows: int) -> ChunkKey:
        """Return the key that is so many rows behind another one."""
        if table.chunk_key is None:
            return None
        column, name = quoted(table.chunk_key), f"{quoted(table.id.database)}.{quoted(table.id.name)}"
        kind = table.type_of(table.chunk_key)
        behind = f"{column} IS NOT NULL" if lower is None else f"{column} > {bound_marker(kind)}"
        query = f"SELECT {column} FROM {name} WHERE {behind} ORDER BY {column} LIMIT 1 OFFSET {rows - 1}"
        found = self._rows(query, [] if lower is None else [lower])
        if not found:
            return None
        key = found[0][0]
        if isinstance(key, bytes) and kind.startswith(BINARY):
            return key.hex()
        if isinstance(key, bytes | datetime.timedelta):
            raise ValidationError(
                f"table {table.id.path} cannot be read in chunks by column '{table.chunk_key}' of type {kind}"
            ).with_hint("'scan.incremental.snapshot.chunk.key-column' names another column of the table")
        return key if isinstance(key, int | str) else str(key)

    # ---------------------------------------------------------------- the log

    def start(self, tables: Sequence[CapturedTable], startup: Startup) -> LogPosition:
        """Check that the server has a binlog that says everything, and return where it is read from."""
        for name, wanted in _SETTINGS.items():
            found = self._rows("SHOW GLOBAL VARIABLES WHERE Variable_name = %s", [name])
            value = str(found[0][1]).upper() if found else "not there"
            if value != wanted:
                raise DatabaseError(f"cannot read the changes of {self._settings.shown}: {name} is {value}").with_hint(
                    f"set {name} = {wanted} in the server's configuration, and restart it"
                )
        if startup.mode in ("specific-offset", "earliest-offset", "timestamp"):
            return self._start_at(startup)
        return self._ask(current_position)

    def _start_at(self, startup: Startup) -> LogPosition:
        files = self._files()
        if startup.mode == "earliest-offset":
            return [files[0], FIRST_PLACE]
        if startup.timestamp is not None:
            return position_of_time(self._settings, files, startup.timestamp)
        if isinstance(startup.position, str):
            return position_of_gtid(self._settings, files, startup.position, self._rows)
        self.resume((), startup.position)
        return list(startup.position)

    def _files(self) -> list[str]:
        return [row[0] for row in self._rows("SHOW BINARY LOGS")]

    def resume(self, tables: Sequence[CapturedTable], position: LogPosition) -> None:
        """Check that the server has the file of the position."""
        files = self._files()
        if position[0] not in files:
            raise LogLostError(
                f"changes of {self._settings.shown} are lost: the server has no binlog {position[0]}, the first one is "
                f"{files[0] if files else 'none'}"
            ).with_hint(
                "start the job without its checkpoint: 'scan.startup.mode' = 'initial' reads the tables again; "
                "binlog_expire_logs_seconds says how long the binlog is kept"
            )

    def mark(self) -> Mark:
        """Return a position whose transactions are visible, a new one if the last one has been used for some time."""
        if self._mark is None or time.monotonic() > self._marked + MARK_SECONDS:
            self._mark, self._marked = self._ask(_visible_position), time.monotonic()
        return self._mark

    def behind_marks(self) -> LogPosition:
        """Return the newest mark."""
        return self._mark

    def passed(self, position: LogPosition, other: LogPosition) -> bool:
        """Return whether a position is not before another one."""
        return number_of(position) >= number_of(other)

    def end(self, start: LogPosition, most_bytes: int) -> tuple[LogPosition, bool]:
        """Return the end of the binlog, or of a transaction about so many bytes behind the start."""
        newest = self._ask(current_position)
        if number_of(newest) <= number_of(start):
            return start, False
        if newest[0] == start[0] and newest[1] - start[1] <= most_bytes:
            return newest, False
        end = self._boundary(start, most_bytes) or newest
        return end, number_of(end) < number_of(newest)

    def _boundary(self, start: LogPosition, most_bytes: int) -> LogPosition | None:
        """Return the end of a transaction in the file of a position, None if that is read to its end."""
        at, ended = int(start[1]), None
        while True:
            events = self._rows(f"SHOW BINLOG EVENTS IN '{start[0]}' FROM {at} LIMIT 5000")
            for event in events:
                if event[2] == "Xid" or (event[2] == "Query" and str(event[5]).upper().startswith("COMMIT")):
                    ended = [start[0], int(event[4])]
                    if ended[1] - start[1] >= most_bytes:
                        return ended
                if event[2] == "Rotate":
                    return [str(event[5]).partition(";")[0], 4]
            if len(events) < 5000:
                return ended
            at = int(events[-1][4])

    def release(self, position: LogPosition) -> None:
        """Do nothing: the server keeps its binlog as long as it is set to."""
        return

    def close(self, ended: bool) -> None:
        """Close the connection."""
        import pymysql

        try:
            if self._connection is not None:
                self._connection.close()
        except pymysql.MySQLError:
            pass  # the connection was already broken


def _visible_position(connection: Any) -> list[Any]:
    """Return a position of the binlog whose transactions every later SELECT sees."""
    with connection.cursor() as cursor:
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        cursor.execute("SHOW STATUS LIKE 'binlog_snapshot_%'")
        found = {name.lower(): value for name, value in cursor.fetchall()}
        cursor.execute("ROLLBACK")
    if found.get("binlog_snapshot_file"):
        return [found["binlog_snapshot_file"], int(found["binlog_snapshot_position"])]
    position = current_position(connection)  # MySQL writes the binlog first, and makes the transaction visible then
    time.sleep(_VISIBLE_SECONDS)
    return position
