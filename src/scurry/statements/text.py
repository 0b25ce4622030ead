"""Parts of statements as text, and back."""

from __future__ import annotations

from scurry.logical_types import DataType
from scurry.sql import nodes
from scurry.sql.parser import parse
from scurry.sql.validator import data_type

__all__ = ["parse_expression", "parse_type", "sql_text"]


def sql_text(node: nodes.Node) -> str:
    """Return the text of a part of a statement."""
    return node.span.source


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
