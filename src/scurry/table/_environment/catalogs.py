"""Catalogs, databases, and their contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.table._environment.base import EnvironmentBase, require

if TYPE_CHECKING:
    from scurry.table.catalog import Catalog, CatalogDescriptor


class CatalogMethods(EnvironmentBase):
    """Catalogs, databases, and their contents."""

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        """Add a catalog.

        Args:
            catalog_name: Its name.
            catalog_descriptor: Its description.
        """
        from scurry.table.catalog import CatalogDescriptor

        require(catalog_descriptor, CatalogDescriptor, "a CatalogDescriptor, as CatalogDescriptor.of(...) makes one")
        self._session.catalogs.create_catalog(catalog_name, catalog_descriptor._description)

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """Add a catalog that the program made.

        Args:
            catalog_name: Its name.
            catalog: The catalog, such as a `JdbcCatalog`.

        Raises:
            CatalogError: There is one of that name.
        """
        from scurry.table.catalog import Catalog

        require(catalog, Catalog, "a Catalog, such as JdbcCatalog(...)")
        self._session.catalogs.register_catalog(catalog_name, catalog._catalog)

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        """Return a catalog, or None if it does not exist.

        Args:
            catalog_name: Its name.
        """
        from scurry.table.catalog import Catalog

        found = self._session.catalogs.find_catalog(catalog_name)
        return None if found is None else Catalog(found)

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._session.catalogs.current_catalog

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog current.

        Args:
            catalog_name: Its name.
        """
        self._session.catalogs.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._session.catalogs.current_database

    def use_database(self, database_name: str) -> None:
        """Make a database of the current catalog current.

        Args:
            database_name: Its name.
        """
        self._session.catalogs.use_database(self._session.catalogs.current_catalog, database_name)

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return self._session.catalogs.list_catalogs()

    def list_databases(self) -> list[str]:
        """Return the names of all databases of the current catalog."""
        catalogs = self._session.catalogs
        return catalogs.catalog(catalogs.current_catalog).list_databases()

    def list_tables(self) -> list[str]:
        """Return the names of all tables and views of the current database."""
        return self._session.catalogs.list_tables()

    def list_views(self) -> list[str]:
        """Return the names of all views of the current database."""
        return self._session.catalogs.list_views()

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables and views of the current database."""
        return sorted({*self._session.catalogs.list_temporary_tables(), *self._session.catalogs.list_temporary_views()})

    def list_temporary_views(self) -> list[str]:
        """Return the names of the temporary views of the current database."""
        return self._session.catalogs.list_temporary_views()

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the functions that users registered."""
        return self._session.catalogs.functions.list_user_functions()

    def list_functions(self) -> list[str]:
        """Return the names of all functions."""
        from scurry.sql.statements.listing.built_in import built_in_functions

        return sorted({*built_in_functions(), *self.list_user_defined_functions()})

    def drop_temporary_table(self, table_path: str) -> bool:
        """Remove a temporary table; return whether there was one.

        Args:
            table_path: Its name.
        """
        return self._session.catalogs.drop_temporary(self._named(table_path), if_exists=True)

    def drop_temporary_view(self, view_path: str) -> bool:
        """Remove a temporary view; return whether there was one.

        Args:
            view_path: Its name.
        """
        return self._session.catalogs.drop_temporary(self._named(view_path), if_exists=True, is_view=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Remove a table; return whether there was one.

        Args:
            table_path: Its name.
            ignore_if_not_exists: Whether it may be missing.
        """
        return self._session.catalogs.drop_table(self._named(table_path), ignore_if_not_exists)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> bool:
        """Remove a view; return whether there was one.

        Args:
            view_path: Its name.
            ignore_if_not_exists: Whether it may be missing.
        """
        return self._session.catalogs.drop_table(self._named(view_path), ignore_if_not_exists, is_view=True)
