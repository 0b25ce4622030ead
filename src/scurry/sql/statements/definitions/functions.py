"""Statements on the functions that users register."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.catalog.entries import CatalogFunction
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.statements.listing.built_in import BuiltInFunction, built_in_functions
from scurry.sql.statements.modules import module_function
from scurry.sql.statements.names import qualified
from scurry.sql.statements.python_functions import loaded
from scurry.sql.statements.results import STRING, StatementResult, ok, table_result
from scurry.sql.statements.session import TableSession
from scurry.sql.syntax import nodes

_INFO = [("info name", STRING), ("info value", STRING)]


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
    registry = session.catalogs.functions
    if statement.system:
        registry.drop_system(statement.name.last, statement.if_exists)
    elif statement.temporary:
        registry.drop_temporary(qualified(session, statement.name), statement.if_exists)
    else:
        registry.drop(qualified(session, statement.name), statement.if_exists)
    return ok()


def describe_function(session: TableSession, statement: nodes.DescribeFunction) -> StatementResult:
    """Describe a function: a temporary system function, a built-in one, one of a module, or one of a catalog.

    Raises:
        ValidationError: There is no such function.
    """
    name, registry = statement.name, session.catalogs.functions
    system = registry.find_system(name.last) if name.is_simple else None
    of_module = module_function(session.modules, name.last) if name.is_simple and system is None else None
    if of_module is not None:
        rows = [("is system function", "true"), ("is temporary", "false")]
        more = _of_module(of_module) if statement.extended else []
        return table_result(_INFO, [*rows, *more])
    if name.is_simple and (system is not None or _built_in(name.last) is not None):
        rows = [("is system function", "true"), ("is temporary", _text(system is not None))]
        shown = name.last
    else:
        found = None if len(name.names) > 3 else registry.find(name.names)
        if found is None:
            quoted = ".".join(f"`{part}`" for part in name.names)
            raise ValidationError(f"Function with the identifier '{quoted}' doesn't exist.")
        identifier = qualified(session, name)
        shown = f"{identifier.catalog}.{identifier.database}.{identifier.name}"
        rows = [
            ("is system function", "false"),
            ("is temporary", _text(registry.is_temporary(identifier))),
            ("class name", found.class_name),
            ("function language", found.language),
            ("resource uris", "[]"),
        ]
        system = found
    return table_result(_INFO, [*rows, *(_properties(session, shown, system) if statement.extended else ())])


def _built_in(name: str) -> BuiltInFunction | None:
    listed = built_in_functions()
    return listed.get(name) or next((each for key, each in listed.items() if key.lower() == name.lower()), None)


def _properties(session: TableSession, name: str, registered: CatalogFunction | None) -> list[tuple[str, str]]:
    """Return the output of EXTENDED: the argument types of Python functions are unknown."""
    if registered is not None:
        user = loaded(registered, name, session.configuration.to_dict())
        return _described(user.kind.upper(), user.is_deterministic, f"{name}(*)")
    function = _built_in(name)
    assert function is not None, name
    signatures = (name + each[each.index("(") :] for each in function.signatures)  # the name as it is written
    return _described(function.kind, function.is_deterministic, "\n".join(signatures))


def _of_module(function: UserFunction) -> list[tuple[str, str]]:
    return _described(function.kind.upper(), function.is_deterministic, f"{function.name}(*)")


def _described(kind: str, is_deterministic: bool, signature: str) -> list[tuple[str, str]]:
    return [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", _text(is_deterministic)),
        ("supports constant folding", "true"),  # of all functions here
        ("signature", signature),
    ]


def _text(value: bool) -> str:
    return str(value).lower()
