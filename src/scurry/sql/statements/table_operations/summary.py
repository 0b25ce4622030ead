"""Expressions as the messages of Flink's Table API write them: `plus(a, 1)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.common._java_numbers import double_text
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.syntax import nodes

COMPARISONS = {
    "=": "equals",
    "<>": "notEquals",
    "<": "lessThan",
    "<=": "lessThanOrEqual",
    ">": "greaterThan",
    ">=": "greaterThanOrEqual",
}
#: Operators of numbers, times and intervals; a `+` whose left side is a text has become `||`.
ARITHMETIC = frozenset(("+", "-", "*", "/", "MOD"))
#: Flink's names of functions whose names in SQL are others.
NAMES = {
    **COMPARISONS,
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "divide",
    "MOD": "mod",
    "POWER": "power",
    "NEGATE": "minusPrefix",
    "AND": "and",
    "OR": "or",
    "NOT": "not",
    "IS NULL": "isNull",
    "IS NOT NULL": "isNotNull",
    "IS TRUE": "isTrue",
    "IS FALSE": "isFalse",
    "IS NOT TRUE": "isNotTrue",
    "IS NOT FALSE": "isNotFalse",
    "CASE": "ifThenElse",
    "ITEM": "at",
    "FIELD": "get",
    "SIMILAR TO": "similar",
    "INITCAP": "initCap",
    "||": "concat",
    "CONCAT_WS": "concat_ws",
    "FIRST_VALUE": "first_value",
    "LAST_VALUE": "last_value",
    "LISTAGG": "listAgg",
    "TRANSLATE": "TRANSLATE3",
    "LOCALTIME": "localTime",
    "LOCALTIMESTAMP": "localTimestamp",
}
#: Functions that Flink defines with their names in lower case.
_LOWER_CASE = frozenset(
    "EXP LOG10 LOG2 LN LOG COSH SINH SIN COS TAN COT ASIN ACOS ATAN ATAN2 TANH DEGREES RADIANS SQRT ABS SIGN ROUND "
    "TRUNCATE BIN HEX UPPER LOWER SUBSTRING SUBSTR REPLACE POSITION LPAD RPAD OVERLAY REGEXP ASCII CHR DECODE "
    "ENCODE LEFT RIGHT INSTR LOCATE LTRIM RTRIM REPEAT REVERSE CARDINALITY ELEMENT MD5 SHA1 SHA224 SHA256 SHA384 "
    "SHA512 SHA2 CONCAT FLOOR CEIL ARRAY MAP ROW RAND UUID PI E START END ROWTIME PROCTIME".split()
)
#: Functions that Flink defines with their names in camel case.
CAMEL_CASE = frozenset(
    "CHAR_LENGTH REGEXP_REPLACE REGEXP_EXTRACT FROM_BASE64 TO_BASE64 PARSE_URL SPLIT_INDEX STR_TO_MAP RAND_INTEGER "
    "DATE_FORMAT CONVERT_TZ FROM_UNIXTIME UNIX_TIMESTAMP TO_DATE TO_TIMESTAMP CURRENT_DATE CURRENT_TIME "
    "CURRENT_TIMESTAMP CURRENT_DATABASE RANGE_TO WITH_COLUMNS WITHOUT_COLUMNS".split()
)

#: Prefixes of the aggregate functions that Flink names in upper case.
_UPPER_CASE = ("ARRAY_AGG", "PERCENTILE", "BITMAP_")

#: The name of a function, and its arguments; None if a node is no call.
_Call = tuple[str | nodes.Node, ...] | None


def flink_name(name: str) -> str:
    """Return Flink's name of a function of SQL; of a function of a user that is not registered, its own name."""
    if name.startswith("*") and name != "*":
        return name.split("*")[1]
    if name in NAMES:
        return NAMES[name]
    if name in CAMEL_CASE or (lookup_aggregate(name) is not None and not name.startswith(_UPPER_CASE)):
        first, *others = name.lower().lstrip("$").split("_")
        return first + "".join(map(str.capitalize, others))
    return name.lower() if name in _LOWER_CASE else name


def summary(node: nodes.Node) -> str:
    """Return an expression as Flink's messages write it."""
    if isinstance(node, nodes.Identifier):
        return node.last
    if isinstance(node, nodes.Call) and node.name.last == "ROW_INTERVAL":
        return summary(node.arguments[0])
    if isinstance(node, nodes.Literal) or (isinstance(node, nodes.Cast) and node.operand == nodes.NullLiteral()):
        return _value(node)
    call = _CALLS.get(type(node), _no_call)(node)
    if call is None:
        from scurry.sql.syntax.unparse import unparse

        return unparse(node)
    function, *arguments = call
    text = f"{function}({', '.join(each if isinstance(each, str) else summary(each) for each in arguments)})"
    if isinstance(node, nodes.Call) and node.quantifier == "DISTINCT":
        text = f"distinct({text})"
    window = node.over if isinstance(node, nodes.FunctionCall) else None
    return text if window is None else f"over({text}, {summary(window)})"


