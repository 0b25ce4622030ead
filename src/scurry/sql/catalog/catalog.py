"""Catalog: a named set of databases with their tables, functions and models; GenericInMemoryCatalog implements it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from scurry.errors import (
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    DatabaseNotExistError,
    FunctionAlreadyExistError,
    FunctionNotExistError,
    ModelAlreadyExistError,
    ModelNotExistError,
    TableAlreadyExistError,
    TableNotExistError,
)
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogTable,
    CatalogView,
    QueryView,
)
from scurry.sql.catalog.materialized import CatalogMaterializedTable
from scurry.sql.catalog.models import CatalogModel, ModelCatalog
from scurry.sql.catalog.partitions import PartitionedCatalog, TableDetails
from scurry.sql.catalog.procedures import ProcedureCatalog


class Catalog(PartitionedCatalog, ModelCatalog, ProcedureCatalog, ABC):
    """A named set of databases, with their tables, views, functions and models.

    Every method raises CatalogError if what it names does not exist, or exists already.

    Attributes:
        name: Its name in the session.
        default_database: The database that is current after USE CATALOG.
    """

    def __init__(self, name: str, default_database: str) -> None:
        self.name = name
        self.default_database = default_database
        self.procedures = {}

    # ------------------------------------------------------------------ databases

    @abstractmethod
    def list_databases(self) -> list[str]:
        """Return the names of all databases."""

    @abstractmethod
    def get_database(self, database: str) -> CatalogDatabase:
        """Return a database."""

    @abstractmethod
    def create_database(self, name: str, database: CatalogDatabase) -> None:
        """Add a database."""

    @abstractmethod
    def alter_database(self, name: str, database: CatalogDatabase) -> None:
        """Replace the properties of a database."""

    @abstractmethod
    def drop_database(self, name: str, cascade: bool) -> None:
        """Remove a database.

        Args:
            name: Its name.
            cascade: Whether to remove what it contains, too; otherwise it has to be empty.
        """

    def database_exists(self, database: str) -> bool:
        """Return whether there is such a database."""
        return database in self.list_databases()

    # ------------------------------------------------------------------ tables and views

    @abstractmethod
    def list_tables(self, database: str) -> list[str]:
        """Return the names of all tables and views of a database."""

    @abstractmethod
    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table or view, or None if it does not exist."""

    def implied_options(self, database: str, name: str) -> Mapping[str, str]:
        """Return the options of a table that is defined without a connector, empty if the catalog implies none."""
        return {}

    def effective_options(self, database: str, name: str, options: Mapping[str, str]) -> Mapping[str, str]:
        """Return the options with which a table is read and written.

        Args:
            database: Its database.
            name: Its name.
            options: The options that it is defined with.
        """
        if "connector" in options:
            return options
        return self.implied_options(database, name) or options

    @abstractmethod
    def create_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Add a table or view."""

    @abstractmethod
    def alter_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Replace a table or view."""

    @abstractmethod
    def rename_table(self, database: str, name: str, new_name: str) -> None:
        """Rename a table or view."""

    @abstractmethod
    def drop_table(self, database: str, name: str) -> None:
        """Remove a table or view."""

    def list_views(self, database: str) -> list[str]:
        """Return the names of all views of a database."""
        return [n for n in self.list_tables(database) if isinstance(self.find_table(database, n), _VIEWS)]

    def list_materialized_tables(self, database: str) -> list[str]:
        """Return the names of all materialized tables of a database."""
        self.get_database(database)
        tables = ((name, self.find_table(database, name)) for name in self.list_tables(database))
        return [name for name, table in tables if isinstance(table, CatalogMaterializedTable)]

    def _partition_keys(self, database: str, table: str) -> tuple[str, ...] | None:
        found = self.find_table(database, table)
        if found is None:
            return None
        return found.partition_keys if isinstance(found, CatalogTable) else ()

    # ------------------------------------------------------------------ functions

    @abstractmethod
    def list_functions(self, database: str) -> list[str]:
        """Return the names of all functions of a database, empty if there is no such database."""

    @abstractmethod
    def find_function(self, database: str, name: str) -> CatalogFunction | None:
        """Return a function by its name in any case, or None if it does not exist."""

    @abstractmethod
    def create_function(self, database: str, name: str, function: CatalogFunction) -> None:
        """Add a function."""

    @abstractmethod
    def alter_function(self, database: str, name: str, function: CatalogFunction) -> None:
        """Replace a function."""

    @abstractmethod
    def drop_function(self, database: str, name: str) -> None:
        """Remove a function."""


_VIEWS = (CatalogView, QueryView)


class _Database:
    def __init__(self, description: CatalogDatabase) -> None:
        self.description = description
        self.tables: dict[str, CatalogBaseTable] = {}
        self.functions: dict[str, CatalogFunction] = {}
        self.models: dict[str, CatalogModel] = {}
        self.details: dict[str, TableDetails] = {}


