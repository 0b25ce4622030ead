"""Procedures of catalogs, which CALL runs: code of a program with typed arguments and rows as results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from scurry._dataclasses import dataclass
from scurry.errors import CatalogError, DatabaseNotExistError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.types import DataType

#: The default of an argument that every call has to give.
REQUIRED: Final = object()


@dataclass(frozen=True)
class ProcedureArgument:
    """An argument of a procedure.

    Attributes:
        name: Its name, by which calls may give it.
        data_type: The type that the given value is converted to.
        default: The value without one in the call; `REQUIRED` for an argument that has to be given.
    """

    name: str
    data_type: DataType
    default: Any = REQUIRED


@dataclass(frozen=True)
class ProcedureSignature:
    """One way to call a procedure.

    Attributes:
        function: Takes the context and the arguments, as values of Python, and returns the rows.
        arguments: The arguments, in order.
        result_type: The type of a row, or of the only column.
        variadic: Whether the last argument may be given any number of times.
    """

    function: Callable[..., Iterable[Any]]
    arguments: tuple[ProcedureArgument, ...]
    result_type: DataType
    variadic: bool = False

    def text(self, name: str) -> str:
        """Return the signature as messages show it."""
        shown = [f"{each.name} => {each.data_type.as_summary_string()}" for each in self.arguments]
        if self.variadic:
            shown[-1] += "..."
        return f"{name}({', '.join(shown)})"


@dataclass(frozen=True)
class CatalogProcedure:
    """A procedure of a catalog.

    Attributes:
        signatures: The ways to call it; the first that fits a call is taken.
        context: Makes the first argument of each call.
        declared: The object or function of the program.
    """

    signatures: tuple[ProcedureSignature, ...]
    context: Callable[[], Any]
    declared: Any


class ProcedureCatalog:
    """The procedures of a catalog, which programs add and no catalog stores.

    Attributes:
        name: The catalog's name.
        procedures: The procedures by database and name.
    """

    name: str
    procedures: dict[tuple[str, str], CatalogProcedure]

    def list_procedures(self, database: str) -> list[str]:
        """Return the names of the procedures of a database.

        Raises:
            DatabaseNotExistError: There is no such database.
        """
        self._check_database(database)
        return sorted(name for place, name in self.procedures if place == database)

    def find_procedure(self, database: str, name: str) -> CatalogProcedure | None:
        """Return a procedure, or None if it does not exist."""
        return self.procedures.get((database, name))

    def create_procedure(self, database: str, name: str, procedure: CatalogProcedure) -> None:
        """Add a procedure.

        Raises:
            DatabaseNotExistError: There is no such database.
            CatalogError: There is one of that name.
        """
        self._check_database(database)
        if (database, name) in self.procedures:
            raise CatalogError(f"Procedure {database}.{name} already exists in Catalog {self.name}.")
        self.procedures[database, name] = procedure

    def drop_procedure(self, database: str, name: str) -> None:
        """Remove a procedure.

        Raises:
            CatalogError: It does not exist.
        """
        if self.procedures.pop((database, name), None) is None:
            raise CatalogError(f"Procedure {database}.{name} does not exist in Catalog {self.name}.").with_hint(
                did_you_mean(name, [each for place, each in self.procedures if place == database])
            )

    def database_exists(self, database: str) -> bool:
        """Return whether there is such a database."""
        raise NotImplementedError

    def _check_database(self, database: str) -> None:
        if not self.database_exists(database):
            raise DatabaseNotExistError(f"Database {database} does not exist in Catalog {self.name}.")
