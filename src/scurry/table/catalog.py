"""Schemas and catalogs: PyFlink's `pyflink.table.catalog`."""

from __future__ import annotations

from scurry.common._api import ApiObject
from scurry.common.configuration import Configuration
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import (
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from scurry.sql.catalog.store import CatalogDescription
from scurry.table._catalog.catalog import Catalog, HiveCatalog, JdbcCatalog
from scurry.table._catalog.entries import CatalogBaseTable, CatalogDatabase, CatalogFunction
from scurry.table._catalog.models import CatalogModel
from scurry.table._catalog.names import CatalogPartitionSpec, ObjectPath
from scurry.table._catalog.partitions import CatalogColumnStatistics, CatalogPartition, CatalogTableStatistics
from scurry.table._catalog.procedures import Procedure, ProcedureContext, procedure_hint

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "HiveCatalog",
    "JdbcCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ProcedureContext",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
    "procedure_hint",
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
