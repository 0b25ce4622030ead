"""Parts of statements as text, and back."""

from __future__ import annotations

from scurry.sql import nodes
from scurry.sql.parser import parse

__all__ = ["parse_expression", "sql_text"]


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
