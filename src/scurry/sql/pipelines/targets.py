"""Target: a system in which a pipeline creates, alters and writes tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema, UniqueConstraint
from scurry.sql.connectors.contract import SinkTarget, TableContext
from scurry.sql.connectors.factories import create_sink
from scurry.sql.pipelines.changes import SinkTable
from scurry.sql.pipelines.evolution import CHANGES
from scurry.sql.types import DataType


@dataclass(frozen=True)
class Target(ABC):
    """A system, and the options of the pipeline for it.

    Attributes:
        options: The options of all tables.
        changes: The kinds of changes of columns that tables follow.
    """

    changes: ClassVar[Collection[str]] = CHANGES
    options: tuple[tuple[str, str], ...]
    time_zone: str = "UTC"

    def check(self) -> None:
        """Check the options that all tables share.

        Raises:
            ValidationError: An option is missing, or wrong.
        """
        return

    def prepare(self, table: SinkTable, adds: bool = True) -> None:
        """Create a table, or change its columns as the history says, and add those that it lacks.

        Args:
            table: The table.
            adds: Whether columns are added.

        Raises:
            ScurryError: The system refuses it.
        """
        return

    def alters(self, earlier: DataType, now: DataType) -> bool:
        """Return whether the type of a column can become another one."""
        return True

    @abstractmethod
    def options_of(self, table: SinkTable) -> dict[str, str]:
        """Return the options of a table, `connector` among them."""

    def sink(self, table: SinkTable) -> Sink:
        """Return the sink of a table; its records are `Changes`.

        Raises:
            ValidationError: An option is missing, or wrong.
        """
        return create_sink(self.context(table), SinkTarget())

    def context(self, table: SinkTable) -> TableContext:
        """Return the table as a statement would have it."""
        key = table.columns.key
        fields = zip(table.columns.names, table.columns.types, strict=True)
        columns = [PhysicalColumn(name, kind.not_null() if name in key else kind) for name, kind in fields]
        primary = UniqueConstraint.primary_key("PK", list(key)) if key else None
        options = self.options_of(table) | dict(table.options)
        described = CatalogTable(ResolvedSchema(columns, (), primary), None, options, table.partition_keys)
        database, _, name = table.path.rpartition(".")
        identifier = ObjectIdentifier.of("default_catalog", database or "default_database", name)
        return TableContext(identifier, described, options, self.time_zone, True)


def missing(table: SinkTable) -> ValidationError:
    """Return the error for a table that is not there, and is not to be created."""
    return ValidationError(f"table {table.path} is missing in the sink, and the schema changes exclude create.table")


def without_key(table: SinkTable) -> ValidationError:
    """Return the error for a table without a primary key."""
    return ValidationError(f"table {table.path} has no primary key, by which its rows are written").with_hint(
        "'primary-keys' of a transform names its columns"
    )
