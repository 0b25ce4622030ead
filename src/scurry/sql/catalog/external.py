"""ExternalCatalog: the catalog of another system, which keeps databases and tables, and no functions."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from scurry.errors import DatabaseNotExistError, UnsupportedError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.entries import CatalogBaseTable, CatalogDatabase, CatalogFunction


class ExternalCatalog(Catalog):
    """Refuse every change; a catalog that can make some overrides their methods.

    Attributes:
        kind: The catalog's type.
        place: Where changes are made instead.
    """

    kind: ClassVar[str]
    place: ClassVar[str]

    def _refuse(self) -> NoReturn:
        raise UnsupportedError(
            f"the catalog {self.name} is of type '{self.kind}': create, change and drop {self.place}"
        )

    def get_database(self, database: str) -> CatalogDatabase:
        """Return a database."""
        if not self.database_exists(database):
            raise DatabaseNotExistError(f"Database {database} does not exist in Catalog {self.name}.").with_hint(
                did_you_mean(database, self.list_databases())
            )
        return CatalogDatabase()

    def create_database(self, name: str, database: CatalogDatabase) -> None:
        """Fail."""
        self._refuse()

    def alter_database(self, name: str, database: CatalogDatabase) -> None:
        """Fail."""
        self._refuse()

    def drop_database(self, name: str, cascade: bool) -> None:
        """Fail."""
        self._refuse()

    def create_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Fail."""
        self._refuse()

    def alter_table(self, database: str, name: str, table: CatalogBaseTable) -> None:
        """Fail."""
        self._refuse()

    def rename_table(self, database: str, name: str, new_name: str) -> None:
        """Fail."""
        self._refuse()

    def drop_table(self, database: str, name: str) -> None:
        """Fail."""
        self._refuse()

    def list_views(self, database: str) -> list[str]:
        """Return nothing."""
        return []

    def list_functions(self, database: str) -> list[str]:
        """Return nothing."""
        return []

    def find_function(self, database: str, name: str) -> CatalogFunction | None:
        """Return None."""
        return None

    def create_function(self, database: str, name: str, function: CatalogFunction) -> None:
        """Fail: there are no functions."""
        self._refuse()

    def alter_function(self, database: str, name: str, function: CatalogFunction) -> None:
        """Fail: there are no functions."""
        self._refuse()

    def drop_function(self, database: str, name: str) -> None:
        """Fail: there are no functions."""
        self._refuse()
