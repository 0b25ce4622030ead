"""Functions with a syntax of their own: under which name and with which arguments they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scurry.logical_types import SymbolType
from scurry.relational.expressions import Expression, Literal
from scurry.sql import nodes

__all__ = ["SPECIAL_FORMS"]

Argument = nodes.Expression | Expression
Form = tuple[str, Sequence[Argument], nodes.TypeSpec | None]


def _text(value: str) -> Literal:
    """Return a keyword of the syntax as an argument."""
    return Literal(value, SymbolType())


def _unit(qualifier: nodes.IntervalQualifier) -> Literal:
    return _text(qualifier.start)


def _optional(*values: nodes.Expression | None) -> list[nodes.Expression]:
    return [value for value in values if value is not None]


def _like(node: nodes.Like) -> Form:
    name = f"NOT {node.operator}" if node.negated else node.operator
    return name, _optional(node.operand, node.pattern, node.escape), None


def _is_test(node: nodes.IsTest) -> Form:
    return f"IS {'NOT ' if node.negated else ''}{node.test}", [node.operand], None


def _plain(name: str, *fields: str) -> Callable[[Any], Form]:
    """Return a form whose arguments are some fields of the node; a unit becomes its name."""

    def form(node: Any) -> Form:
        values = [getattr(node, field) for field in fields]
        arguments = [_unit(each) if isinstance(each, nodes.IntervalQualifier) else each for each in values]
        return name, [each for each in arguments if each is not None], None

    return form


def _elements(name: str) -> Callable[[Any], Form]:
    return lambda node: (name, node.values, None)


def _trim(node: nodes.Trim) -> Form:
    return "TRIM", [_text(node.side), node.characters, node.operand], None


SPECIAL_FORMS: dict[type, Callable[[Any], Form]] = {
    nodes.ContextVariable: lambda node: (node.name, [], None),
    nodes.Like: _like,
    nodes.IsTest: _is_test,
    nodes.RowConstructor: _elements("ROW"),
    nodes.ArrayConstructor: _elements("ARRAY"),
    nodes.MapConstructor: _elements("MAP"),
    nodes.MultisetConstructor: _elements("MULTISET"),
    nodes.Extract: _plain("EXTRACT", "unit", "operand"),
    nodes.Floor: _plain("FLOOR", "operand", "unit"),
    nodes.Ceil: _plain("CEIL", "operand", "unit"),
    nodes.Trim: _trim,
    nodes.MinusDate: _plain("MINUS_DATE", "left", "right", "qualifier"),
    nodes.Substring: _plain("SUBSTRING", "operand", "start", "length"),
    nodes.Position: _plain("POSITION", "substring", "operand", "start"),
    nodes.Overlay: _plain("OVERLAY", "operand", "replacement", "start", "length"),
    nodes.TimestampAdd: _plain("TIMESTAMPADD", "unit", "count", "operand"),
    nodes.TimestampDiff: _plain("TIMESTAMPDIFF", "unit", "start", "end"),
}
