"""Catalogs and databases of the environment of DataFrames."""

from __future__ import annotations

from scurry.common.configuration import Configuration
from scurry.dataframe.context import get_or_create_table_environment
from scurry.dataframe.validation import require_options, require_text
from scurry.errors import ArgumentError
from scurry.table.catalog import Catalog, CatalogDescriptor

__all__ = [
    "create_catalog",
    "get_catalog",
    "get_current_catalog",
    "get_current_database",
    "list_catalogs",
    "list_databases",
    "use_catalog",
    "use_database",
]


def create_catalog(name: str, options: dict[str, str]) -> None:
    """Add a catalog.

    Args:
        name: Its name.
        options: Its options, `type` among them.

    Raises:
        TypeError: A name or option is no text.
        ValueError: There is a catalog of that name, or an option is wrong.
    """
    require_text("name", name)
    given = require_options("options", options)
    environment = get_or_create_table_environment()
    if name in environment.list_catalogs():
        raise ArgumentError(f"a catalog named '{name}' already exists")
    configuration = Configuration()
    for key, value in given.items():
        configuration.set_string(key, value)
    environment.create_catalog(name, CatalogDescriptor.of(name, configuration))


def get_catalog(name: str) -> Catalog | None:
    """Return a catalog, None if no one has that name.

    Args:
        name: Its name.

    Raises:
        TypeError: The name is no text.
        ValueError: It is empty.
    """
    return get_or_create_table_environment().get_catalog(require_text("name", name))


def use_catalog(name: str) -> None:
    """Make a catalog current.

    Args:
        name: Its name.

    Raises:
        TypeError: The name is no text.
        ValueError: There is no such catalog.
    """
    require_text("name", name)
    environment = get_or_create_table_environment()
    if name not in environment.list_catalogs():
        raise ArgumentError(f"no catalog named '{name}' exists")
    environment.use_catalog(name)


def get_current_catalog() -> str:
    """Return the name of the current catalog."""
    return get_or_create_table_environment().get_current_catalog()


def list_catalogs() -> list[str]:
    """Return the names of all catalogs."""
    return get_or_create_table_environment().list_catalogs()


def use_database(name: str) -> None:
    """Make a database of the current catalog current.

    Args:
        name: Its name.

    Raises:
        TypeError: The name is no text.
        ValueError: There is no such database.
    """
    require_text("name", name)
    environment = get_or_create_table_environment()
    if name not in environment.list_databases():
        raise ArgumentError(f"no database named '{name}' exists in catalog '{environment.get_current_catalog()}'")
    environment.use_database(name)


def get_current_database() -> str:
    """Return the name of the current database."""
    return get_or_create_table_environment().get_current_database()


def list_databases() -> list[str]:
    """Return the names of all databases of the current catalog."""
    return get_or_create_table_environment().list_databases()
