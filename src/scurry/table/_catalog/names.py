"""Names of what catalogs keep: ObjectPath and CatalogPartitionSpec."""

from __future__ import annotations

from collections.abc import Mapping
from functools import total_ordering

from scurry.catalog.partitions import partition_text
from scurry.common._api import ApiObject
from scurry.errors import ArgumentError

__all__ = ["CatalogPartitionSpec", "ObjectPath"]


@total_ordering
class ObjectPath(ApiObject):
    """The name of a table, view or function within a catalog: database and name."""

    def __init__(self, database_name: str, object_name: str) -> None:
        """Take both names.

        Args:
            database_name: Name of the database.
            object_name: Name of the table, view or function.
        """
        self._database = database_name
        self._name = object_name

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        """Return the path of a text.

        Args:
            full_name: `database.name`.

        Raises:
            ArgumentError: It has another form.
        """
        parts = full_name.split(".")
        if len(parts) != 2:
            raise ArgumentError(
                f"Cannot get split '{full_name}' to get databaseName and objectName: expected 'database.name'"
            )
        return ObjectPath(*parts)

    def get_database_name(self) -> str:
        """Return the name of the database."""
        return self._database

    def get_object_name(self) -> str:
        """Return the name of the table, view or function."""
        return self._name

    def get_full_name(self) -> str:
        """Return both names with a point between them."""
        return f"{self._database}.{self._name}"

    def compare_to(self, other: ObjectPath) -> int:
        """Return -1, 0 or 1: whether this path is before, equal to or after another."""
        return (self > other) - (self < other)

    def __str__(self) -> str:
        """Return both names with a point between them."""
        return self.get_full_name()

    def __eq__(self, other: object) -> bool:
        """Compare both names."""
        return isinstance(other, ObjectPath) and self.get_full_name() == other.get_full_name()

    def __lt__(self, other: ObjectPath) -> bool:
        """Compare both names."""
        return self.get_full_name() < other.get_full_name()

    def __hash__(self) -> int:
        """Hash both names."""
        return hash(self.get_full_name())


class CatalogPartitionSpec(ApiObject):
    """A partition of a table: values by the names of partition columns."""

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        """Take the values.

        Args:
            partition_spec: The values by the names of columns.
        """
        self._spec = dict(partition_spec)

    def get_partition_spec(self) -> dict[str, str]:
        """Return the values by the names of columns."""
        return dict(self._spec)

    def __str__(self) -> str:
        """Return the values."""
        return partition_text(self._spec)

    def __eq__(self, other: object) -> bool:
        """Compare the values."""
        return isinstance(other, CatalogPartitionSpec) and self._spec == other._spec

    def __hash__(self) -> int:
        """Hash the values."""
        return hash(tuple(sorted(self._spec.items())))
