"""Databases as sinks, sources and lookup tables: JdbcSink, JdbcSource, JdbcLookup."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.common.typeinfo import RowTypeInfo
from scurry.common.types import Row
from scurry.connectors.jdbc.exactly_once import JdbcExactlyOnceSink
from scurry.connectors.jdbc.lookup import JdbcLookup
from scurry.connectors.jdbc.options import JdbcConnectionOptions, JdbcExactlyOnceOptions, JdbcExecutionOptions
from scurry.connectors.jdbc.sink import JdbcSink as _JdbcSink
from scurry.connectors.jdbc.source import Bound, Partitions, row_type
from scurry.connectors.jdbc.source import JdbcSource as _JdbcSource
from scurry.datastream.functions import AsyncFunction, RuntimeContext, SinkFunction
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "JdbcConnectionOptions",
    "JdbcExactlyOnceOptions",
    "JdbcExecutionOptions",
    "JdbcLookup",
    "JdbcLookupFunction",
    "JdbcSink",
    "JdbcSource",
    "JdbcSourceBuilder",
]


@made_by("sink", "exactly_once_sink")
class JdbcSink(ApiObject, _JdbcSink):
    """Execute an SQL statement for every record; for `add_sink`, as in PyFlink, or `sink_to`."""

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Return a sink that writes at least once: after a failure some records may be written again.

        With an idempotent statement, such as `INSERT ... ON CONFLICT ... DO UPDATE`, repeated writes have no effect.

        Args:
            sql: A statement with a `?` for each field of a record, in their order.
            type_info: Type of the records: `Types.ROW` or `Types.ROW_NAMED`.
            jdbc_connection_options: Address of the database.
            jdbc_execution_options: Batches and retries.

        Raises:
            ArgumentError: The numbers of parameters and fields differ.
            UnsupportedError: A field's type cannot be a parameter.
        """
        options = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return JdbcSink(sql, type_info, jdbc_connection_options, options)

    @staticmethod
    def exactly_once_sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
        jdbc_exactly_once_options: JdbcExactlyOnceOptions | None = None,
    ) -> _JdbcSink:
        """Return a sink that writes exactly once: each micro-batch is one transaction that contains its number.

        PyFlink has no such method; Flink's Java API has one with XA transactions.

        Args:
            sql: A statement with a `?` for each field of a record, in their order.
            type_info: Type of the records: `Types.ROW` or `Types.ROW_NAMED`.
            jdbc_connection_options: Address of the database.
            jdbc_execution_options: Retries, and records per block; the interval has no effect.
            jdbc_exactly_once_options: Names of two tables that the sink keeps in the database.

        Raises:
            ArgumentError: The numbers of parameters and fields differ.
            UnsupportedError: A field's type cannot be a parameter.
        """
        options = jdbc_execution_options or JdbcExecutionOptions.defaults()
        tables = jdbc_exactly_once_options or JdbcExactlyOnceOptions.defaults()
        return JdbcExactlyOnceSink(sql, type_info, jdbc_connection_options, options, tables)


SinkFunction.register(_JdbcSink)


@made_by("builder")
class JdbcSource(ApiObject, _JdbcSource):
    """A bounded source of the rows of a query. Flink's Java API has it; PyFlink does not."""

    @staticmethod
    def builder() -> JdbcSourceBuilder:
        """Return a builder."""
        return JdbcSourceBuilder()


class JdbcSourceBuilder(ApiObject):
    """Builder of a JdbcSource."""

    def __init__(self) -> None:
        """Begin with nothing set."""
        self._sql: str | None = None
        self._connection: JdbcConnectionOptions | None = None
        self._type_info: RowTypeInfo | None = None
        self._partitions: Partitions | None = None
        self._fetch_size = 5000

    def set_connection_options(self, jdbc_connection_options: JdbcConnectionOptions) -> JdbcSourceBuilder:
        """Set where the database is."""
        self._connection = jdbc_connection_options
        return self

    def set_sql(self, sql: str) -> JdbcSourceBuilder:
        """Set the query, without parameters; a semicolon at its end is dropped."""
        self._sql = sql.strip().rstrip(";")
        return self

    def set_type_information(self, type_info: RowTypeInfo) -> JdbcSourceBuilder:
        """Declare the type of the rows; by default the database is queried for it when the source is built."""
        if not isinstance(type_info, RowTypeInfo):
            raise ArgumentTypeError(f"a JdbcSource makes rows; declare Types.ROW_NAMED(...), got {type_info!r}")
        self._type_info = type_info
        return self

    def set_partitions(self, column: str, lower: Bound, upper: Bound, number: int) -> JdbcSourceBuilder:
        """Read in parallel, in splits that are ranges of a column (Flink's `scan.partition.*` options).

        The bounds only set where to cut: rows beyond them are in the first or last split.

        Args:
            column: A column of the query's result: a number, date or timestamp. An index on it helps.
            lower: Its smallest value, approximately.
            upper: Its largest value, approximately.
            number: The number of splits.
        """
        self._partitions = Partitions(column, lower, upper, number)
        return self

    def set_result_set_fetch_size(self, fetch_size: int) -> JdbcSourceBuilder:
        """Set how many rows a task fetches at once (5000)."""
        if fetch_size < 1:
            raise ArgumentError(f"the fetch size must be positive, got {fetch_size}")
        self._fetch_size = fetch_size
        return self

    def build(self) -> JdbcSource:
        """Return the source; queries the database for the type of the rows unless it was declared.

        Raises:
            ArgumentError: There is no query, or no connection.
            DatabaseError: The database cannot be reached, or refuses the query.
        """
        if self._sql is None or self._connection is None:
            raise ArgumentError("a JdbcSource needs set_sql(...) and set_connection_options(...)")
        type_info = self._type_info or row_type(self._sql, self._connection)
        return JdbcSource(self._sql, self._connection, type_info, self._partitions, self._fetch_size)


class JdbcLookupFunction(AsyncFunction[Any, Any]):
    """Look up every record of a stream in a database, several at a time; for `AsyncDataStream`."""

    def __init__(
        self,
        lookup: JdbcLookup,
        key: Callable[[Any], Any],
        join: Callable[[Any, tuple[Row, ...]], Iterable[Any]],
        connections: int = 4,
    ) -> None:
        """Describe the enrichment.

        Args:
            lookup: The lookup.
            key: Returns the key of a record, a tuple if it has several parts.
            join: Returns the results for a record and the rows found, of which there may be none.
            connections: How many queries a task has in flight.

        Raises:
            ArgumentError: `connections` is below 1.
        """
        if connections < 1:
            raise ArgumentError(f"a JdbcLookupFunction needs at least 1 connection, got {connections}")
        self._lookup = lookup
        self._key = key
        self._join = join
        self._connections = connections

    def open(self, runtime_context: RuntimeContext) -> None:
        """Start the threads that wait for the database."""
        self._pool = ThreadPoolExecutor(self._connections, "scurry-jdbc-lookup")

    def close(self) -> None:
        """Close the connections."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._lookup.close()

    async def async_invoke(self, value: Any) -> list[Any]:
        """Return the results of `join` for a record and its rows."""
        key = self._key(value)
        parts = key if isinstance(key, tuple) else (key,)
        rows = await asyncio.get_running_loop().run_in_executor(self._pool, self._lookup.rows, *parts)
        return list(self._join(value, rows))
