"""Schemas and catalogs: PyFlink's `pyflink.table.catalog`."""

from __future__ import annotations

from scurry.catalog.schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from scurry.catalog.store import CatalogDescription
from scurry.common._api import ApiObject
from scurry.common.configuration import Configuration

__all__ = [
    "CatalogDescriptor",
    "Column",
    "ComputedColumn",
    "Constraint",
    "MetadataColumn",
    "PhysicalColumn",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


class CatalogDescriptor(ApiObject):
    """The description of a catalog, for `TableEnvironment.create_catalog`."""

    def __init__(self, description: CatalogDescription) -> None:
        """Wrap a description; use `of`."""
        self._description = description

    @staticmethod
    def of(catalog_name: str, configuration: Configuration, comment: str | None = None) -> CatalogDescriptor:
        """Describe a catalog.

        Args:
            catalog_name: Its name.
            configuration: Its options, `type` among them.
            comment: Its description.
        """
        return CatalogDescriptor(CatalogDescription(configuration.to_dict(), comment))
