"""ClickHouseTableSource: the rows of a table, and lookups of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.clickhouse.client import ClickHouse
from scurry.connectors.clickhouse.source import ClickHouseScan, equal_to, selected
from scurry.connectors.lookup_cache import CacheSettings
from scurry.sql.connectors.contract import Changes, LookupSource, TableSource
from scurry.sql.connectors.lookups import KeyLookup
from scurry.sql.formats.contract import FormatColumn, chosen_columns, row_of
from scurry.sql.types.values import batch_of_columns, from_values, to_values


@dataclass(frozen=True)
class ClickHouseTableSource(TableSource):
    """Read a table; look rows up by the values of columns.

    Attributes:
        scan: The table and its ranges.
        cache: The settings of the cache of lookups; None for no cache.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
    """

    scan: ClickHouseScan
    declared: tuple[FormatColumn, ...]
    cache: CacheSettings | None = None
    parallelism: int | None = None

    def splits(self) -> list[Any]:
        """Return the ranges."""
        return self.scan.splits()

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a range, of the columns that are read only."""
        row = row_of(chosen_columns(self.declared, columns))
        for batch in self.scan.batches(split, row):
            yield Changes(batch_of_columns(batch.columns, columns, batch.num_rows))

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource:
        """Return the lookup that queries the rows of keys."""
        return _RowLookup(self, keys, columns)


class _RowLookup(KeyLookup):
    def __init__(self, source: ClickHouseTableSource, keys: Sequence[str], columns: Sequence[str]) -> None:
        wanted = chosen_columns(source.declared, columns)
        super().__init__([(column.name, column.type) for column in wanted], source.cache)
        self._table, self._row = source.scan.table, row_of(wanted)
        self._keys = chosen_columns(source.declared, keys)

    def open(self) -> None:
        super().open()
        self._server = ClickHouse(self._table)
        self._is_replacing: bool | None = None

    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        if self._is_replacing is None:
            self._is_replacing = self._server.facts().replaces
        pairs = [
            (column.name, from_values([value], column.type)[0].as_py())
            for column, value in zip(self._keys, key, strict=True)
        ]
        found: list[tuple[Any, ...]] = []
        for batch in selected(self._server, self._table, self._row, equal_to(pairs), self._is_replacing):
            columns = [to_values(column) for column in batch.columns]
            found += zip(*columns, strict=True) if columns else [()] * batch.num_rows
        return found

    def close(self) -> None:
        super().close()
        self._server.close()
