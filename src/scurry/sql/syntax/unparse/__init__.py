"""Syntax tree to text: the canonical text that Flink writes, for SHOW CREATE, views and EXPLAIN."""

from __future__ import annotations

from scurry.common.recursion import deep_recursion
from scurry.sql.syntax.nodes import Node, Statement, TypeSpec
from scurry.sql.syntax.unparse import expressions, functions, queries, tables
from scurry.sql.syntax.unparse.dispatch import register, write
from scurry.sql.syntax.unparse.literals import nullable_type
from scurry.sql.syntax.unparse.statements import statement

__all__ = ["unparse"]

register(expressions.EXPRESSIONS, expressions.precedence)
register(functions.FUNCTIONS, functions.precedence)
register(queries.QUERIES, queries.precedence)
register(tables.TABLES, tables.precedence)


@deep_recursion()
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
    if isinstance(node, TypeSpec):
        return nullable_type(node)
    return write(node)
