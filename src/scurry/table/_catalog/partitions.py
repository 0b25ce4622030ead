"""Partitions and statistics of a catalog's tables, as programs see and change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scurry.common._api import ApiObject
from scurry.sql.catalog import partitions
from scurry.sql.catalog.partitions import PartitionedCatalog
from scurry.table._catalog.names import CatalogPartitionSpec, ObjectPath


class CatalogPartition(ApiObject):
    """A partition of a table."""

    def __init__(self, partition: partitions.CatalogPartition) -> None:
        """Wrap a partition; use `create_instance`."""
        self._partition = partition

    @staticmethod
    def create_instance(properties: Mapping[str, str], comment: str | None = None) -> CatalogPartition:
        """Describe a partition.

        Args:
            properties: Its properties.
            comment: Its description.
        """
        return CatalogPartition(partitions.CatalogPartition(dict(properties), comment))

    def get_properties(self) -> dict[str, str]:
        """Return its properties."""
        return dict(self._partition.properties)

    def get_comment(self) -> str | None:
        """Return its description."""
        return self._partition.comment

    def copy(self) -> CatalogPartition:
        """Return an equal one."""
        return CatalogPartition(self._partition)

    def get_description(self) -> str | None:
        """Return None: a partition has a comment only."""
        return None

    def get_detailed_description(self) -> str | None:
        """Return None: a partition has a comment only."""
        return None


class CatalogTableStatistics(ApiObject):
    """Statistics of the size of a table or partition; -1 is unknown."""

    def __init__(
        self,
        row_count: int = -1,
        field_count: int = -1,
        total_size: int = -1,
        raw_data_size: int = -1,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Create statistics of a table.

        Args:
            row_count: Number of rows.
            field_count: Number of files; PyFlink calls it so.
            total_size: Size in bytes.
            raw_data_size: Size in memory in bytes.
            properties: Further properties.
        """
        self._statistics = partitions.CatalogTableStatistics(
            row_count, field_count, total_size, raw_data_size, dict(properties or {})
        )

    @staticmethod
    def _of(statistics: partitions.CatalogTableStatistics) -> CatalogTableStatistics:
        made = CatalogTableStatistics()
        made._statistics = statistics
        return made

    def get_row_count(self) -> int:
        """Return the number of rows."""
        return self._statistics.row_count

    def get_field_count(self) -> int:
        """Return the number of files."""
        return self._statistics.file_count

    def get_total_size(self) -> int:
        """Return the size in bytes."""
        return self._statistics.total_size

    def get_raw_data_size(self) -> int:
        """Return the size in memory in bytes."""
        return self._statistics.raw_data_size

    def get_properties(self) -> dict[str, str]:
        """Return further properties."""
        return dict(self._statistics.properties)

    def copy(self) -> CatalogTableStatistics:
        """Return an equal one."""
        return CatalogTableStatistics._of(self._statistics)


class CatalogColumnStatistics(ApiObject):
    """Statistics of the values of columns."""

    def __init__(
        self, column_statistics_data: Mapping[str, Any] | None = None, properties: Mapping[str, str] | None = None
    ) -> None:
        """Create statistics of columns.

        Args:
            column_statistics_data: What is known, by the names of columns.
            properties: Further properties.
        """
        self._statistics = partitions.CatalogColumnStatistics(
            dict(column_statistics_data or {}), dict(properties or {})
        )

    @staticmethod
    def _of(statistics: partitions.CatalogColumnStatistics) -> CatalogColumnStatistics:
        return CatalogColumnStatistics(statistics.data, statistics.properties)

    def get_column_statistics_data(self) -> dict[str, Any]:
        """Return the known statistics by column name."""
        return dict(self._statistics.data)

    def get_properties(self) -> dict[str, str]:
        """Return further properties."""
        return dict(self._statistics.properties)

    def copy(self) -> CatalogColumnStatistics:
        """Return an equal one."""
        return CatalogColumnStatistics._of(self._statistics)


