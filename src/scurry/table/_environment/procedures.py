"""Procedures of a TableEnvironment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from scurry.table._catalog.procedures import procedure_of
from scurry.table._environment.base import EnvironmentBase

if TYPE_CHECKING:
    from scurry.table.table_environment import TableEnvironment


class ProcedureMethods(EnvironmentBase):
    """Methods of a TableEnvironment about its procedures, which are not in PyFlink."""

    def create_procedure(self, path: str, procedure: Any, ignore_if_exists: bool = False) -> None:
        """Add a procedure to a catalog for this session; `CALL` runs it.

        Args:
            path: Its name, of one to three parts.
            procedure: A `Procedure`, or a function of a `ProcedureContext` and arguments, typed by annotations or
                `procedure_hint`.
            ignore_if_exists: Whether there may be one of that name.

        Raises:
            CatalogError: There is one of that name, or no such database.
            ArgumentTypeError: It is no procedure, or does not say a type.
        """
        identifier = self._named(path)
        catalog = self._session.catalogs.catalog(identifier.catalog)
        made = procedure_of(procedure, cast("TableEnvironment", self))
        if not (ignore_if_exists and catalog.find_procedure(identifier.database, identifier.name) is not None):
            catalog.create_procedure(identifier.database, identifier.name, made)

    def drop_procedure(self, path: str) -> bool:
        """Remove a procedure; return whether it existed.

        Args:
            path: Its name.
        """
        identifier = self._named(path)
        catalog = self._session.catalogs.find_catalog(identifier.catalog)
        if catalog is None or catalog.find_procedure(identifier.database, identifier.name) is None:
            return False
        catalog.drop_procedure(identifier.database, identifier.name)
        return True
