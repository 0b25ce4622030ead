"""CassandraFactory: tables of Cassandra, which Flink has no SQL connector for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.cassandra.client import CassandraSettings, errors, failure, session_of
from scurry.connectors.cassandra.sink import CONCURRENT_REQUESTS, CassandraSink, Statement, bound
from scurry.connectors.cassandra.source import CassandraSource, CassandraTable, quoted
from scurry.connectors.cassandra.values import check_type, row_reader
from scurry.connectors.sink import Sink
from scurry.connectors.source import Source
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.prepared import Prepared
from scurry.sql.connectors.records import Finder, RecordFactory
from scurry.sql.formats.contract import FormatColumn, names_and_types

_LEVELS = (
    *("ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM"),
    *("SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"),
)

HOSTS = TableOption("hosts", str, None, "Addresses of some nodes, with `;`.", required=True)
PORT = TableOption("port", whole_number, 9042, "The port of the nodes.")
KEYSPACE = TableOption("keyspace", str, None, "The keyspace.", required=True)
TABLE_NAME = TableOption("table-name", str, None, "The table.", required=True)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
CONSISTENCY = TableOption("consistency-level", one_of(_LEVELS), "LOCAL_ONE", "The level of reads and writes.")
RANGES = TableOption("scan.partition.num", whole_number, 16, "Ranges of tokens that are read separately.")
FETCH_SIZE = TableOption("scan.fetch-size", whole_number, 5000, "Rows that a reader fetches at once.")
CONCURRENT = TableOption(
    "sink.max-concurrent-requests", whole_number, CONCURRENT_REQUESTS, "Requests of a task that wait for answers."
)


class CassandraFactory(RecordFactory):
    """Make sources, sinks and lookups of tables of Cassandra."""

    identifier = "cassandra"
    changes = "UPSERT"

    def table_options(self) -> Sequence[TableOption[Any]]:
        """Return the options of the connector."""
        return (
            *(HOSTS, PORT, KEYSPACE, TABLE_NAME, USERNAME, PASSWORD, CONSISTENCY),
            *(RANGES, FETCH_SIZE, CONCURRENT, SINK_PARALLELISM),
        )

    def check(self, context: TableContext) -> Options:
        """Return the options after checking them and the columns."""
        options = super().check(context)
        for column in context.physical_columns:
            check_type(column.type, column.name)
        for option in (RANGES, FETCH_SIZE, CONCURRENT):
            if options.get(option) < 1:
                raise ValidationError(f"'{option.key}' must be at least 1, but is {options.get(option)}")
        if (USERNAME in options) != (PASSWORD in options):
            raise ValidationError("'username' and 'password' must be set at the same time.")
        _table(options)
        return options

    def source(self, options: Options, columns: Sequence[FormatColumn]) -> Source:
        """Return the source of rows."""
        names = names_and_types(columns)[0]
        fetch = options.get(FETCH_SIZE)
        return CassandraSource(_table(options), tuple(names), RowTuples(tuple(columns)), options.get(RANGES), fetch)

    def sink(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Sink:
        """Return the sink of rows; Cassandra writes all by its own primary key."""
        table = _table(options)
        statements = RowStatements(table.quoted, tuple(names_and_types(columns)[0]), tuple(key))
        return CassandraSink(table.settings, statements, options.get(CONCURRENT))

    def finder(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Finder:
        """Return the lookup of rows."""
        return RowFinder(_table(options), tuple(columns), tuple(key))


@dataclass(frozen=True)
class RowTuples(Prepared):
    """Make tuples of the driver's rows; picklable."""

    columns: tuple[FormatColumn, ...]

    @cached_property
    def _read(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        return row_reader(names_and_types(self.columns)[1])

    def __call__(self, row: Sequence[Any]) -> tuple[Any, ...]:
        return self._read(row)


@dataclass(frozen=True)
class RowStatements(Prepared):
    """Make the statement of a Row; picklable.

    Attributes:
        key: Those of the primary key.
    """

    table: str
    names: tuple[str, ...]
    key: tuple[str, ...]

    @cached_property
    def _insert(self) -> str:
        columns, places = ", ".join(map(quoted, self.names)), ", ".join("?" * len(self.names))
        return f"INSERT INTO {self.table} ({columns}) VALUES ({places})"

    @cached_property
    def _delete(self) -> str:
        return f"DELETE FROM {self.table} WHERE {_equal(self.key)}"

    def __call__(self, row: Any) -> Statement:
        """Return an INSERT, which overwrites, or a DELETE by the primary key."""
        if row.get_row_kind() in (RowKind.DELETE, RowKind.UPDATE_BEFORE):
            values = dict(zip(self.names, row, strict=True))
            return self._delete, [bound(values[name]) for name in self.key]
        return self._insert, list(map(bound, row))


def _equal(names: Sequence[str]) -> str:
    return " AND ".join(f"{quoted(name)} = ?" for name in names)


@dataclass(frozen=True)
class RowFinder(Prepared):
    """Look up rows by the partition key, and columns of the clustering key.

    Attributes:
        keys: Those that are looked up by.
    """

    table: CassandraTable
    columns: tuple[FormatColumn, ...]
    keys: tuple[str, ...]

    @cached_property
    def _statement(self) -> Any:
        partition = self.table.partition_key()
        if not set(partition) <= set(self.keys):
            raise ValidationError(
                f"a lookup in {self.table.quoted} needs all columns of its partition key: {', '.join(partition)}"
            )
        chosen = ", ".join(quoted(column.name) for column in self.columns)
        query = f"SELECT {chosen} FROM {self.table.quoted} WHERE {_equal(self.keys)}"
        return session_of(self.table.settings).prepare(query)

    @cached_property
    def _tuples(self) -> RowTuples:
        return RowTuples(self.columns)

    def find(self, key: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        try:
            session, values = session_of(self.table.settings), [bound(key[name]) for name in self.keys]
            rows = list(session.execute(self._statement, values))
        except errors() as error:
            raise failure(self.table.settings, error, is_sink=False) from None
        return map(self._tuples, rows)


def _table(options: Options) -> CassandraTable:
    hosts = tuple(each.strip() for each in options.get(HOSTS).split(";") if each.strip())
    try:
        settings = CassandraSettings(
            hosts, options.get(PORT), options.find(USERNAME), options.find(PASSWORD), options.get(CONSISTENCY)
        )
    except ArgumentError as error:
        raise ValidationError(f"'{HOSTS.key}' or '{PORT.key}': {error}") from None
    return CassandraTable(settings, options.get(KEYSPACE), options.get(TABLE_NAME))
