"""Functions with a special syntax, as calls with a name and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.syntax import nodes
from scurry.sql.types import NullType, SymbolType
from scurry.sql.validator.failures import invalid

#: Names of units beside the keywords.
_OTHER_UNITS: Final = {
    f"SQL_TSI_{unit}" for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
}

Argument = nodes.Expression | Expression
Form = tuple[str, Sequence[Argument], nodes.TypeSpec | None]


def _text(value: str) -> Literal:
    """Return a keyword of the syntax as an argument."""
    return Literal(value, SymbolType())


def _unit(qualifier: nodes.IntervalQualifier) -> Literal:
    if qualifier.named and qualifier.start.upper() not in _OTHER_UNITS:
        raise invalid(qualifier.span, f"'{qualifier.start}' is not a valid time frame")
    return _text(qualifier.start)


def _optional(*values: nodes.Expression | None) -> list[nodes.Expression]:
    return [value for value in values if value is not None]


def _like(node: nodes.Like) -> Form:
    name = f"NOT {node.operator}" if node.negated else node.operator
    if node.operator in ("ILIKE", "RLIKE"):
        # Flink's parser knows them, its catalogue of functions does not.
        raise invalid(node.span, f"No match found for function signature {name}")
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


def _behavior(behavior: nodes.JsonBehavior | None, default: str) -> list[Argument]:
    """Return ON EMPTY or ON ERROR as a keyword and the value of DEFAULT; NULL without DEFAULT."""
    if behavior is None:
        return [_text(default), Literal(None, NullType())]
    return [_text(behavior.kind), behavior.default or Literal(None, NullType())]


def _json_exists(node: nodes.JsonExists) -> Form:
    return "JSON_EXISTS", [node.context, node.path, _behavior(node.on_error, "FALSE")[0]], None


def _json_value(node: nodes.JsonValue) -> Form:
    behaviors = [*_behavior(node.on_empty, "NULL"), *_behavior(node.on_error, "NULL")]
    return "JSON_VALUE", [node.context, node.path, *behaviors], node.returning


def _json_query(node: nodes.JsonQuery) -> Form:
    behaviors = [_behavior(each, "NULL")[0] for each in (node.on_empty, node.on_error)]
    return "JSON_QUERY", [node.context, node.path, _text(node.wrapper or "WITHOUT ARRAY"), *behaviors], node.returning


def _json_object(node: nodes.JsonObject) -> Form:
    parts = [part for entry in node.entries for part in (entry.key, entry.value)]
    return "JSON_OBJECT", [_text("ABSENT" if node.absent_on_null else "NULL"), *parts], None


def _json_array(node: nodes.JsonArray) -> Form:
    return "JSON_ARRAY", [_text("ABSENT" if node.absent_on_null else "NULL"), *node.values], None


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
    nodes.JsonExists: _json_exists,
    nodes.JsonValue: _json_value,
    nodes.JsonQuery: _json_query,
    nodes.JsonObject: _json_object,
    nodes.JsonArray: _json_array,
    nodes.MinusDate: _plain("MINUS_DATE", "left", "right", "qualifier"),
    nodes.Substring: _plain("SUBSTRING", "operand", "start", "length"),
    nodes.Position: _plain("POSITION", "substring", "operand", "start"),
    nodes.Overlay: _plain("OVERLAY", "operand", "replacement", "start", "length"),
    nodes.TimestampAdd: _plain("TIMESTAMPADD", "unit", "count", "operand"),
    nodes.TimestampDiff: _plain("TIMESTAMPDIFF", "unit", "start", "end"),
}
