"""Catalog: the databases, tables, views and functions of a catalog, as programs see and change them."""

from __future__ import annotations

from typing import Any, NoReturn

from scurry.errors import CatalogError, FunctionNotExistError, TableNotExistError, UnsupportedError
from scurry.sql.catalog.catalog import Catalog as _Catalog
from scurry.sql.catalog.entries import CatalogView, QueryView
from scurry.table._catalog.entries import CatalogBaseTable, CatalogDatabase, CatalogFunction
from scurry.table._catalog.models import ModelsOfCatalog
from scurry.table._catalog.names import ObjectPath
from scurry.table._catalog.partitions import PartitionMethods


class Catalog(PartitionMethods, ModelsOfCatalog):
    """The databases, tables, views, functions and models of a catalog.

    Every method raises CatalogError if the object does not exist, or exists already, unless an argument says to ignore
    that.
    """

    def __init__(self, catalog: _Catalog) -> None:
        """Wrap a catalog; programs get it from `TableEnvironment.get_catalog`."""
        self._catalog: _Catalog = catalog

    def get_default_database(self) -> str:
        """Return the name of the database that is current after `use_catalog`."""
        return self._catalog.default_database

    # ------------------------------------------------------------------ databases

    def list_databases(self) -> list[str]:
        """Return the names of all databases."""
        return self._catalog.list_databases()

    def get_database(self, database_name: str) -> CatalogDatabase:
        """Return a database."""
        return CatalogDatabase(self._catalog.get_database(database_name))

    def database_exists(self, database_name: str) -> bool:
        """Return whether there is such a database."""
        return self._catalog.database_exists(database_name)

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        """Add a database."""
        if not (ignore_if_exists and self.database_exists(name)):
            self._catalog.create_database(name, database._database)

    def drop_database(self, name: str, ignore_if_exists: bool) -> None:
        """Remove an empty database; the second argument is whether it may be missing."""
        if self.database_exists(name) or not ignore_if_exists:
            self._catalog.drop_database(name, cascade=False)

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        """Replace the properties of a database."""
        if self.database_exists(name) or not ignore_if_not_exists:
            self._catalog.alter_database(name, new_database._database)

    # ------------------------------------------------------------------ tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Return the names of all tables and views of a database."""
        return self._catalog.list_tables(database_name)

    def list_views(self, database_name: str) -> list[str]:
        """Return the names of all views of a database."""
        return self._catalog.list_views(database_name)

    def list_materialized_tables(self, database_name: str) -> list[str]:
        """Return the names of all materialized tables of a database."""
        return self._catalog.list_materialized_tables(database_name)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        """Return a table or view."""
        found = self._catalog.find_table(table_path.get_database_name(), table_path.get_object_name())
        if found is None:
            raise TableNotExistError(
                f"Table (or view) {table_path.get_full_name()} does not exist in Catalog {self._catalog.name}."
            )
        return CatalogBaseTable(found)

    def table_exists(self, table_path: ObjectPath) -> bool:
        """Return whether there is such a table or view."""
        return self._catalog.find_table(table_path.get_database_name(), table_path.get_object_name()) is not None

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a table or view."""
        if self.table_exists(table_path) or not ignore_if_not_exists:
            self._catalog.drop_table(table_path.get_database_name(), table_path.get_object_name())

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        """Rename a table or view within its database."""
        if self.table_exists(table_path) or not ignore_if_not_exists:
            self._catalog.rename_table(table_path.get_database_name(), table_path.get_object_name(), new_table_name)

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        """Add a table or view."""
        if not (ignore_if_exists and self.table_exists(table_path)):
            self._catalog.create_table(table_path.get_database_name(), table_path.get_object_name(), table._table)

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        """Replace a table or view."""
        database, name = table_path.get_database_name(), table_path.get_object_name()
        old = self._catalog.find_table(database, name)
        if old is None and ignore_if_not_exists:
            return
        is_, was = (isinstance(each, CatalogView | QueryView) for each in (new_table._table, old))
        if old is not None and is_ != was:
            existing, new = (("TABLE", "VIEW")[each] for each in (was, is_))
            raise CatalogError(f"Table types don't match. Existing table is '{existing}' and new table is '{new}'.")
        self._catalog.alter_table(database, name, new_table._table)

    # ------------------------------------------------------------------ functions

    def list_functions(self, database_name: str) -> list[str]:
        """Return the names of all functions of a database."""
        self._catalog.get_database(database_name)
        return self._catalog.list_functions(database_name)

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        """Return a function."""
        found = self._catalog.find_function(function_path.get_database_name(), function_path.get_object_name())
        if found is None:
            raise FunctionNotExistError(
                f"Function {function_path.get_full_name()} does not exist in Catalog {self._catalog.name}."
            )
        return CatalogFunction(found)

    def function_exists(self, function_path: ObjectPath) -> bool:
        """Return whether there is such a function."""
        found = self._catalog.find_function(function_path.get_database_name(), function_path.get_object_name())
        return found is not None

    def create_function(self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool) -> None:
        """Add a function."""
        if not (ignore_if_exists and self.function_exists(function_path)):
            database, name = function_path.get_database_name(), function_path.get_object_name()
            self._catalog.create_function(database, name, function._function)

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Replace a function."""
        if self.function_exists(function_path) or not ignore_if_not_exists:
            database, name = function_path.get_database_name(), function_path.get_object_name()
            self._catalog.alter_function(database, name, new_function._function)

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        """Remove a function."""
        if self.function_exists(function_path) or not ignore_if_not_exists:
            self._catalog.drop_function(function_path.get_database_name(), function_path.get_object_name())

    # ------------------------------------------------------------------ procedures

    def list_procedures(self, database_name: str) -> list[str]:
        """Return the names of the procedures of a database, which `create_procedure` of an environment adds."""
        return self._catalog.list_procedures(database_name)

    def get_procedure(self, procedure_path: ObjectPath) -> Any:
        """Return a procedure as the program gave it."""
        database, name = procedure_path.get_database_name(), procedure_path.get_object_name()
        found = self._catalog.find_procedure(database, name)
        if found is None:
            raise CatalogError(f"Procedure {database}.{name} does not exist in Catalog {self._catalog.name}.")
        return found.declared


class HiveCatalog(Catalog):
    """The catalog of a Hive metastore, which there is not."""

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> NoReturn:
        """Refuse: tables of Hive are not read through its metastore.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"HiveCatalog('{catalog_name}'): there is no catalog of a Hive metastore; describe its files with "
            "'connector' = 'filesystem', or use CREATE CATALOG ... WITH ('type' = 'iceberg')"
        )


class JdbcCatalog(Catalog):
    """The catalog of a database that is reached by JDBC."""

    def __init__(self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str) -> None:
        """Create a catalog from the options of CREATE CATALOG.

        Args:
            catalog_name: Its name.
            default_database: The database that is current after `use_catalog`.
            username: The user.
            pwd: The password.
            base_url: The address without a database, such as `jdbc:postgresql://localhost:5432/`.

        Raises:
            ValidationError: An option is wrong.
        """
        from scurry.sql.catalog.store import CatalogDescription

        options = {
            "type": "jdbc",
            "default-database": default_database,
            "username": username,
            "password": pwd,
            "base-url": base_url,
        }
        super().__init__(CatalogDescription(options).create(catalog_name))
