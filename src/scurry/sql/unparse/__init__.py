"""Syntax tree to text: the canonical text that Flink writes, for SHOW CREATE, views and EXPLAIN."""

from __future__ import annotations

from scurry.sql.nodes import Expression, Node, Statement, TableExpression, TypeSpec
from scurry.sql.unparse.expressions import expression
from scurry.sql.unparse.literals import nullable_type
from scurry.sql.unparse.statements import statement
from scurry.sql.unparse.tables import table

__all__ = ["unparse"]


def unparse(node: Node) -> str:
    """Return the canonical text of a statement, an expression, a table or a type, as Flink writes it.

    All names are in backticks, except those of standard functions; keywords are in upper case, and parentheses stand
    only where they are needed.

    Args:
        node: What is written.

    Returns:
        A text that parses to an equal node.
    """
    if isinstance(node, Statement):
        return statement(node)
    if isinstance(node, Expression):
        return expression(node)
    if isinstance(node, TypeSpec):
        return nullable_type(node)
    assert isinstance(node, TableExpression), node
    return table(node, 0, 0)
