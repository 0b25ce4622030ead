"""Expressions as the messages of Flink's Table API write them: `plus(a, 1)`."""

from __future__ import annotations

from scurry.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql import nodes

__all__ = ["ARITHMETIC", "COMPARISONS", "flink_name", "summary"]

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
_NAMES = {
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
    "CHAR_LENGTH": "charLength",
    "INITCAP": "initCap",
    "REGEXP_REPLACE": "regexpReplace",
    "REGEXP_EXTRACT": "regexpExtract",
    "FROM_BASE64": "fromBase64",
    "TO_BASE64": "toBase64",
    "DATE_FORMAT": "dateFormat",
    "CONCAT_WS": "concat_ws",
}
#: Functions that Flink defines with their names in lower case.
_LOWER_CASE = frozenset(
    "EXP LOG10 LOG2 LN LOG COSH SINH SIN COS TAN COT ASIN ACOS ATAN ATAN2 TANH DEGREES RADIANS SQRT ABS SIGN ROUND "
    "TRUNCATE BIN HEX UNHEX UPPER LOWER SUBSTRING SUBSTR REPLACE POSITION LPAD RPAD OVERLAY REGEXP ASCII CHR DECODE "
    "ENCODE LEFT RIGHT INSTR LOCATE LTRIM RTRIM REPEAT REVERSE CARDINALITY ELEMENT MD5 SHA1 SHA224 SHA256 SHA384 "
    "SHA512 SHA2 CONCAT FLOOR CEIL ARRAY MAP ROW RAND UUID".split()
)


def flink_name(name: str) -> str:
    """Return Flink's name of a function of SQL; of a function of a user that is not registered, its own name."""
    if name.startswith("*") and name != "*":
        return name.split("*")[1]
    if lookup_aggregate(name) is not None and name not in ("LISTAGG", "ARRAY_AGG", "PERCENTILE"):
        first, *others = name.lower().lstrip("$").split("_")
        return first + "".join(map(str.capitalize, others))
    return _NAMES.get(name) or (name.lower() if name in _LOWER_CASE else name)


def summary(node: nodes.Node) -> str:
    """Return an expression as Flink's messages write it."""
    if isinstance(node, nodes.Identifier):
        return node.last
    if isinstance(node, nodes.NumericLiteral):
        return str(float(node.text)) if node.is_approximate else node.text
    if isinstance(node, nodes.StringLiteral):
        text = node.value.replace("'", "''")
        return f"'{text}'"
    if isinstance(node, nodes.BooleanLiteral):
        return str(node.value).lower()
    if isinstance(node, nodes.IntervalLiteral):
        from scurry.sql.validator.intervals import interval_value

        return str(interval_value(node))
    if isinstance(node, nodes.NullLiteral):
        return "null"
    if isinstance(node, nodes.Cast):
        from scurry.sql.validator import data_type

        function = "cast" if not node.is_try else "TRY_CAST"
        return f"{function}({summary(node.operand)}, {data_type(node.type).as_summary_string()})"
    if isinstance(node, nodes.FieldAccess):
        return f"get({summary(node.operand)}, '{summary(node.field)}')"
    if isinstance(node, nodes.In) and isinstance(node.values, tuple):
        return f"in({', '.join(map(summary, (node.operand, *node.values)))})"
    if isinstance(node, nodes.Between):
        name = "notBetween" if node.negated else "between"
        return f"{name}({', '.join(map(summary, (node.operand, node.low, node.high)))})"
    if isinstance(node, nodes.Trim):
        sides = ", ".join(str(node.side in ("BOTH", side)).lower() for side in ("LEADING", "TRAILING"))
        return f"trim({sides}, {summary(node.characters)}, {summary(node.operand)})"
    if isinstance(node, nodes.Call):
        called = f"{flink_name(node.name.last)}({', '.join(map(summary, node.arguments))})"
        if node.quantifier == "DISTINCT":
            called = f"distinct({called})"
        return called if node.over is None else f"over({called}, {summary(node.over)})"
    from scurry.sql.unparse import unparse

    return unparse(node)
