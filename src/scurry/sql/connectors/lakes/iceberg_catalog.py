"""IcebergCatalog: the namespaces and tables of a catalog that pyiceberg knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scurry.connectors.lakes.iceberg_sink import IcebergSink
from scurry.connectors.lakes.iceberg_table import IcebergTable, columns_of, pyiceberg
from scurry.errors import CatalogError
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogDatabase, CatalogTable
from scurry.sql.catalog.external import ExternalCatalog
from scurry.sql.catalog.materialized import CatalogMaterializedTable, with_definition
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema
from scurry.sql.catalog.table_options import Options, TableOption, refuse_unsupported
from scurry.sql.connectors.lakes.alterations import Alteration, alteration, check_kept, plain, same_table
from scurry.sql.connectors.lakes.columns import lake_row
from scurry.sql.connectors.lakes.iceberg import CATALOG_OPTIONS, PROPERTIES, catalog_properties
from scurry.sql.formats.contract import FormatColumn

DEFAULT_DATABASE = TableOption("default-database", str, "default", "The database that is current.")
#: Property with the definition of a materialized table.
_MATERIALIZED = "scurry.materialized-table"
#: Attempts to set properties, of which others may change the table in between.
_ATTEMPTS = 10
OPTIONS = (*CATALOG_OPTIONS, DEFAULT_DATABASE)


def create_catalog(name: str, values: Mapping[str, str]) -> Catalog:
    """Return the catalog that CREATE CATALOG describes.

    Args:
        name: Its name in the session, and for pyiceberg.
        values: The options, `type` among them.

    Raises:
        ValidationError: An option is unknown or wrong.
        ArgumentError: The options do not describe a catalog of pyiceberg.
        ExtraMissingError: The package pyiceberg, or one for this kind of catalog, is missing.
    """
    options = Options(values)
    options.check(OPTIONS)
    further = [key for key in values if key.startswith(PROPERTIES)]
    refuse_unsupported("iceberg", values, {"type", "property-version", *(o.key for o in OPTIONS), *further})
    catalog = IcebergCatalog(name, options.get(DEFAULT_DATABASE), values, catalog_properties(options))
    catalog.list_databases()  # one that does not answer is reported at once
    return catalog


class IcebergCatalog(ExternalCatalog):
    """The tables of namespaces of one level, as databases."""

    kind = "iceberg"
    place = "with another engine"

    def __init__(
        self, name: str, default_database: str, options: Mapping[str, str], properties: Mapping[str, str]
    ) -> None:
        super().__init__(name, default_database)
        self._properties = properties
        self._given = {
            key: value for key, value in options.items() if key.startswith(PROPERTIES) or key in _OF_THE_CATALOG
        }

    def _ask(self, question: Callable[[Any], Any]) -> Any:
        """Return the answer of pyiceberg's catalog.

        Raises:
            CatalogError: A database or table does not exist, or exists already.
        """
        errors = pyiceberg().exceptions
        try:
            return question(IcebergTable("", self._properties, self.name).catalog())
        except (
            errors.NoSuchNamespaceError,
            errors.NoSuchTableError,
            errors.NamespaceAlreadyExistsError,
            errors.NamespaceNotEmptyError,
            errors.TableAlreadyExistsError,
        ) as error:
            raise CatalogError(f"Catalog {self.name}: {error}") from None

    # ------------------------------------------------------------------ databases

    def list_databases(self) -> list[str]:
        """Return the names of the namespaces, and of the default database."""
        found = self._ask(lambda catalog: [".".join(each) for each in catalog.list_namespaces()])
        return sorted({*found, self.default_database})

    def get_database(self, database: str) -> CatalogDatabase:
        """Return a namespace with its properties."""
        super().get_database(database)
        if not self._ask(lambda catalog: catalog.namespace_exists(database)):
            return CatalogDatabase()  # the default one, until there is a table
        properties = dict(self._ask(lambda catalog: catalog.load_namespace_properties(database)))
        comment = properties.pop("comment", None)
        return CatalogDatabase({key: value for key, value in properties.items() if key != "exists"}, comment)

    def create_database(self, name: str, database: CatalogDatabase) -> None:
        """Create a namespace, with the properties of the database."""
        comment = {} if database.comment is None else {"comment": database.comment}
        self._ask(lambda catalog: catalog.create_namespace(name, {**database.properties, **comment}))

    def alter_database(self, name: str, database: CatalogDatabase) -> None:
        """Set the properties of a namespace."""
        self._ask(lambda catalog: catalog.update_namespace_properties(name, updates=dict(database.properties)))

    def drop_database(self, name: str, cascade: bool) -> None:
        """Drop a namespace; with CASCADE its tables, too."""
        for table in self.list_tables(name) if cascade else ():
            self.drop_table(name, table)
        self._ask(lambda catalog: catalog.drop_namespace(name))

    # ------------------------------------------------------------------ tables

    def list_tables(self, database: str) -> list[str]:
        """Return the names of the tables, in order."""
        self.get_database(database)
        if database == self.default_database and not self._ask(lambda catalog: catalog.namespace_exists(database)):
            return []
        return sorted(self._ask(lambda catalog: [name for *_, name in catalog.list_tables(database)]))

    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table, or None if it does not exist.

        Raises:
            UnsupportedError: A column has a type that tables do not have.
        """
        identifier = f"{database}.{name}"
        if not self._ask(lambda catalog: catalog.table_exists(identifier)):
            return None
        table = self._ask(lambda catalog: catalog.load_table(identifier))
        row, fields = columns_of(table), table.schema().fields
        columns = []
        for field, data_type in zip(fields, row.field_types(), strict=True):
            columns.append(PhysicalColumn(field.name, data_type.not_null() if field.required else data_type))
        spec = table.spec()
        keys = tuple(
            table.schema().find_column_name(field.source_id)
            for field in spec.fields
            if str(field.transform) == "identity"
        )
        comment = table.properties.get("comment")
        found = CatalogTable(ResolvedSchema(columns), comment, self.implied_options(database, name), keys)
        definition = table.properties.get(_MATERIALIZED)
        return found if definition is None else with_definition(found, definition, f"{self.name}.{identifier}")

    def implied_options(self, database: str, name: str) -> Mapping[str, str]:
        """Return the options with which a table is read and written."""
        place = {"catalog-name": self.name, "catalog-database": database, "catalog-table": name}
        return {"connector": "iceberg", **place, **self._given}

    def create_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Create a table; its options, and the definition of a materialized one, become properties of the table."""
        definition: dict[str, str] = {}
        if isinstance(table, CatalogMaterializedTable):
            definition, table = {_MATERIALIZED: table.definition_text()}, table.plain()
        kept = check_kept(self.name, "Iceberg", "iceberg", table)
        columns = kept.schema.get_columns()
        identifier = f"{database}.{name}"
        if self._ask(lambda catalog: catalog.table_exists(identifier)):
            raise CatalogError(f"Table (or view) {identifier} already exists in Catalog {self.name}.")
        row = lake_row([FormatColumn(column.name, column.data_type) for column in columns])
        made = IcebergSink.of(IcebergTable(identifier, self._properties, self.name), row, kept.partition_keys)
        required = {column.name for column in columns if not column.data_type.is_nullable}
        comment = {} if kept.comment is None else {"comment": kept.comment}
        properties = {key: value for key, value in kept.options.items() if key != "connector"} | comment | definition
        made.create_table(required, properties)

    def alter_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Add, drop or rename columns, set properties of a table, or change the definition of a materialized one."""
        before = self.find_table(database, name)
        assert isinstance(before, CatalogTable)
        definition: dict[str, str] = {}
        if isinstance(table, CatalogMaterializedTable):
            definition = {_MATERIALIZED: table.definition_text()}
            if same_table(before, table):
                self._set_properties(f"{database}.{name}", definition)
                return
            before, table = plain(before), table.plain()
        change = alteration(self.name, before, check_kept(self.name, "Iceberg", "iceberg", table))
        identifier = f"{database}.{name}"
        added = lake_row([FormatColumn(column.name, column.data_type) for column in change.added])
        sink = IcebergSink.of(IcebergTable(identifier, self._properties, self.name), added, ())
        there = self._ask(lambda catalog: catalog.load_table(identifier))
        with there.transaction() as transaction:
            if change.properties or definition:
                transaction.set_properties({**change.properties, **definition})
            if change.added or change.dropped or change.renamed:
                with transaction.update_schema() as schema:
                    _alter_columns(schema, sink.schema, change)

    def _set_properties(self, identifier: str, properties: dict[str, str]) -> None:
        """Set properties of a table to which a job may be adding rows at the same time."""
        conflict = pyiceberg().exceptions.CommitFailedException
        for attempt in range(_ATTEMPTS):
            try:
                with self._ask(lambda catalog: catalog.load_table(identifier)).transaction() as transaction:
                    transaction.set_properties(properties)
                return
            except conflict:
                if attempt == _ATTEMPTS - 1:
                    raise

    def rename_table(self, database: str, name: str, new_name: str) -> None:
        self._ask(lambda catalog: catalog.rename_table(f"{database}.{name}", f"{database}.{new_name}"))

    def drop_table(self, database: str, name: str) -> None:
        """Drop a table; the catalog decides whether its files are deleted."""
        self._ask(lambda catalog: catalog.drop_table(f"{database}.{name}"))


_OF_THE_CATALOG = {option.key for option in CATALOG_OPTIONS}


def _alter_columns(schema: Any, added: Any, change: Alteration) -> None:
    schema.union_by_name(added)
    for name in change.dropped:
        schema.delete_column(name)
    for name, new_name in change.renamed.items():
        schema.rename_column(name, new_name)
