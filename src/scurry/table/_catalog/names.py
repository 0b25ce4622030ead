"""Names of catalog objects: ObjectPath and CatalogPartitionSpec."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common._api import ApiObject
from scurry.sql.catalog.identifier import ObjectPath
from scurry.sql.catalog.partitions import partition_text

__all__ = ["CatalogPartitionSpec", "ObjectPath"]


class CatalogPartitionSpec(ApiObject):
    """A partition of a table: values by the names of partition columns."""

    def __init__(self, partition_spec: Mapping[str, str]) -> None:
        """Create a partition specification.

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
