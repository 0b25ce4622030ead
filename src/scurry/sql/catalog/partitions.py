"""Partitions and statistics of the tables of a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import (
    PartitionAlreadyExistError,
    PartitionNotExistError,
    PartitionSpecInvalidError,
    TableNotExistError,
    TableNotPartitionedError,
    UnsupportedError,
)

#: the values of partition columns by their names
Spec = Mapping[str, str]


@dataclass(frozen=True)
class CatalogPartition:
    """A partition of a table.

    Attributes:
        properties: What WITH said.
        comment: Its description, if it has one.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None


@dataclass(frozen=True)
class CatalogTableStatistics:
    """Statistics of the size of a table or partition; -1 is unknown.

    Attributes:
        row_count: Number of rows.
        file_count: Number of files.
        total_size: Size in bytes.
        raw_data_size: Size in memory in bytes.
        properties: Further properties.
    """

    row_count: int = -1
    file_count: int = -1
    total_size: int = -1
    raw_data_size: int = -1
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CatalogColumnStatistics:
    """Statistics of the values of columns.

    Attributes:
        data: What is known, by the names of columns.
        properties: Further properties.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass
class TableDetails:
    """Partitions and statistics of a table, which a catalog keeps beside its definition.

    Attributes:
        statistics: The size of the table; None if unknown.
        column_statistics: What is known of its columns, if somebody said it.
        partitions: Partitions by their sorted values.
    """

    statistics: CatalogTableStatistics = CatalogTableStatistics()
    column_statistics: CatalogColumnStatistics = CatalogColumnStatistics()
    partitions: dict[tuple[tuple[str, str], ...], PartitionDetails] = field(default_factory=dict)


@dataclass
class PartitionDetails:
    """A partition with its statistics."""

    partition: CatalogPartition
    statistics: CatalogTableStatistics = CatalogTableStatistics()
    column_statistics: CatalogColumnStatistics = CatalogColumnStatistics()


class PartitionedCatalog:
    """The methods of a catalog about partitions and statistics, whose storage is `_details`.

    Every method raises CatalogError if what it names does not exist, or exists already.

    Attributes:
        name: The name of the catalog in the session.
    """

    name: str

    def _details(self, database: str, table: str) -> TableDetails | None:
        """Return the entry of a table; None if the catalog keeps no partitions and no statistics."""
        return None

    def _partition_keys(self, database: str, table: str) -> tuple[str, ...] | None:
        """Return the names of the partition columns of a table, None if there is no such table."""
        raise NotImplementedError

    def has_table(self, database: str, table: str) -> bool:
        """Return whether there is such a table or view."""
        return self._partition_keys(database, table) is not None

    # ------------------------------------------------------------------ partitions

    def list_partitions(self, database: str, table: str, spec: Spec | None = None) -> list[dict[str, str]]:
        """Return the partitions of a table, or those that have the values of `spec`."""
        keys = self._require_partitioned(database, table)
        wanted = dict(spec or {}).items()
        details = self._details(database, table)
        found = [dict(values) for values in (details.partitions if details else {})]
        return [{key: each[key] for key in keys} for each in found if wanted <= each.items()]

    def find_partition(self, database: str, table: str, spec: Spec) -> CatalogPartition | None:
        """Return a partition, or None if it does not exist."""
        found = self._find(database, table, spec)
        return None if found is None else found.partition

    def get_partition(self, database: str, table: str, spec: Spec) -> CatalogPartition:
        """Return a partition."""
        return self._require_partition(database, table, spec).partition

    def create_partition(self, database: str, table: str, spec: Spec, partition: CatalogPartition) -> None:
        """Add a partition."""
        keys = self._require_partitioned(database, table)
        if sorted(keys) != sorted(spec):
            raise PartitionSpecInvalidError(
                f"PartitionSpec {partition_text(spec)} does not match partition keys [{', '.join(keys)}] of table "
                f"{database}.{table} in catalog {self.name}."
            )
        if self._find(database, table, spec) is not None:
            raise PartitionAlreadyExistError(
                f"Partition {partition_text(spec)} of table {database}.{table} in catalog {self.name} already exists."
            )
        self._kept(database, table).partitions[_key(spec)] = PartitionDetails(partition)

    def alter_partition(self, database: str, table: str, spec: Spec, partition: CatalogPartition) -> None:
        """Replace a partition."""
        self._require_partition(database, table, spec).partition = partition

    def drop_partition(self, database: str, table: str, spec: Spec) -> None:
        """Remove a partition."""
        self._require_partition(database, table, spec)
        del self._kept(database, table).partitions[_key(spec)]

    # ------------------------------------------------------------------ statistics

    def statistics(self, database: str, table: str, spec: Spec | None = None) -> CatalogTableStatistics:
        """Return the known size of a table, or of one of its partitions."""
        found = self._described(database, table, spec)
        return CatalogTableStatistics() if found is None else found.statistics

    def column_statistics(self, database: str, table: str, spec: Spec | None = None) -> CatalogColumnStatistics:
        """Return the known statistics of the columns of a table, or of one of its partitions."""
        found = self._described(database, table, spec)
        return CatalogColumnStatistics() if found is None else found.column_statistics

    def alter_statistics(
        self, database: str, table: str, spec: Spec | None, statistics: CatalogTableStatistics
    ) -> None:
        """Replace the statistics of a table, or of one of its partitions."""
        self._changed(database, table, spec).statistics = replace(statistics)

    def alter_column_statistics(
        self, database: str, table: str, spec: Spec | None, statistics: CatalogColumnStatistics
    ) -> None:
        """Replace the statistics of a table's columns, or of those of one of its partitions."""
        self._changed(database, table, spec).column_statistics = replace(statistics)

    def _described(self, database: str, table: str, spec: Spec | None) -> TableDetails | PartitionDetails | None:
        if spec is not None:
            return self._require_partition(database, table, spec)
        self._require_table_of(database, table)
        return self._details(database, table)

    def _changed(self, database: str, table: str, spec: Spec | None) -> TableDetails | PartitionDetails:
        found = self._described(database, table, spec)
        return self._kept(database, table) if found is None else found

    # ------------------------------------------------------------------ checks

    def _kept(self, database: str, table: str) -> TableDetails:
        details = self._details(database, table)
        if details is None:
            raise UnsupportedError(f"the catalog {self.name} keeps no partitions and no statistics of its tables")
        return details

    def _find(self, database: str, table: str, spec: Spec) -> PartitionDetails | None:
        details = self._details(database, table) if self._partition_keys(database, table) else None
        return None if details is None else details.partitions.get(_key(spec))

    def _require_partition(self, database: str, table: str, spec: Spec) -> PartitionDetails:
        found = self._find(database, table, spec)
        if found is None:
            raise PartitionNotExistError(
                f"Partition {partition_text(spec)} of table {database}.{table} in catalog {self.name} does not exist."
            )
        return found

    def _require_table_of(self, database: str, table: str) -> tuple[str, ...]:
        keys = self._partition_keys(database, table)
        if keys is None:
            raise TableNotExistError(f"Table (or view) {database}.{table} does not exist in Catalog {self.name}.")
        return keys

    def _require_partitioned(self, database: str, table: str) -> tuple[str, ...]:
        keys = self._require_table_of(database, table)
        if not keys:
            raise TableNotPartitionedError(f"Table {database}.{table} in catalog {self.name} is not partitioned.")
        return keys


def partition_text(spec: Spec) -> str:
    """Return the values of a partition as Flink's messages have them."""
    return f"CatalogPartitionSpec{{{{{', '.join(f'{key}={value}' for key, value in spec.items())}}}}}"


def _key(spec: Spec) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(spec.items()))
