"""Parts of statements as text, and back."""

from __future__ import annotations

import re

from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.syntax.unparse import unparse
from scurry.sql.types import DataType
from scurry.sql.validator import data_type

#: Functions of Flink's operator table beside those of Calcite, which the canonical form knows already.
_OPERATOR_TABLE = frozenset(
    """BIN CHR CONCAT CONCAT_WS CONVERT_TZ COSH CURRENT_DATABASE CURRENT_ROW_TIMESTAMP DATE_FORMAT DECODE E ENCODE
    FROM_BASE64 FROM_UNIXTIME HEX IF INSTR IS_ALPHA IS_DECIMAL IS_DIGIT LEFT LOCATE LOG LOG2 LPAD LTRIM MD5 NOW
    PARSE_URL PROCTIME REGEXP REGEXP_EXTRACT REGEXP_REPLACE REPEAT REVERSE RIGHT RPAD RTRIM SHA1 SHA2 SHA224 SHA256
    SHA384 SHA512 SINH SOURCE_WATERMARK SPLIT_INDEX STR_TO_MAP SUBSTR TANH TO_BASE64 TO_DATE TO_TIMESTAMP
    UNIX_TIMESTAMP UUID
    """.split()
)
_RENAMED = {"TRANSLATE": "`TRANSLATE3`"}
#: Functions that are an EXTRACT of a unit.
_EXTRACTED = {
    **{unit: unit for unit in ("YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND")},
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "DAYOFYEAR": "DOY",
}


def sql_text(node: nodes.Node) -> str:
    """Return a part of a statement in Flink's canonical form."""
    return unparse(node)


def resolved_text(expression: nodes.Expression) -> str:
    """Return an expression in Flink's canonical form after validation.

    Names of the functions of its operator table have no quotes; those of later functions have.
    """

    def plain(found: re.Match[str]) -> str:
        name = (found[1] or "").upper()
        return f"{_RENAMED.get(name, name)}(" if name in _RENAMED or name in _OPERATOR_TABLE else found[0]

    text = sql_text(nodes.transform(expression, _rewritten))
    return re.sub(r"'(?:[^']|'')*'|`(\w+)`\(", plain, re.sub(r"\bTRANSLATE\(", "`TRANSLATE`(", text))


def _rewritten(node: nodes.Node) -> nodes.Node:
    """Return a call as Calcite's validator rewrites it."""
    if isinstance(node, nodes.Call) and node.name.is_simple and not any(node.name.quoted):
        name = node.name.last.upper()
        if name in _EXTRACTED and len(node.arguments) == 1:
            unit = nodes.IntervalQualifier(_EXTRACTED[name], span=node.span)
            return nodes.Extract(unit, node.arguments[0], span=node.span)
        if name == "NULLIF" and len(node.arguments) == 2:
            first, second = node.arguments
            branch = nodes.WhenClause(
                nodes.BinaryOperation(operator="=", left=first, right=second), nodes.NullLiteral()
            )
            return nodes.Case((branch,), first, span=node.span)
    return node


def parse_type(text: str) -> DataType:
    """Return the type of a text such as `DECIMAL(10, 2)`.

    Raises:
        ValidationError: There is no such type.
        SqlParserError: It is no type.
    """
    statement = parse(f"CREATE TABLE t (c {text})")
    assert isinstance(statement, nodes.CreateTable) and statement.schema is not None
    (column,) = statement.schema.columns
    assert isinstance(column, nodes.PhysicalColumn)
    return data_type(column.type)
