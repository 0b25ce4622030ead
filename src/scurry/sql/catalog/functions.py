"""FunctionRegistry: the functions that users registered, and the order in which a name finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.catalog.entries import CatalogFunction
from scurry.sql.catalog.identifier import ObjectIdentifier

if TYPE_CHECKING:
    from scurry.sql.catalog.manager import CatalogManager


class FunctionRegistry:
    """The functions that users registered: temporary system, temporary and permanent ones.

    A name of one part finds, in this order, a temporary system function, a built-in one (which is not looked up here),
    a temporary function of the current database, a permanent one. Names are compared in lower case.
    """

    def __init__(self, catalogs: CatalogManager) -> None:
        self._catalogs = catalogs
        self._system: dict[str, CatalogFunction] = {}
        self._temporary: dict[ObjectIdentifier, CatalogFunction] = {}

    def find_system(self, name: str) -> CatalogFunction | None:
        """Return the temporary system function of a name; it hides built-in functions."""
        return self._system.get(name.lower())

    def find(self, names: Sequence[str]) -> CatalogFunction | None:
        """Return the temporary or else the permanent function of a name; built-in functions hide it."""
        identifier = self._key(self._catalogs.qualify(names))
        if identifier in self._temporary:
            return self._temporary[identifier]
        catalog = self._catalogs.find_catalog(identifier.catalog)
        return None if catalog is None else catalog.find_function(identifier.database, identifier.name)

    def is_temporary(self, identifier: ObjectIdentifier) -> bool:
        """Return whether the function of a full name is a temporary one."""
        return self._key(identifier) in self._temporary

    def list_user_functions(self, catalog: str | None = None, database: str | None = None) -> list[str]:
        """Return the names of the functions that users registered, in a database and for the whole session."""
        catalog = catalog or self._catalogs.current_catalog
        database = database or self._catalogs.current_database
        found = self._catalogs.find_catalog(catalog)
        here = [i.name for i in self._temporary if (i.catalog, i.database) == (catalog, database)]
        permanent = [] if found is None else found.list_functions(database)
        return sorted({*self._system, *here, *permanent})

    def create_system(self, name: str, function: CatalogFunction, if_not_exists: bool = False) -> None:
        """Register a temporary system function.

        Raises:
            ValidationError: There is one of that name.
        """
        if name.lower() in self._system:
            if if_not_exists:
                return
            raise ValidationError(
                f"Could not register temporary system function. A function named '{name}' does already exist."
            )
        self._system[name.lower()] = function

    def drop_system(self, name: str, if_exists: bool) -> bool:
        """Remove a temporary system function; return whether there was one.

        Raises:
            ValidationError: No function has the name.
        """
        if self._system.pop(name.lower(), None) is not None:
            return True
        if if_exists:
            return False
        raise ValidationError(
            f"Could not drop temporary system function. A function named '{name}' doesn't exist."
        ).with_hint(did_you_mean(name, self._system))

    def create_temporary(self, identifier: ObjectIdentifier, function: CatalogFunction, if_not_exists: bool) -> None:
        """Register a temporary function of a database.

        Raises:
            ValidationError: There is one of that name.
        """
        if self._key(identifier) in self._temporary:
            if if_not_exists:
                return
            name = identifier.as_summary_string()
            raise ValidationError(
                f"Could not register temporary catalog function. A function '{name}' does already exist."
            )
        self._temporary[self._key(identifier)] = function

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Remove a temporary function of a database; return whether there was one.

        Raises:
            ValidationError: No function has the name.
        """
        if self._temporary.pop(self._key(identifier), None) is not None:
            return True
        if if_exists:
            return False
        raise ValidationError(f"Temporary catalog function {identifier} doesn't exist")

    def create(self, identifier: ObjectIdentifier, function: CatalogFunction, if_not_exists: bool) -> None:
        """Add a permanent function.

        Raises:
            CatalogError: There is one of that name.
        """
        catalog = self._catalogs.catalog(identifier.catalog)
        if if_not_exists and catalog.find_function(identifier.database, identifier.name) is not None:
            return
        catalog.create_function(identifier.database, identifier.name, function)

    def alter(self, identifier: ObjectIdentifier, function: CatalogFunction, if_exists: bool) -> None:
        """Replace a permanent function.

        Raises:
            CatalogError: No function has the name.
        """
        catalog = self._catalogs.catalog(identifier.catalog)
        if if_exists and catalog.find_function(identifier.database, identifier.name) is None:
            return
        catalog.alter_function(identifier.database, identifier.name, function)

    def drop(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Remove a permanent function; return whether there was one.

        Raises:
            CatalogError: No function has the name.
        """
        catalog = self._catalogs.catalog(identifier.catalog)
        if if_exists and catalog.find_function(identifier.database, identifier.name) is None:
            return False
        catalog.drop_function(identifier.database, identifier.name)
        return True

    @staticmethod
    def _key(identifier: ObjectIdentifier) -> ObjectIdentifier:
        return ObjectIdentifier(identifier.catalog, identifier.database, identifier.name.lower())
