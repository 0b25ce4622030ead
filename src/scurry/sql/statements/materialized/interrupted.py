"""Materialized tables of a SQL gateway that has ended: the next one goes on with them."""

from __future__ import annotations

from collections.abc import Iterator

from scurry.errors import ScurryError
from scurry.sql.catalog.catalog import GenericInMemoryCatalog
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.manager import CatalogManager
from scurry.sql.catalog.materialized import CatalogMaterializedTable, RefreshStatus
from scurry.sql.statements.materialized.refreshers import refresher_of
from scurry.sql.statements.materialized.statements import alter_materialized_table
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse


def resume_interrupted(session: TableSession) -> Iterator[tuple[str, str]]:
    """Resume the tables of the catalog store that a gateway refreshed until it was killed.

    Tables that programs or jobs of a session refresh are left alone, and those of another gateway that runs.

    Args:
        session: The session that refreshes them.

    Yields:
        The name of a table, or of a catalog that does not answer, and the reason why it is not resumed; empty if it is.
    """
    for catalog in session.catalogs.store.list_catalogs():
        try:
            found = list(_interrupted(session.catalogs, catalog, session))
        except ScurryError as error:
            yield catalog, str(error)
            continue
        for identifier in found:
            statement = parse(f"ALTER MATERIALIZED TABLE {identifier} RESUME")
            assert isinstance(statement, nodes.AlterMaterializedTable)
            try:
                alter_materialized_table(session, statement)
            except ScurryError as error:
                yield identifier.as_summary_string(), str(error)
            else:
                yield identifier.as_summary_string(), ""


def _interrupted(catalogs: CatalogManager, name: str, session: TableSession) -> Iterator[ObjectIdentifier]:
    catalog = catalogs.find_catalog(name)
    if catalog is None or isinstance(catalog, GenericInMemoryCatalog):
        return
    for database in catalog.list_databases():
        for table_name in catalog.list_materialized_tables(database):
            table = catalog.find_table(database, table_name)
            if not isinstance(table, CatalogMaterializedTable) or table.refresh_status is not RefreshStatus.ACTIVATED:
                continue
            handler = table.handler
            if handler is not None and handler.gateway and not refresher_of(session, handler).runs(table):
                yield ObjectIdentifier(name, database, table_name)
