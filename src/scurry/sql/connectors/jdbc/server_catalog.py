"""JdbcCatalog: the databases and tables of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.session import JdbcSession
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.external import ExternalCatalog
from scurry.sql.catalog.schema import PhysicalColumn, ResolvedSchema, UniqueConstraint

_ASKING = "cannot read the catalog of"


class JdbcCatalog(ExternalCatalog):
    """The databases and tables of a server; they are read, not changed."""

    kind = "jdbc"
    place = "in the database"

    def __init__(self, name: str, default_database: str, username: str, password: str, base_url: str) -> None:
        super().__init__(name, default_database)
        self._username = username
        self._password = password
        self._base_url = base_url

    def list_materialized_tables(self, database: str) -> list[str]:
        """Return nothing: the server keeps none."""
        self.get_database(database)
        return []

    def table(
        self, database: str, name: str, columns: Sequence[PhysicalColumn], key: Sequence[tuple[str, str]]
    ) -> CatalogTable:
        """Return a table of the connector.

        Args:
            key: Name of the primary key, and a column, for each of its columns.
        """
        primary = UniqueConstraint.primary_key(key[0][0], [column for _, column in key]) if key else None
        options = {
            "connector": "jdbc",
            "url": f"{self._base_url}/{database}",
            "table-name": name,
            "username": self._username,
            "password": self._password,
        }
        return CatalogTable(ResolvedSchema(columns, (), primary), None, options)

    def ask(self, database: str, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the catalog.

        Raises:
            DatabaseError: The server cannot be reached, or refuses the query.
        """
        found = database_of(JdbcConnectionOptions(f"{self._base_url}/{database}", None, self._username, self._password))
        translated, _ = found.translate(query)
        session = JdbcSession(found, 1)
        try:
            return session.transact(lambda connection: list(connection.execute(translated, parameters)), _ASKING)
        finally:
            session.close()
