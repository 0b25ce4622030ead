"""Parts of statements as text, and back."""

from __future__ import annotations

import re

from scurry.functions.catalogue import lookup
from scurry.logical_types import DataType
from scurry.sql import nodes
from scurry.sql.parser import parse
from scurry.sql.unparse import unparse
from scurry.sql.validator import data_type

__all__ = ["parse_expression", "parse_type", "resolved_text", "sql_text"]


def sql_text(node: nodes.Node) -> str:
    """Return a part of a statement in Flink's canonical form."""
    return unparse(node)


def resolved_text(expression: nodes.Expression) -> str:
    """Return an expression in Flink's canonical form, in which names of built-in functions have no quotes."""

    def plain(found: re.Match[str]) -> str:
        name = found[1]
        return f"{name}(" if name is not None and lookup(name) is not None else found[0]

    return re.sub(r"'(?:[^']|'')*'|`(\w+)`\(", plain, sql_text(expression))


def parse_expression(text: str) -> nodes.Expression:
    """Return the expression of a text that `sql_text` has made."""
    query = parse(f"SELECT {text}")
    assert isinstance(query, nodes.Select)
    item = query.items[0]
    assert isinstance(item, nodes.SelectItem)
    return item.expression


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