class GenericInMemoryCatalog(Catalog):
    """A catalog that lasts as long as its session; names of functions are kept in lower case, as in Flink."""

    def __init__(self, name: str, default_database: str = "default") -> None:
        """Make a catalog with an empty default database."""
        super().__init__(name, default_database)
        self._databases = {default_database: _Database(CatalogDatabase())}

    def list_databases(self) -> list[str]:
        """Return the names of all databases."""
        return sorted(self._databases)

    def get_database(self, database: str) -> CatalogDatabase:
        """Return a database."""
        return self._database(database).description

    def create_database(self, name: str, database: CatalogDatabase) -> None:
        """Add a database."""
        if name in self._databases:
            raise DatabaseAlreadyExistError(f"Database {name} already exists in Catalog {self.name}.")
        self._databases[name] = _Database(database)

    def alter_database(self, name: str, database: CatalogDatabase) -> None:
        """Replace the properties of a database."""
        self._database(name).description = database

    def drop_database(self, name: str, cascade: bool) -> None:
        """Remove a database."""
        database = self._database(name)
        if (database.tables or database.functions) and not cascade:  # models do not hold it, as in Flink
            raise DatabaseNotEmptyError(f"Database {name} in catalog {self.name} is not empty.")
        del self._databases[name]

    def list_tables(self, database: str) -> list[str]:
        """Return the names of all tables and views of a database."""
        return sorted(self._database(database).tables)

    def find_table(self, database: str, name: str) -> CatalogBaseTable | None:
        """Return a table or view, or None if it does not exist."""
        found = self._databases.get(database)
        return None if found is None else found.tables.get(name)

    def create_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Add a table or view."""
        tables = self._database(database).tables
        self._require_free(database, name)
        tables[name] = table

    def alter_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Replace a table or view."""
        self._require_table(database, name)
        self._database(database).tables[name] = table

    def rename_table(self, database: str, name: str, new_name: str) -> None:
        """Rename a table or view."""
        self._require_table(database, name)
        self._require_free(database, new_name)
        found = self._database(database)
        found.tables[new_name] = found.tables.pop(name)
        if name in found.details:
            found.details[new_name] = found.details.pop(name)

    def drop_table(self, database: str, name: str) -> None:
        """Remove a table or view."""
        self._require_table(database, name)
        found = self._database(database)
        del found.tables[name]
        found.details.pop(name, None)

    def _details(self, database: str, table: str) -> TableDetails:
        return self._database(database).details.setdefault(table, TableDetails())

    def list_functions(self, database: str) -> list[str]:
        """Return the names of all functions of a database, empty if there is no such database."""
        found = self._databases.get(database)
        return [] if found is None else sorted(found.functions)

    def find_function(self, database: str, name: str) -> CatalogFunction | None:
        """Return a function by its name in any case, or None if it does not exist."""
        found = self._databases.get(database)
        return None if found is None else found.functions.get(name.lower())

    def create_function(self, database: str, name: str, function: CatalogFunction) -> None:
        """Add a function."""
        functions = self._database(database).functions
        if name.lower() in functions:
            raise FunctionAlreadyExistError(
                f"Function {database}.{name.lower()} already exists in Catalog {self.name}."
            )
        functions[name.lower()] = function

    def alter_function(self, database: str, name: str, function: CatalogFunction) -> None:
        """Replace a function."""
        self._require_function(database, name)
        self._database(database).functions[name.lower()] = function

    def drop_function(self, database: str, name: str) -> None:
        """Remove a function."""
        self._require_function(database, name)
        del self._database(database).functions[name.lower()]

    def list_models(self, database: str) -> list[str]:
        """Return the names of all models of a database."""
        return sorted(self._database(database).models)

    def find_model(self, database: str, name: str) -> CatalogModel | None:
        """Return a model, or None if it does not exist."""
        found = self._databases.get(database)
        return None if found is None else found.models.get(name)

    def create_model(self, database: str, name: str, model: CatalogModel) -> None:
        """Add a model."""
        models = self._database(database).models
        self._require_free_model(database, name)
        models[name] = model

    def alter_model(self, database: str, name: str, model: CatalogModel) -> None:
        """Replace a model."""
        self._require_model(database, name)
        self._database(database).models[name] = model

    def rename_model(self, database: str, name: str, new_name: str) -> None:
        """Rename a model within its database."""
        self._require_model(database, name)
        self._require_free_model(database, new_name)
        models = self._database(database).models
        models[new_name] = models.pop(name)

    def drop_model(self, database: str, name: str) -> None:
        """Remove a model."""
        self._require_model(database, name)
        del self._database(database).models[name]

    def _require_model(self, database: str, name: str) -> None:
        if self.find_model(database, name) is None:
            raise ModelNotExistError(f"Model {database}.{name} does not exist in Catalog {self.name}.").with_hint(
                did_you_mean(name, self.list_models(database))
            )

    def _require_free_model(self, database: str, name: str) -> None:
        if self.find_model(database, name) is not None:
            raise ModelAlreadyExistError(f"Model {database}.{name} already exists in Catalog {self.name}.")

    def _database(self, name: str) -> _Database:
        if name not in self._databases:
            raise DatabaseNotExistError(f"Database {name} does not exist in Catalog {self.name}.").with_hint(
                did_you_mean(name, self._databases)
            )
        return self._databases[name]

    def _require_table(self, database: str, name: str) -> None:
        if self.find_table(database, name) is None:
            raise TableNotExistError(
                f"Table (or view) {database}.{name} does not exist in Catalog {self.name}."
            ).with_hint(did_you_mean(name, self.list_tables(database)))

    def _require_free(self, database: str, name: str) -> None:
        if self.find_table(database, name) is not None:
            raise TableAlreadyExistError(f"Table (or view) {database}.{name} already exists in Catalog {self.name}.")

    def _require_function(self, database: str, name: str) -> None:
        if self.find_function(database, name) is None:
            raise FunctionNotExistError(
                f"Function {database}.{name.lower()} does not exist in Catalog {self.name}."
            ).with_hint(did_you_mean(name, self.list_functions(database)))
