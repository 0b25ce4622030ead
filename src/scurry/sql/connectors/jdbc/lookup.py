"""JdbcTableLookup: looks up the rows of a table by key."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.lookup import LOOKING_UP
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.lookup_cache import CacheSettings, LookupCache
from scurry.sql.connectors.contract import LookupSource
from scurry.sql.connectors.jdbc.columns import TableColumns
from scurry.sql.connectors.jdbc.statements import lookup
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa


class JdbcTableLookup(LookupSource):
    """Query the rows of each key that is not in the cache."""

    def __init__(
        self,
        connection: JdbcConnectionOptions,
        table: str,
        table_columns: TableColumns,
        keys: Sequence[str],
        columns: Sequence[str],
        max_retries: int,
        cache: CacheSettings | None,
    ) -> None:
        """Describe the table and its lookups.

        Args:
            connection: Where the database is.
            table: The table.
            table_columns: Its columns.
            keys: Names of the columns of the key.
            columns: Names of the columns to read.
            max_retries: How often a query is retried after a transient error.
            cache: What is cached; None for nothing.
        """
        self._database = database_of(connection)
        self._query, _ = self._database.translate(lookup(table, columns, keys))
        self._columns = table_columns
        self._keys = tuple(keys)
        self._rows = table_columns.reader(table, columns)
        self._max_retries = max_retries
        self._settings = cache

    def open(self) -> None:
        """Make an empty cache; the first query connects."""
        self._values = [self._columns.values(name) for name in self._keys]
        self._parameter = [self._database.parameter(each.type_info) for each in self._values]
        self._session = JdbcSession(self._database, self._max_retries, autocommit=True)
        self._cache = None if self._settings is None else LookupCache[tuple[Any, ...]](self._settings)

    def lookup(self, keys: pa.RecordBatch) -> tuple[pa.Array, pa.RecordBatch]:
        """Return the rows of some keys; equal keys are asked for once."""
        import pyarrow as pa

        asked: dict[Hashable, Sequence[tuple[Any, ...]]] = {}
        positions: list[int] = []
        rows: list[tuple[Any, ...]] = []
        for position, key in enumerate(zip(*map(to_values, keys.columns), strict=True)):
            if None in key:
                continue
            identity = _hashable(key)
            found = asked.get(identity)
            if found is None:
                found = asked[identity] = self._found(identity, key)
            positions += [position] * len(found)
            rows += found
        return pa.array(positions, pa.int64()), self._rows.batch(rows)

    def close(self) -> None:
        """Close the connection and empty the cache."""
        self._session.close()
        if self._cache is not None:
            self._cache.clear()

    def _found(self, identity: Hashable, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        found = None if self._cache is None else self._cache.get(identity)
        if found is None:
            found = self._session.transact(lambda connection: self._ask(connection, key), LOOKING_UP)
            if self._cache is not None:
                self._cache.put(identity, found)
        return found

    def _ask(self, connection: Any, key: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        parameters = []
        for value, column, convert in zip(key, self._values, self._parameter, strict=True):
            written = column.write(value)
            parameters.append(written if convert is None else convert(written))
        return self._rows.values(connection.execute(self._query, parameters).fetchall())


def _hashable(value: Any) -> Hashable:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