class PartitionMethods(ApiObject):
    """The methods of a Catalog about partitions and statistics.

    Catalogs in memory keep both; those of other systems keep none and refuse to store them.
    """

    _catalog: PartitionedCatalog

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        """Return the partitions of a table.

        Args:
            table_path: The table.
            partition_spec: Values that the partitions have; None for all.

        Raises:
            CatalogError: There is no such table, or it has no partition columns.
        """
        spec = None if partition_spec is None else partition_spec.get_partition_spec()
        return [CatalogPartitionSpec(each) for each in self._catalog.list_partitions(*_names(table_path), spec)]

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        """Return a partition.

        Args:
            table_path: The table.
            partition_spec: The values of its partition columns.

        Raises:
            CatalogError: There is no such partition.
        """
        return CatalogPartition(self._catalog.get_partition(*_names(table_path), partition_spec.get_partition_spec()))

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        """Return whether there is such a partition."""
        return self._catalog.find_partition(*_names(table_path), partition_spec.get_partition_spec()) is not None

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        """Add a partition.

        Args:
            table_path: The table.
            partition_spec: The values of its partition columns.
            partition: The partition.
            ignore_if_exists: Whether there may be one of these values.

        Raises:
            CatalogError: The table has not these partition columns, or has such a partition.
        """
        if not (ignore_if_exists and self.partition_exists(table_path, partition_spec)):
            values = partition_spec.get_partition_spec()
            self._catalog.create_partition(*_names(table_path), values, partition._partition)

    def drop_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool
    ) -> None:
        """Remove a partition.

        Args:
            table_path: The table.
            partition_spec: The values of its partition columns.
            ignore_if_not_exists: Whether it may be missing.

        Raises:
            CatalogError: There is no such partition.
        """
        if self._changes(table_path, partition_spec, ignore_if_not_exists):
            self._catalog.drop_partition(*_names(table_path), partition_spec.get_partition_spec())

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace a partition.

        Args:
            table_path: The table.
            partition_spec: The values of its partition columns.
            new_partition: What replaces it.
            ignore_if_not_exists: Whether it may be missing.

        Raises:
            CatalogError: There is no such partition.
        """
        if self._changes(table_path, partition_spec, ignore_if_not_exists):
            values = partition_spec.get_partition_spec()
            self._catalog.alter_partition(*_names(table_path), values, new_partition._partition)

    # ------------------------------------------------------------------ statistics

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        """Return the known size of a table."""
        return CatalogTableStatistics._of(self._catalog.statistics(*_names(table_path)))

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        """Return the known statistics of the columns of a table."""
        return CatalogColumnStatistics._of(self._catalog.column_statistics(*_names(table_path)))

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        """Return the known size of a partition."""
        spec = partition_spec.get_partition_spec()
        return CatalogTableStatistics._of(self._catalog.statistics(*_names(table_path), spec))

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: Sequence[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        """Return the known sizes of partitions."""
        return [self.get_partition_statistics(table_path, each) for each in partition_specs]

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        """Return the known statistics of the columns of a partition."""
        spec = partition_spec.get_partition_spec()
        return CatalogColumnStatistics._of(self._catalog.column_statistics(*_names(table_path), spec))

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: Sequence[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        """Return the known statistics of the columns of partitions."""
        return [self.get_partition_column_statistics(table_path, each) for each in partition_specs]

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Replace the statistics of a table; the last argument is whether it may be missing."""
        if self._changes(table_path, None, ignore_if_not_exists):
            self._catalog.alter_statistics(*_names(table_path), None, table_statistics._statistics)

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        """Replace the statistics of a table's columns; the last argument is whether it may be missing."""
        if self._changes(table_path, None, ignore_if_not_exists):
            self._catalog.alter_column_statistics(*_names(table_path), None, column_statistics._statistics)

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace the statistics of a partition; the last argument is whether it may be missing."""
        if self._changes(table_path, partition_spec, ignore_if_not_exists):
            spec = partition_spec.get_partition_spec()
            self._catalog.alter_statistics(*_names(table_path), spec, partition_statistics._statistics)

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        """Replace the statistics of a partition's columns; the last argument is whether it may be missing."""
        if self._changes(table_path, partition_spec, ignore_if_not_exists):
            spec = partition_spec.get_partition_spec()
            self._catalog.alter_column_statistics(*_names(table_path), spec, column_statistics._statistics)

    def _changes(self, path: ObjectPath, spec: CatalogPartitionSpec | None, may_be_missing: bool) -> bool:
        """Return whether to change the object of a path and partition; the catalog reports a missing one."""
        if not may_be_missing:
            return True
        database, name = _names(path)
        if spec is None:
            return self._catalog.has_table(database, name)
        return self._catalog.find_partition(database, name, spec.get_partition_spec()) is not None


def _names(path: ObjectPath) -> tuple[str, str]:
    return path.get_database_name(), path.get_object_name()
