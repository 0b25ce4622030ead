"""Expressions of programs as texts of SQL, which schemas and catalogs keep."""

from __future__ import annotations

from scurry.errors import UnsupportedError
from scurry.sql.syntax import nodes
from scurry.sql.syntax.unparse import unparse

_BINARY = frozenset(("+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "||", "LIKE", "SIMILAR TO"))
_POSTFIX = frozenset(("IS NULL", "IS NOT NULL", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE"))


def sql_of(node: nodes.Node) -> str:
    """Return the SQL of an expression that a program made.

    Raises:
        UnsupportedError: It calls a user-defined function that has no name in a catalog.
    """
    if isinstance(node, nodes.Cast):
        return f"{node.function}({sql_of(node.operand)} AS {unparse(node.type)})"
    if isinstance(node, nodes.FieldAccess):
        return f"({sql_of(node.operand)}).{unparse(node.field)}"
    if not isinstance(node, nodes.Call):
        return unparse(node)
    name, parts = node.name.last, [sql_of(each) for each in node.arguments]
    if name.startswith("*") and name not in _BINARY:
        raise UnsupportedError(
            "a user-defined function in the expression of a schema needs a name: register it with "
            "create_temporary_system_function and use call('name', ...)"
        )
    if name in _BINARY:
        return f"({parts[0]} {name} {parts[1]})"
    if name in _POSTFIX:
        return f"({parts[0]} {name})"
    if name == "NOT":
        return f"(NOT {parts[0]})"
    if name == "NEGATE":
        return f"(- {parts[0]})"
    if name == "CASE":
        return f"CASE WHEN {parts[0]} THEN {parts[1]} ELSE {parts[2]} END"
    if name == "ITEM":
        return f"{parts[0]}[{parts[1]}]"
    if name in ("ARRAY", "MAP"):
        return f"{name}[{', '.join(parts)}]"
    return f"{name}({', '.join(parts)})"