def _value(node: nodes.Node) -> str:
    if isinstance(node, nodes.NumericLiteral):
        return double_text(float(node.text)) if node.is_approximate else node.text
    if isinstance(node, nodes.StringLiteral):
        text = node.value.replace("'", "''")
        return f"'{text}'"
    if isinstance(node, nodes.BinaryLiteral):
        signed = (byte - 256 if byte > 127 else byte for byte in bytes.fromhex(node.digits))
        return f"[{', '.join(map(str, signed))}]"
    if isinstance(node, nodes.BooleanLiteral):
        return str(node.value).lower()
    if isinstance(node, nodes.IntervalLiteral):
        from scurry.sql.validator.intervals import interval_value

        return str(interval_value(node))
    if isinstance(node, nodes.NullLiteral | nodes.Cast):
        return "null"
    from scurry.sql.syntax.unparse import unparse

    return unparse(node)


def _no_call(node: nodes.Node) -> _Call:
    return None


def _function(node: nodes.Call) -> _Call:
    return flink_name(node.name.last), *node.arguments


def _cast(node: nodes.Cast) -> _Call:
    from scurry.sql.validator import data_type

    return "TRY_CAST" if node.is_try else "cast", node.operand, data_type(node.type).as_summary_string()


def _field(node: nodes.FieldAccess) -> _Call:
    if isinstance(node.field, nodes.Star):
        return "flatten", node.operand
    return "get", node.operand, f"'{summary(node.field)}'"


def _trim(node: nodes.Trim) -> _Call:
    sides = (str(node.side in ("BOTH", side)).lower() for side in ("LEADING", "TRAILING"))
    return "trim", *sides, node.characters, node.operand


def _operation(node: nodes.BinaryOperation) -> _Call:
    if isinstance(node.left, nodes.RowConstructor) and isinstance(node.right, nodes.RowConstructor):
        return "temporalOverlaps", *node.left.values, *node.right.values
    return None


def _test(node: nodes.IsTest) -> _Call:
    kind = node.test.removeprefix("JSON ")
    return "IS_JSON", node.operand, *(() if kind == "VALUE" else (kind,))


def _json_value(node: nodes.JsonValue) -> _Call:
    behaviors = (part for each in (node.on_empty, node.on_error) for part in _behavior(each))
    return "JSON_VALUE", node.context, node.path, *_types(node.returning), *behaviors


def _behavior(behavior: nodes.JsonBehavior | None) -> tuple[str | nodes.Node, ...]:
    return ("NULL", "null") if behavior is None else (behavior.kind, behavior.default or "null")


def _types(spec: nodes.TypeSpec | None) -> tuple[str]:
    from scurry.sql.validator import data_type

    return ("STRING" if spec is None else data_type(spec).as_summary_string(),)


def _json_query(node: nodes.JsonQuery) -> _Call:
    wrapper = node.wrapper.removeprefix("WITH ").replace(" ", "_")
    behaviors = (each.kind.replace(" ", "_") for each in (node.on_empty, node.on_error))
    return "JSON_QUERY", node.context, node.path, *_types(node.returning), wrapper, *behaviors


def _on_null(absent: bool) -> str:
    return "ABSENT" if absent else "NULL"


#: Text of the nodes that are calls in Flink: the function, and its arguments.
_CALLS: dict[type[nodes.Node], Callable[[Any], _Call]] = {
    nodes.Call: _function,
    nodes.Cast: _cast,
    nodes.FieldAccess: _field,
    nodes.Trim: _trim,
    nodes.BinaryOperation: _operation,
    nodes.IsTest: _test,
    nodes.In: lambda node: ("in", node.operand, *node.values) if isinstance(node.values, tuple) else None,
    nodes.Between: lambda node: ("notBetween" if node.negated else "between", node.operand, node.low, node.high),
    nodes.ContextVariable: lambda node: (flink_name(node.name),),
    nodes.NamedArgument: lambda node: ("ASSIGNMENT", f"'{node.name.last}'", node.value),
    nodes.Extract: lambda node: ("extract", node.unit.start, node.operand),
    nodes.Floor: lambda node: ("floor", node.operand, node.unit.start),
    nodes.Ceil: lambda node: ("ceil", node.operand, node.unit.start),
    nodes.TimestampDiff: lambda node: ("timestampDiff", node.unit.start, node.start, node.end),
    nodes.JsonExists: lambda node: (
        "JSON_EXISTS",
        node.context,
        node.path,
        *_behavior(node.on_error)[: bool(node.on_error)],
    ),
    nodes.JsonValue: _json_value,
    nodes.JsonQuery: _json_query,
    nodes.JsonObject: lambda node: (
        "JSON_OBJECT",
        _on_null(node.absent_on_null),
        *(part for each in node.entries for part in (each.key, each.value)),
    ),
    nodes.JsonArray: lambda node: ("JSON_ARRAY", _on_null(node.absent_on_null), *node.values),
    nodes.JsonObjectAggregate: lambda node: (
        f"JSON_OBJECTAGG_{_on_null(node.absent_on_null)}_ON_NULL",
        node.entry.key,
        node.entry.value,
    ),
    nodes.JsonArrayAggregate: lambda node: (f"JSON_ARRAYAGG_{_on_null(node.absent_on_null)}_ON_NULL", node.value),
}
