"""DeltaCatalog: the directories of a warehouse as databases, and the Delta tables in them."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from scurry.connectors.files.filesystem import LocalFileSystem, file_system, hidden
from scurry.connectors.files.storage_errors import reaching
from scurry.connectors.lakes.columns import lake_schema
from scurry.connectors.lakes.delta_sink import DeltaSink
from scurry.connectors.lakes.delta_table import address, columns_of, deltalake, open_table
from scurry.errors import (
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    TableAlreadyExistError,
    TableNotExistError,
    UnsupportedError,
    ValidationError,
)
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogDatabase, CatalogTable
from scurry.sql.catalog.external import ExternalCatalog
from scurry.sql.catalog.materialized import CatalogMaterializedTable, with_definition
from scurry.sql.catalog.schema import Column, PhysicalColumn, ResolvedSchema
from scurry.sql.catalog.table_options import Options, TableOption, refuse_unsupported
from scurry.sql.connectors.lakes.alterations import alteration, check_kept, plain, same_table
from scurry.sql.connectors.lakes.columns import lake_row
from scurry.sql.formats.contract import FormatColumn

WAREHOUSE = TableOption(
    "warehouse", str, None, "The directory or address below which a database is a directory of tables.", required=True
)
DEFAULT_DATABASE = TableOption("default-database", str, "default", "The database that is current.")
OPTIONS = (WAREHOUSE, DEFAULT_DATABASE)
_LOG = "_delta_log"
#: Description file of a database; it also marks one where no empty directories exist.
_DESCRIPTION = "_database.json"
#: Definition file of a materialized table, beside its log.
_MATERIALIZED = "_materialized_table.json"


def create_catalog(name: str, values: Mapping[str, str]) -> Catalog:
    """Return the catalog that CREATE CATALOG describes.

    Args:
        values: The options, `type` among them.

    Raises:
        ValidationError: An option is unknown or missing.
        ExtraMissingError: The package deltalake is missing.
        UnsupportedError: The warehouse is on a file system that there is not.
    """
    options = Options(values)
    options.check(OPTIONS)
    refuse_unsupported("delta", values, {"type", "property-version", *(option.key for option in OPTIONS)})
    deltalake()
    return DeltaCatalog(name, options.get(DEFAULT_DATABASE), options.get(WAREHOUSE))


class DeltaCatalog(ExternalCatalog):
    """The Delta tables `WAREHOUSE/DATABASE/TABLE`, of any writer."""

    kind = "delta"
    place = "with another engine"

    def __init__(self, name: str, default_database: str, warehouse: str) -> None:
        super().__init__(name, default_database)
        self._warehouse = warehouse.rstrip("/")
        self._fs, self._root = file_system(warehouse)

    def _inside(self, *names: str) -> str:
        """Return the path of a database or table in the file system.

        Raises:
            ValidationError: A name cannot be that of a directory.
        """
        for name in names:
            if "/" in name or hidden(name):
                raise ValidationError(f"Catalog {self.name}: {name!r} cannot be the name of a directory of tables.")
        return posixpath.join(self._root, *names)

    def _path(self, database: str, name: str) -> str:
        return f"{self._warehouse}/{database}/{name}"

    # ------------------------------------------------------------------ databases

    def list_databases(self) -> list[str]:
        """Return the names of the directories, and of the default database."""
        found = {name for name, directory in self._fs.entries(self._root) if directory and not hidden(name)}
        return sorted({*found, self.default_database})

    def get_database(self, database: str) -> CatalogDatabase:
        """Return a database, with the properties that it was made with."""
        super().get_database(database)
        description = posixpath.join(self._inside(database), _DESCRIPTION)
        if not self._fs.exists(description):
            return CatalogDatabase()
        with self._fs.open_input(description) as stream:
            kept = json.loads(stream.read())
        return CatalogDatabase(kept["properties"], kept["comment"])

    def create_database(self, name: str, database: CatalogDatabase) -> None:
        """Make a directory."""
        if self.database_exists(name):
            raise DatabaseAlreadyExistError(f"Database {name} already exists in Catalog {self.name}.")
        self._describe(name, database)

    def alter_database(self, name: str, database: CatalogDatabase) -> None:
        """Replace the properties of a database."""
        super().get_database(name)
        self._describe(name, database)

    def _describe(self, name: str, database: CatalogDatabase) -> None:
        kept = {"comment": database.comment, "properties": dict(database.properties)}
        with self._fs.open_output(posixpath.join(self._inside(name), _DESCRIPTION)) as stream:
            stream.write(json.dumps(kept).encode())

    def drop_database(self, name: str, cascade: bool) -> None:
        """Delete a directory; with CASCADE the tables in it, too."""
        if self.list_tables(name) and not cascade:
            raise DatabaseNotEmptyError(f"Database {name} in catalog {self.name} is not empty.")
        self._fs.delete(self._inside(name))

    # ------------------------------------------------------------------ tables

    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables, in order."""
        super().get_database(database)
        directories = [name for name, directory in self._fs.entries(self._inside(database)) if directory]
        return sorted(name for name in directories if not hidden(name) and self._is_table(database, name))

    def _is_table(self, database: str, name: str) -> bool:
        return self._fs.exists(posixpath.join(self._inside(database, name), _LOG))

    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table, or None if it does not exist.

        Raises:
            UnsupportedError: A column has a type that tables do not have, or the table a feature that is not read.
        """
        if "/" in name or hidden(name) or not self._is_table(database, name):
            return None
        table = open_table(self._path(database, name))
        row, fields, metadata = columns_of(table), table.schema().fields, table.metadata()
        columns: list[Column] = []
        for field, data_type in zip(fields, row.field_types(), strict=True):
            columns.append(PhysicalColumn(field.name, data_type if field.nullable else data_type.not_null()))
        keys = tuple(metadata.partition_columns)
        options = self.implied_options(database, name)
        found = CatalogTable(ResolvedSchema(columns), metadata.description or None, options, keys)
        definition = self._definition(database, name)
        if not self._fs.exists(definition):
            return found
        with self._fs.open_input(definition) as stream:
            return with_definition(found, stream.read().decode(), f"{self.name}.{database}.{name}")

    def list_materialized_tables(self, database: str) -> list[str]:
        return [name for name in self.list_tables(database) if self._fs.exists(self._definition(database, name))]

    def _definition(self, database: str, name: str) -> str:
        return posixpath.join(self._inside(database, name), _MATERIALIZED)

    def _define(self, database: str, name: str, table: CatalogMaterializedTable) -> None:
        definition = self._definition(database, name)
        part = f"{definition}.part"
        with self._fs.open_output(part) as stream:
            stream.write(table.definition_text().encode())
        self._fs.rename(part, definition)

    def implied_options(self, database: str, name: str) -> Mapping[str, str]:
        """Return the options with which a table is read and written."""
        return {"connector": "delta", "table-path": self._path(database, name)}

    def create_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Create a table; its options are properties of Delta, and a file has the definition of a materialized one."""
        if isinstance(table, CatalogMaterializedTable):
            self.create_table(database, name, table.plain())
            self._define(database, name, table)
            return
        kept = check_kept(self.name, "Delta Lake", "delta", table)
        super().get_database(database)
        if self._is_table(database, name):
            raise TableAlreadyExistError(f"Table (or view) {database}.{name} already exists in Catalog {self.name}.")
        path = self._path(database, name)
        given = {
            key: value for key, value in kept.options.items() if self.implied_options(database, name).get(key) != value
        }
        columns = kept.schema.get_columns()
        row = lake_row([FormatColumn(column.name, column.data_type) for column in columns])
        DeltaSink.of(path, row, tuple(kept.partition_keys))
        with reaching(path):
            deltalake().DeltaTable.create(
                address(path),
                _fields(columns),
                partition_by=list(kept.partition_keys) or None,
                description=kept.comment,
                configuration=_properties(given) or None,
            )

    def alter_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Add columns, set properties of Delta, or change the definition of a materialized table."""
        before = self.find_table(database, name)
        assert isinstance(before, CatalogTable)
        if isinstance(table, CatalogMaterializedTable):
            if not same_table(before, table):
                self._alter(database, name, plain(before), table.plain())
            self._define(database, name, table)
            return
        self._alter(database, name, before, table)

    def _alter(self, database: str, name: str, before: CatalogTable, table: CatalogBaseTable) -> None:
        change = alteration(self.name, before, check_kept(self.name, "Delta Lake", "delta", table))
        if change.dropped or change.renamed:
            raise UnsupportedError(
                f"the catalog {self.name} does not drop or rename columns, which its files have by name: create a "
                "table of a query instead"
            )
        properties = _properties(change.properties)
        there = open_table(self._path(database, name))
        if change.added:
            there.alter.add_columns(_fields(change.added).fields)
        if properties:
            there.alter.set_table_properties(properties)

    def rename_table(self, database: str, name: str, new_name: str) -> None:
        """Rename the directory of a table."""
        self._require(database, name)
        if self._is_table(database, new_name):
            raise TableAlreadyExistError(
                f"Table (or view) {database}.{new_name} already exists in Catalog {self.name}."
            )
        if not isinstance(self._fs, LocalFileSystem):
            raise UnsupportedError(f"the catalog {self.name} renames tables of local directories only")
        self._fs.rename(self._inside(database, name), self._inside(database, new_name))

    def drop_table(self, database: str, name: str) -> None:
        """Delete a table with its files."""
        self._require(database, name)
        self._fs.delete(self._inside(database, name))

    def _require(self, database: str, name: str) -> None:
        if not self._is_table(database, name):
            raise TableNotExistError(f"Table (or view) {database}.{name} does not exist in Catalog {self.name}.")


def _fields(columns: Any) -> Any:
    """Return columns as deltalake's schema."""
    import pyarrow as pa

    row = lake_row([FormatColumn(column.name, column.data_type) for column in columns])
    nullable = [column.data_type.is_nullable for column in columns]
    fields = [field.with_nullable(n) for field, n in zip(lake_schema(row), nullable, strict=True)]
    return deltalake().Schema.from_arrow(pa.schema(fields))


def _properties(options: Mapping[str, str]) -> dict[str, str]:
    """Return options of a table as properties of Delta.

    Raises:
        ValidationError: One is none.
    """
    other = sorted(key for key in options if not key.startswith("delta."))
    if other:
        raise ValidationError(
            f"Delta tables keep properties that begin with 'delta.', not {', '.join(other)}; give other options of the "
            "connector in a query: /*+ OPTIONS(...) */"
        )
    return dict(options)
