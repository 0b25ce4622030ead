"""PostgresSession: slot, publication, snapshots and positions, asked for by the driver."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scurry.connectors.cdc.capture import CapturedTable, CaptureSession, ChunkKey, LogPosition, Mark, Startup, TableId
from scurry.connectors.cdc.naming import captured_table, chosen, no_tables
from scurry.connectors.cdc.postgres.connection import connect, explained, lsn_of, lsn_text, newest_end
from scurry.connectors.cdc.postgres.settings import PostgresSettings
from scurry.errors import DatabaseError, LogLostError, ValidationError

T = TypeVar("T")
#: Seconds that the first connection of a job may take, so that a wrong address is known soon.
FIRST_SECONDS = 4
#: Seconds for which a snapshot is used: as long as it is kept, VACUUM keeps dead rows.
SNAPSHOT_SECONDS = 300.0
#: Snapshots that are kept for readers that still use them.
_KEPT_SNAPSHOTS = 2
#: Seconds that a job waits for transactions that were open when tables were added to its publication.
OPEN_SECONDS = 60.0
_PAUSE_SECONDS = 0.05

_TABLES = """
SELECT n.nspname, c.relname, c.oid::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = ANY($1) AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
"""
_COLUMNS = """
SELECT a.attrelid::bigint, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
WHERE a.attrelid = ANY($1::bigint[]) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
_KEY = """
SELECT i.indrelid::bigint, a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid
AND a.attnum = ANY(i.indkey) WHERE i.indrelid = ANY($1::bigint[]) AND i.indisprimary
ORDER BY i.indrelid, array_position(i.indkey::int2[], a.attnum)
"""
_COLLATION = """
SELECT format(' COLLATE %I.%I', n.nspname, c.collname) FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
JOIN pg_namespace n ON n.oid = c.collnamespace WHERE a.attrelid = to_regclass($1) AND a.attname = $2
"""


