"""The canonical text of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from scurry.sql.syntax import nodes
from scurry.sql.syntax.keywords import STANDARD_FUNCTIONS
from scurry.sql.syntax.unparse.dispatch import (
    ATOM,
    NONE,
    Precedence,
    Writer,
    identifier,
    names,
    nested_query,
    write,
    write_list,
)
from scurry.sql.syntax.unparse.literals import qualifier, type_spec
from scurry.sql.syntax.unparse.windows import order_items, window

GROUP_WINDOWS: Final = frozenset({"TUMBLE", "HOP", "SESSION"})


def precedence(node: nodes.Expression) -> Precedence:
    """Return how tightly a call, or an argument, holds together."""
    if isinstance(node, nodes.FunctionCall):
        if node.over is not None or node.filter is not None or node.null_treatment is not None:
            return 20, 21
        if node.within_group or node.within_distinct:
            return 100, 101
        return 100, 100
    if isinstance(node, nodes.NamedArgument):
        return 20, 21
    if isinstance(node, nodes.TableArgument | nodes.ModelArgument):
        return 2, 3
    return ATOM


def function_name(name: nodes.Identifier) -> str:
    """Return the name of a function: quoted, unless it is a standard function that was not quoted."""
    quoted = bool(name.quoted) and name.quoted[0]
    if name.is_simple and not quoted and name.last.upper() in STANDARD_FUNCTIONS:
        return name.last.upper()
    return identifier(name)


def _decorated(text: str, node: nodes.FunctionCall) -> str:
    """Return a call with the clauses after its parentheses."""
    if node.null_treatment is not None:
        text += f" {node.null_treatment}"
    if node.within_distinct:
        text += f" WITHIN DISTINCT ({write_list(node.within_distinct)})"
    if node.within_group:
        text += f" WITHIN GROUP (ORDER BY {order_items(node.within_group)})"
    if node.filter is not None:
        text += f" FILTER (WHERE {write(node.filter)})"
    if isinstance(node.over, nodes.Identifier):
        text += f" OVER {identifier(node.over)}"
    elif node.over is not None:
        text += f" OVER {window(node.over)}"
    return text


def _call(node: nodes.Call, left: int, right: int) -> str:
    name = function_name(node.name)
    # Calcite writes group windows so, to tell them from the table functions of the same names.
    return call(node, f"${name}" if name in GROUP_WINDOWS else name)


def call(node: nodes.Call, name: str) -> str:
    """Return the text of a call of the function that is written like this."""
    first = node.arguments[0] if len(node.arguments) == 1 else None
    if isinstance(first, nodes.Subquery):
        # Flink writes a query that is the only argument without parentheses of its own.
        texts = [nested_query(first.query, 0, 0), *map(write, node.arguments[1:])]
    else:
        texts = list(map(write, node.arguments))
    arguments = ", ".join(texts)
    if node.quantifier is not None:
        arguments = f"{node.quantifier} {arguments}"
    if node.order_by:
        arguments += f" ORDER BY {order_items(node.order_by)}"
    return _decorated(f"{name}({arguments})", node)


def _named_argument(node: nodes.NamedArgument, left: int, right: int) -> str:
    return f"{identifier(node.name)} => {write(node.value, 20, 21)}"


def _table_argument(node: nodes.TableArgument, left: int, right: int) -> str:
    if isinstance(node.table, nodes.Query):
        text = nested_query(node.table, 0, 0)
    else:
        text = f"TABLE {identifier(node.table.name)}"  # type: ignore[attr-defined]
    if node.partition_by is not None:
        text += f" PARTITION BY {write_list(node.partition_by)}"
    if node.order_by:
        text += f" ORDER BY {order_items(node.order_by)}"
    return text


def _descriptor(node: nodes.Descriptor, left: int, right: int) -> str:
    return f"DESCRIPTOR{names(node.columns)}"


def _cast(node: nodes.Cast, left: int, right: int) -> str:
    return f"{node.function}({write(node.operand)} AS {type_spec(node.type)})"


def _extract(node: nodes.Extract, left: int, right: int) -> str:
    return f"EXTRACT({qualifier(node.unit)} FROM {write(node.operand)})"


def _rounding(name: str) -> Callable[[Any, int, int], str]:
    def rounding(node: nodes.Floor | nodes.Ceil, left: int, right: int) -> str:
        return _decorated(f"{name}({write(node.operand)} TO {qualifier(node.unit)})", node)

    return rounding


def _trim(node: nodes.Trim, left: int, right: int) -> str:
    return f"TRIM({node.side} {write(node.characters)} FROM {write(node.operand)})"


def _substring(node: nodes.Substring, left: int, right: int) -> str:
    length = () if node.length is None else (node.length,)
    return f"SUBSTRING({write_list((node.operand, node.start, *length), NONE)})"


def _position(node: nodes.Position, left: int, right: int) -> str:
    start = "" if node.start is None else f" FROM {write(node.start)}"
    return f"POSITION({write(node.substring)} IN {write(node.operand)}{start})"


def _overlay(node: nodes.Overlay, left: int, right: int) -> str:
    text = f"{write(node.operand)} PLACING {write(node.replacement)} FROM {write(node.start)}"
    return f"OVERLAY({text}{'' if node.length is None else f' FOR {write(node.length)}'})"


def _using(node: nodes.Convert | nodes.Translate, left: int, right: int) -> str:
    """Return the text of CONVERT or TRANSLATE: Calcite writes both as the second."""
    return f"TRANSLATE({write(node.operand)} USING {identifier(node.charset)})"


def _timestamp_add(node: nodes.TimestampAdd, left: int, right: int) -> str:
    return f"TIMESTAMPADD({qualifier(node.unit)}, {write(node.count)}, {write(node.operand)})"


def _timestamp_diff(node: nodes.TimestampDiff, left: int, right: int) -> str:
    return f"TIMESTAMPDIFF({qualifier(node.unit)}, {write(node.start)}, {write(node.end)})"


def _behavior(behavior: nodes.JsonBehavior | None, on: str) -> str:
    if behavior is None:
        return ""
    default = "" if behavior.default is None else f" {write(behavior.default)}"
    return f" {behavior.kind}{default} ON {on}"


def _json_exists(node: nodes.JsonExists, left: int, right: int) -> str:
    return f"JSON_EXISTS({write_list((node.context, node.path), NONE)}{_behavior(node.on_error, 'ERROR')})"


def _json_value(node: nodes.JsonValue, left: int, right: int) -> str:
    returning = "" if node.returning is None else f" RETURNING {type_spec(node.returning)}"
    behaviors = _behavior(node.on_empty, "EMPTY") + _behavior(node.on_error, "ERROR")
    return f"JSON_VALUE({write_list((node.context, node.path), NONE)}{returning}{behaviors})"


def _json_query(node: nodes.JsonQuery, left: int, right: int) -> str:
    returning = "" if node.returning is None else f" RETURNING {type_spec(node.returning)}"
    behaviors = _behavior(node.on_empty, "EMPTY") + _behavior(node.on_error, "ERROR")
    return f"JSON_QUERY({write_list((node.context, node.path), NONE)}{returning} {node.wrapper} WRAPPER{behaviors})"


def _entry(entry: nodes.JsonEntry) -> str:
    return f"KEY {write(entry.key)} VALUE {write(entry.value)}"


def _nulls(absent: bool) -> str:
    return "ABSENT ON NULL" if absent else "NULL ON NULL"


def _json_object(node: nodes.JsonObject, left: int, right: int) -> str:
    entries = ", ".join(map(_entry, node.entries))
    return f"JSON_OBJECT({entries}{' ' if entries else ''}{_nulls(node.absent_on_null)})"


def _json_array(node: nodes.JsonArray, left: int, right: int) -> str:
    if not node.values:
        return "JSON_ARRAY()"
    return f"JSON_ARRAY({write_list(node.values, NONE)} {_nulls(node.absent_on_null)})"


def _json_object_aggregate(node: nodes.JsonObjectAggregate, left: int, right: int) -> str:
    return _decorated(f"JSON_OBJECTAGG({_entry(node.entry)} {_nulls(node.absent_on_null)})", node)


def _json_array_aggregate(node: nodes.JsonArrayAggregate, left: int, right: int) -> str:
    return _decorated(f"JSON_ARRAYAGG({write(node.value)} {_nulls(node.absent_on_null)})", node)


FUNCTIONS: Final[dict[type[nodes.Node], Writer]] = {
    nodes.Call: _call,
    nodes.NamedArgument: _named_argument,
    nodes.TableArgument: _table_argument,
    nodes.ModelArgument: lambda node, left, right: f"MODEL {identifier(node.name)}",
    nodes.Descriptor: _descriptor,
    nodes.Cast: _cast,
    nodes.Extract: _extract,
    nodes.Floor: _rounding("FLOOR"),
    nodes.Ceil: _rounding("CEIL"),
    nodes.Trim: _trim,
    nodes.Substring: _substring,
    nodes.Position: _position,
    nodes.Overlay: _overlay,
    nodes.Convert: _using,
    nodes.Translate: _using,
    nodes.TimestampAdd: _timestamp_add,
    nodes.TimestampDiff: _timestamp_diff,
    nodes.JsonExists: _json_exists,
    nodes.JsonValue: _json_value,
    nodes.JsonQuery: _json_query,
    nodes.JsonObject: _json_object,
    nodes.JsonArray: _json_array,
    nodes.JsonObjectAggregate: _json_object_aggregate,
    nodes.JsonArrayAggregate: _json_array_aggregate,
}
