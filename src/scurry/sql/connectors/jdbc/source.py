"""JdbcTableSource: reads the rows of a table, in ranges of a column or at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.lookup_cache import CacheSettings
from scurry.connectors.ranges import NumericRanges
from scurry.sql.connectors.contract import Changes, LookupSource, TableSource
from scurry.sql.connectors.jdbc.columns import TableColumns
from scurry.sql.connectors.jdbc.lookup import JdbcTableLookup

_FETCH_SIZE = 5000


@dataclass(frozen=True)
class JdbcTableSource(TableSource):
    """Read a table; each range is one query, from one snapshot.

    Attributes:
        connection: Address of the database.
        ranges: The ranges that are read separately; None for one query.
        fetch_size: Rows fetched at once.
        lookup_retries: How often a lookup is retried.
        lookup_cache: Settings of the cache of lookups; None for none.
    """

    connection: JdbcConnectionOptions
    table: str
    columns: TableColumns
    ranges: NumericRanges | None = None
    fetch_size: int = _FETCH_SIZE
    lookup_retries: int = 3
    lookup_cache: CacheSettings | None = None

    def splits(self) -> list[Any]:
        """Return the ranges, one None without."""
        return [None] if self.ranges is None else list(self.ranges.all())

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a range, of the columns that are read only.

        Raises:
            DatabaseError: The database is not available, or refuses the query.
            MalformedRecordError: A value does not fit the type of its column.
        """
        database = database_of(self.connection)
        dialect = self.columns.dialect
        condition = None if self.ranges is None else f"{dialect.quoted(self.ranges.column)} BETWEEN ? AND ?"
        query, _ = database.translate(dialect.select(self.table, columns, condition))
        reader = self.columns.reader(self.table, columns)
        for rows in database.read(query, [] if split is None else list(split), self.fetch_size or _FETCH_SIZE):
            yield Changes(reader.batch(reader.values(rows)))

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource:
        """Return the lookup that queries the rows of keys."""
        return JdbcTableLookup(
            self.connection, self.table, self.columns, keys, columns, self.lookup_retries, self.lookup_cache
        )
