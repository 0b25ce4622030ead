"""The canonical text of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.keywords import STANDARD_FUNCTIONS
from scurry.sql.nodes import (
    Call,
    Cast,
    Ceil,
    Convert,
    Descriptor,
    Expression,
    Extract,
    Floor,
    FunctionCall,
    Identifier,
    JsonArray,
    JsonArrayAggregate,
    JsonBehavior,
    JsonEntry,
    JsonExists,
    JsonObject,
    JsonObjectAggregate,
    JsonQuery,
    JsonValue,
    ModelArgument,
    NamedArgument,
    Node,
    Overlay,
    Position,
    Query,
    Subquery,
    Substring,
    TableArgument,
    TimestampAdd,
    TimestampDiff,
    Translate,
    Trim,
)
from scurry.sql.unparse.literals import qualifier, type_spec
from scurry.sql.unparse.text import ATOM, IN_LIST, NONE, Precedence, identifier, names

__all__ = ["FUNCTIONS", "call_text", "function_name", "function_precedence"]

GROUP_WINDOWS: Final = frozenset({"TUMBLE", "HOP", "SESSION"})


def function_precedence(node: Expression) -> Precedence:
    """Return how tightly a call, or an argument, holds together."""
    if isinstance(node, FunctionCall):
        if node.over is not None or node.filter is not None or node.null_treatment is not None:
            return 20, 21
        if node.within_group or node.within_distinct:
            return 100, 101
        return 100, 100
    if isinstance(node, NamedArgument):
        return 20, 21
    if isinstance(node, TableArgument | ModelArgument):
        return 2, 3
    return ATOM


def _text(node: Expression, around: Precedence = NONE) -> str:
    from scurry.sql.unparse.expressions import expression

    return expression(node, *around)


def _list(nodes: tuple[Expression, ...], around: Precedence = NONE) -> str:
    return ", ".join([_text(node, around) for node in nodes])


def _order(node: Any) -> str:
    from scurry.sql.unparse.queries import order_items

    return order_items(node)


def function_name(name: Identifier) -> str:
    """Return the name of a function: quoted, unless it is a standard function that was not quoted."""
    quoted = bool(name.quoted) and name.quoted[0]
    if name.is_simple and not quoted and name.last.upper() in STANDARD_FUNCTIONS:
        return name.last.upper()
    return identifier(name)


def _decorated(text: str, node: FunctionCall) -> str:
    """Return a call with what follows its parentheses."""
    from scurry.sql.unparse.queries import window

    if node.null_treatment is not None:
        text += f" {node.null_treatment}"
    if node.within_distinct:
        text += f" WITHIN DISTINCT ({_list(node.within_distinct, IN_LIST)})"
    if node.within_group:
        text += f" WITHIN GROUP (ORDER BY {_order(node.within_group)})"
    if node.filter is not None:
        text += f" FILTER (WHERE {_text(node.filter)})"
    if isinstance(node.over, Identifier):
        text += f" OVER {identifier(node.over)}"
    elif node.over is not None:
        text += f" OVER {window(node.over)}"
    return text


def _call(node: Call, left: int, right: int) -> str:
    name = function_name(node.name)
    # Calcite writes group windows so, to tell them from the table functions of the same names.
    return call_text(node, f"${name}" if name in GROUP_WINDOWS else name)


def call_text(node: Call, name: str) -> str:
    """Return the text of a call of the function that is written like this."""
    first = node.arguments[0] if node.arguments else None
    if isinstance(first, Subquery):
        # Flink writes a query as the first argument, and only there, without parentheses of its own.
        from scurry.sql.unparse.queries import nested_query

        texts = [nested_query(first.query, 0, 0), *map(_text, node.arguments[1:])]
    else:
        texts = list(map(_text, node.arguments))
    arguments = ", ".join(texts)
    if node.quantifier is not None:
        arguments = f"{node.quantifier} {arguments}"
    if node.order_by:
        arguments += f" ORDER BY {_order(node.order_by)}"
    return _decorated(f"{name}({arguments})", node)


def _named_argument(node: NamedArgument, left: int, right: int) -> str:
    return f"{identifier(node.name)} => {_text(node.value, (20, 21))}"


def _table_argument(node: TableArgument, left: int, right: int) -> str:
    from scurry.sql.unparse.queries import nested_query

    if isinstance(node.table, Query):
        text = nested_query(node.table, 0, 0)
    else:
        text = f"TABLE {identifier(node.table.name)}"  # type: ignore[attr-defined]
    if node.partition_by is not None:
        text += f" PARTITION BY {_list(node.partition_by, IN_LIST)}"
    if node.order_by:
        text += f" ORDER BY {_order(node.order_by)}"
    return text


def _descriptor(node: Descriptor, left: int, right: int) -> str:
    return f"DESCRIPTOR{names(node.columns)}"


def _cast(node: Cast, left: int, right: int) -> str:
    return f"{node.function}({_text(node.operand)} AS {type_spec(node.type)})"


def _extract(node: Extract, left: int, right: int) -> str:
    return f"EXTRACT({qualifier(node.unit)} FROM {_text(node.operand)})"


def _rounding(name: str) -> Callable[[Any, int, int], str]:
    def write(node: Floor | Ceil, left: int, right: int) -> str:
        return _decorated(f"{name}({_text(node.operand)} TO {qualifier(node.unit)})", node)

    return write


def _trim(node: Trim, left: int, right: int) -> str:
    return f"TRIM({node.side} {_text(node.characters)} FROM {_text(node.operand)})"


def _substring(node: Substring, left: int, right: int) -> str:
    length = () if node.length is None else (node.length,)
    return f"SUBSTRING({_list((node.operand, node.start, *length))})"


def _position(node: Position, left: int, right: int) -> str:
    start = "" if node.start is None else f" FROM {_text(node.start)}"
    return f"POSITION({_text(node.substring)} IN {_text(node.operand)}{start})"


def _overlay(node: Overlay, left: int, right: int) -> str:
    text = f"{_text(node.operand)} PLACING {_text(node.replacement)} FROM {_text(node.start)}"
    return f"OVERLAY({text}{'' if node.length is None else f' FOR {_text(node.length)}'})"


def _using(node: Convert | Translate, left: int, right: int) -> str:
    """Return the text of CONVERT or TRANSLATE: Calcite writes both as the second."""
    return f"TRANSLATE({_text(node.operand)} USING {identifier(node.charset)})"


def _timestamp_add(node: TimestampAdd, left: int, right: int) -> str:
    return f"TIMESTAMPADD({qualifier(node.unit)}, {_text(node.count)}, {_text(node.operand)})"


def _timestamp_diff(node: TimestampDiff, left: int, right: int) -> str:
    return f"TIMESTAMPDIFF({qualifier(node.unit)}, {_text(node.start)}, {_text(node.end)})"


def _behavior(behavior: JsonBehavior | None, on: str) -> str:
    if behavior is None:
        return ""
    default = "" if behavior.default is None else f" {_text(behavior.default)}"
    return f" {behavior.kind}{default} ON {on}"


def _json_exists(node: JsonExists, left: int, right: int) -> str:
    return f"JSON_EXISTS({_list((node.context, node.path))}{_behavior(node.on_error, 'ERROR')})"


def _json_value(node: JsonValue, left: int, right: int) -> str:
    returning = "" if node.returning is None else f" RETURNING {type_spec(node.returning)}"
    behaviors = _behavior(node.on_empty, "EMPTY") + _behavior(node.on_error, "ERROR")
    return f"JSON_VALUE({_list((node.context, node.path))}{returning}{behaviors})"


def _json_query(node: JsonQuery, left: int, right: int) -> str:
    returning = "" if node.returning is None else f" RETURNING {type_spec(node.returning)}"
    behaviors = _behavior(node.on_empty, "EMPTY") + _behavior(node.on_error, "ERROR")
    return f"JSON_QUERY({_list((node.context, node.path))}{returning} {node.wrapper} WRAPPER{behaviors})"


def _entry(entry: JsonEntry) -> str:
    return f"KEY {_text(entry.key)} VALUE {_text(entry.value)}"


def _nulls(absent: bool) -> str:
    return "ABSENT ON NULL" if absent else "NULL ON NULL"


def _json_object(node: JsonObject, left: int, right: int) -> str:
    entries = ", ".join(map(_entry, node.entries))
    return f"JSON_OBJECT({entries}{' ' if entries else ''}{_nulls(node.absent_on_null)})"


def _json_array(node: JsonArray, left: int, right: int) -> str:
    if not node.values:
        return "JSON_ARRAY()"
    return f"JSON_ARRAY({_list(node.values)} {_nulls(node.absent_on_null)})"


def _json_object_aggregate(node: JsonObjectAggregate, left: int, right: int) -> str:
    return _decorated(f"JSON_OBJECTAGG({_entry(node.entry)} {_nulls(node.absent_on_null)})", node)


def _json_array_aggregate(node: JsonArrayAggregate, left: int, right: int) -> str:
    return _decorated(f"JSON_ARRAYAGG({_text(node.value)} {_nulls(node.absent_on_null)})", node)


FUNCTIONS: Final[dict[type[Node], Callable[[Any, int, int], str]]] = {
    Call: _call,
    NamedArgument: _named_argument,
    TableArgument: _table_argument,
    ModelArgument: lambda node, left, right: f"MODEL {identifier(node.name)}",
    Descriptor: _descriptor,
    Cast: _cast,
    Extract: _extract,
    Floor: _rounding("FLOOR"),
    Ceil: _rounding("CEIL"),
    Trim: _trim,
    Substring: _substring,
    Position: _position,
    Overlay: _overlay,
    Convert: _using,
    Translate: _using,
    TimestampAdd: _timestamp_add,
    TimestampDiff: _timestamp_diff,
    JsonExists: _json_exists,
    JsonValue: _json_value,
    JsonQuery: _json_query,
    JsonObject: _json_object,
    JsonArray: _json_array,
    JsonObjectAggregate: _json_object_aggregate,
    JsonArrayAggregate: _json_array_aggregate,
}
