"""Statements on the functions that users register."""

from __future__ import annotations

from scurry.catalog.entries import CatalogFunction
from scurry.errors import ValidationError
from scurry.sql import nodes
from scurry.statements.names import qualified
from scurry.statements.results import StatementResult, ok
from scurry.statements.session import TableSession

__all__ = ["alter_function", "create_function", "describe_function", "drop_function"]


def create_function(session: TableSession, statement: nodes.CreateFunction) -> StatementResult:
    """Register a function; it is imported when a query calls it."""
    registry = session.catalogs.functions
    function = CatalogFunction(statement.class_name.value, (statement.language or "JAVA").upper())
    if statement.system:
        registry.create_system(statement.name.last, function, statement.if_not_exists)
    elif statement.temporary:
        registry.create_temporary(qualified(session, statement.name), function, statement.if_not_exists)
    else:
        registry.create(qualified(session, statement.name), function, statement.if_not_exists)
    return ok()


def alter_function(session: TableSession, statement: nodes.AlterFunction) -> StatementResult:
    """Replace a permanent function."""
    if statement.system:
        raise ValidationError("Alter temporary system function is not supported")
    if statement.temporary:
        raise ValidationError("Alter temporary catalog function is not supported")
    function = CatalogFunction(statement.class_name.value, (statement.language or "JAVA").upper())
    session.catalogs.functions.alter(qualified(session, statement.name), function, statement.if_exists)
    return ok()


def drop_function(session: TableSession, statement: nodes.DropFunction) -> StatementResult:
    """Remove a function."""
    registry = session.catalogs.functions
    if statement.system:
        registry.drop_system(statement.name.last, statement.if_exists)
    elif statement.temporary:
        registry.drop_temporary(qualified(session, statement.name), statement.if_exists)
    else:
        registry.drop(qualified(session, statement.name), statement.if_exists)
    return ok()


def describe_function(session: TableSession, statement: nodes.DescribeFunction) -> StatementResult:
    """Describe a function: Flink 2.3 knows none by this statement but those of a catalog, of which it fails, too.

    Raises:
        ValidationError: There is no such function.
    """
    name = ".".join(f"`{part}`" for part in statement.name.names)
    raise ValidationError(f"Function with the identifier '{name}' doesn't exist.")