def quoted(name: str) -> str:
    """Return a name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def table_name(table: TableId) -> str:
    """Return the name of a table in statements."""
    return f"{quoted(table.schema)}.{quoted(table.name)}"


def collation(connection: Any, table: CapturedTable) -> str:
    """Return the clause that makes values compare as the chunk key of a table; empty if its type has no collations.

    Values in a statement alone compare as the database does by default, where a column may have a collation of its own.
    """
    found = connection.execute(_COLLATION, [table_name(table.id), table.chunk_key]).fetchone()
    return "" if found is None else str(found[0])


class PostgresSession(CaptureSession):
    """The connection of the driver, which is made again when it is lost, and those that keep snapshots."""

    def __init__(self, settings: PostgresSettings) -> None:
        """Connect."""
        self._settings = settings
        self._connection: Any = self._connected(min(FIRST_SECONDS, settings.connect_seconds))
        self._snapshots: deque[Any] = deque()
        self._mark: Mark = None
        self._marked = float("-inf")
        self._behind = 0

    def _connected(self, seconds: int) -> Any:
        """Return a connection that looks for bounds of chunks by an index, also where nobody has analyzed the table."""
        connection = connect(self._settings, seconds)
        connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        return connection

    def _ask(self, work: Callable[[Any], T]) -> T:
        """Return the result of `work` on the connection, which is made again if it is lost."""
        for retry in range(self._settings.retries + 1):
            try:
                if self._connection is None:
                    self._connection = self._connected(self._settings.connect_seconds)
                with explained(self._settings):
                    return work(self._connection)
            except DatabaseError as error:
                if not isinstance(error, ConnectionError) or retry == self._settings.retries:
                    raise
                self._connection = None
                time.sleep(retry)
        raise AssertionError("the last try returns or raises")

    def _row(self, query: str, *parameters: Any) -> Any:
        return self._ask(lambda connection: connection.execute(query, parameters).fetchone())

    # ---------------------------------------------------------------- tables

    def tables(self) -> list[CapturedTable]:
        """Return the tables that the settings choose, with their columns."""
        settings = self._settings
        kinds = ["r", "p"] if settings.partitioned else ["r"]
        rows = self._ask(lambda connection: connection.execute(_TABLES, [kinds]).fetchall())
        numbers = {TableId(settings.database, schema, name): oid for schema, name, oid in rows}
        found = chosen(numbers, settings.tables)
        if not found:
            where = f"database '{settings.database}'"
            raise no_tables(list(numbers), where, settings.chosen_by, settings.tables)
        wanted = [numbers[name] for name in found]
        columns = self._by_table(_COLUMNS, wanted)
        keys = self._by_table(_KEY, wanted)
        return [self._table(name, columns[numbers[name]], keys[numbers[name]]) for name in found]

    def _by_table(self, query: str, numbers: list[int]) -> defaultdict[int, list[Any]]:
        """Return the rows of a query, without the number of the table that each begins with, by this number."""
        found: defaultdict[int, list[Any]] = defaultdict(list)
        for number, *row in self._ask(lambda connection: connection.execute(query, [numbers]).fetchall()):
            found[number].append(row)
        return found

    def _table(self, name: TableId, columns: list[Any], keys: list[Any]) -> CapturedTable:
        names, types = tuple(row[0] for row in columns), tuple(row[1] for row in columns)
        return captured_table(name, names, types, tuple(row[0] for row in keys), self._settings.chunk_key)

    def upper_bound(self, table: CapturedTable, lower: ChunkKey, rows: int) -> ChunkKey:
        """Return the key that is so many rows behind another one."""
        if table.chunk_key is None:
            return None
        column, kind = quoted(table.chunk_key), table.type_of(table.chunk_key)
        behind = "" if lower is None else f"WHERE t.{column} > $1::{kind} "
        # With the name of the column alone, PostgreSQL would order by the text that is selected.
        query = (
            f"SELECT t.{column}::text FROM {table_name(table.id)} AS t {behind}ORDER BY t.{column} "
            f"OFFSET {rows - 1} LIMIT 1"
        )
        found = self._row(query, *([] if lower is None else [lower]))
        return None if found is None else found[0]

    # ---------------------------------------------------------------- the log

    def start(self, tables: Sequence[CapturedTable], startup: Startup) -> LogPosition:
        """Make the publication and the slot if they are not there, and return where the slot is, or the end."""
        settings = self._settings
        (level,) = self._row("SELECT current_setting('wal_level')")
        if level != "logical":
            raise DatabaseError(
                f"cannot read the changes of {settings.server.options.shown_url}: wal_level is {level}, which keeps no "
                "row changes in the log"
            ).with_hint("set wal_level = logical in postgresql.conf and restart the server")
        published = self._publish(tables)
        there = self._slot()
        if startup.mode == "latest-offset" and there is not None:
            newest = self._newest()
            self.release(newest)
            return newest
        if published and there is not None:
            raise ValidationError(
                f"replication slot '{settings.slot}' is older than publication '{settings.publication}', without which "
                "changes cannot be read"
            ).with_hint(f"drop the slot: SELECT pg_drop_replication_slot('{settings.slot}'), or name another one")
        if there is None:
            if startup.mode == "committed-offset":
                raise LogLostError(
                    f"there is no replication slot '{settings.slot}', whose position 'scan.startup.mode' = "
                    "'committed-offset' wants"
                ).with_hint("'slot.name' names a slot that is there; 'initial' makes one")
            create = "SELECT lsn FROM pg_create_logical_replication_slot($1, 'pgoutput')"
            self._row(create, settings.slot)
            there = self._slot()
        elif startup.reads_tables:
            self.admit()
        assert there is not None
        return self._newest() if startup.mode == "latest-offset" else there

    def admit(self) -> None:
        """Wait for open transactions: rows that they wrote before the publication had their table are not decoded.

        A slot that is made waits for them, too.

        Raises:
            DatabaseError: One of them stays open.
        """
        (following,) = self._row("SELECT txid_snapshot_xmax(txid_current_snapshot())")
        give_up = time.monotonic() + OPEN_SECONDS
        while self._row("SELECT txid_snapshot_xmin(txid_current_snapshot())")[0] < following:
            if time.monotonic() > give_up:
                raise DatabaseError(
                    f"cannot read the changes of {self._settings.server.options.shown_url}: a transaction has been "
                    f"open for {OPEN_SECONDS:.0f} s, since before its tables were read"
                ).with_hint("end it: SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start")
            time.sleep(_PAUSE_SECONDS)

    def resume(self, tables: Sequence[CapturedTable], position: LogPosition) -> None:
        """Check that the slot keeps the log behind the position."""
        there = self._slot()
        if there is None:
            raise self._lost(f"replication slot '{self._settings.slot}' is gone")
        if there > position:
            raise self._lost(
                f"replication slot '{self._settings.slot}' has gone on to {lsn_text(there)}, the job is at "
                f"{lsn_text(position)}"
            )
        self._publish(tables)

    def _lost(self, reason: str) -> LogLostError:
        return LogLostError(f"changes of {self._settings.server.options.shown_url} are lost: {reason}").with_hint(
            "start the job without its checkpoint: 'scan.startup.mode' = 'initial' reads the tables again; "
            "max_slot_wal_keep_size limits what a slot keeps"
        )

    def _slot(self) -> int | None:
        """Return the position of the slot, None if there is no such slot.

        Raises:
            LogLostError: The server has removed what the slot was to keep.
        """
        settings = self._settings
        found = self._row(
            "SELECT plugin, database, confirmed_flush_lsn::text, wal_status FROM pg_replication_slots "
            "WHERE slot_name = $1",
            settings.slot,
        )
        if found is None:
            return None
        plugin, database, position, status = found
        if plugin != "pgoutput" or database != settings.database:
            raise ValidationError(
                f"replication slot '{settings.slot}' is one of plugin {plugin} in database {database}: pgoutput in "
                f"{settings.database} is wanted"
            ).with_hint("choose another 'slot.name', or drop that slot")
        if status == "lost" or position is None:
            raise self._lost(f"the server has removed the log that slot '{settings.slot}' was to keep")
        return lsn_of(position)

    def _publish(self, tables: Sequence[CapturedTable]) -> bool:
        """Let the publication have all tables; return whether it is new."""
        settings = self._settings
        name = quoted(settings.publication)
        found = self._row("SELECT puballtables FROM pg_publication WHERE pubname = $1", settings.publication)
        if found is not None and found[0]:
            return False
        query = "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = $1"
        rows = self._ask(lambda connection: connection.execute(query, [settings.publication]).fetchall())
        listed = [table_name(table.id) for table in tables if (table.id.schema, table.id.name) not in set(rows)]
        if not listed and found is not None:
            return False
        wanted = f"{'ALTER' if found else 'CREATE'} PUBLICATION {name} {'ADD' if found else 'FOR'} TABLE "
        statement = wanted + ", ".join(listed)
        if not settings.makes_publication:
            raise ValidationError(
                f"publication '{settings.publication}' does not have all tables that are read, and "
                "'debezium.publication.autocreate.mode' is 'disabled'"
            ).with_hint(statement)
        try:
            self._ask(lambda connection: connection.execute(statement))
        except DatabaseError as error:
            if isinstance(error, ConnectionError):
                raise
            text = f"{error}; {statement}"
            raise type(error)(text).with_hint("let the owner of the tables run this statement") from None
        return found is None

    def mark(self) -> Mark:
        """Return an exported snapshot, a new one if the last one has been used for long."""
        if self._mark is not None and time.monotonic() < self._marked + SNAPSHOT_SECONDS and self._keeps():
            return self._mark
        with explained(self._settings):
            keeper = connect(self._settings)
            keeper.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            name, seen = keeper.execute("SELECT pg_export_snapshot(), txid_current_snapshot()::text").fetchone()
        self._snapshots.append(keeper)
        if len(self._snapshots) > _KEPT_SNAPSHOTS:
            self._snapshots.popleft().close()
        (position,) = self._row("SELECT pg_current_wal_insert_lsn()::text")
        self._mark, self._marked, self._behind = [name, seen], time.monotonic(), lsn_of(position)
        return self._mark

    def _keeps(self) -> bool:
        import psycopg

        try:
            self._snapshots[-1].execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def behind_marks(self) -> LogPosition:
        """Return where the log was after the newest snapshot."""
        return self._behind

    def passed(self, position: LogPosition, other: LogPosition) -> bool:
        """Return whether a position is not before another one."""
        return bool(position >= other)

    def _newest(self) -> int:
        return newest_end(self._row)

    def end(self, start: LogPosition, most_bytes: int) -> tuple[LogPosition, bool]:
        """Return the end of the log, or a position before it: transactions that are committed before it are whole."""
        newest = self._newest()
        end = max(start, min(newest, start + most_bytes))
        return end, end < newest

    def settled(self) -> None:
        """End the transactions that keep snapshots."""
        self._forget_snapshots()

    def _forget_snapshots(self) -> None:
        while self._snapshots:
            self._snapshots.pop().close()
        self._mark = None

    def release(self, position: LogPosition) -> None:
        """Advance the slot, unless a reader is using it: the next commit does it then."""
        import psycopg

        def advance(connection: Any) -> None:
            try:
                connection.execute("SELECT pg_replication_slot_advance($1, $2::pg_lsn)", [name, lsn_text(position)])
            except (psycopg.errors.ObjectInUse, psycopg.errors.ObjectNotInPrerequisiteState):
                return  # in use, or already there

        name = self._settings.slot
        self._ask(advance)

    def close(self, ended: bool) -> None:
        """Close connections; drop the slot if that is wanted, or if a source that ends has made it."""
        import psycopg

        try:
            self._forget_snapshots()
            drops = self._settings.drops_slot or (ended and self._settings.startup.ends)
            if self._connection is not None:
                if drops:
                    drop = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1"
                    self._connection.execute(drop, [self._settings.slot])
                self._connection.close()
        except psycopg.Error:
            pass  # the connection was already broken
