"""JdbcTableLookup: looks up the rows of a table by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.lookup import LOOKING_UP
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.connectors.lookup_cache import CacheSettings
from scurry.sql.connectors.jdbc.columns import TableColumns
from scurry.sql.connectors.lookups import KeyLookup

if TYPE_CHECKING:
    import pyarrow as pa


class JdbcTableLookup(KeyLookup):
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
            connection: Address of the database.
            keys: Names of the columns of the key.
            max_retries: How often a query is retried after a transient error.
            cache: Settings of the cache; None for none.
        """
        super().__init__([(name, table_columns.type_of(name)) for name in columns], cache)
        self._database = database_of(connection)
        self._query, _ = self._database.translate(table_columns.dialect.lookup(table, columns, keys))
        self._columns, self._keys = table_columns, tuple(keys)
        self._rows = table_columns.reader(table, columns)
        self._max_retries = max_retries

    def open(self) -> None:
        """Make an empty cache; the first query connects."""
        super().open()
        self._key = [self._columns.values(name) for name in self._keys]
        self._parameter = [self._database.parameter(each.type_info) for each in self._key]
        self._session = JdbcSession(self._database, self._max_retries, autocommit=True)

    def find(self, key: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the rows of a key."""
        return self._session.transact(lambda connection: self._ask(connection, key), LOOKING_UP)

    def _ask(self, connection: Any, key: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        parameters = []
        for value, column, convert in zip(key, self._key, self._parameter, strict=True):
            written = column.write(value)
            parameters.append(written if convert is None else convert(written))
        return self._rows.values(connection.execute(self._query, parameters).fetchall())

    def batch(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        """Return rows as columns, or name the value that does not fit its column."""
        return self._rows.batch(rows)

    def close(self) -> None:
        """Close the connection and empty the cache."""
        super().close()
        self._session.close()
