"""The dispatch of nodes to the functions that write them, and when nodes get parentheses.

Expressions hold queries, queries hold tables, tables hold expressions: their modules register what they write here, and
write what is within through ``write``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from scurry.sql.syntax.nodes import Identifier, Node, Query, Select

# Left and right binding strength of an operator, as Calcite numbers it.
Precedence = tuple[int, int]

# A part of a list binds its neighbours with these.
IN_LIST: Final = (2, 3)
NONE: Final = (0, 0)
ATOM: Final = (200, 201)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def identifier(name: Identifier) -> str:
    return ".".join(map(quoted, name.names))


def names(items: tuple[Identifier, ...]) -> str:
    return "(" + ", ".join(map(identifier, items)) + ")"


def string(value: str) -> str:
    """Return a string as a literal."""
    return "'" + value.replace("'", "''") + "'"


def needs_parentheses(own: Precedence, left: int, right: int) -> bool:
    """Return whether an operation has to be put in parentheses between its neighbours.

    Args:
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
    """
    return left > own[0] or (own[1] <= right and right != 0)


# Writes a node, given how tightly the operators before and after it bind.
Writer = Callable[[Any, int, int], str]

_WRITERS: dict[type[Node], tuple[Writer, Callable[[Any], Precedence]]] = {}


def register(writers: Mapping[type[Node], Writer], precedence: Callable[[Any], Precedence]) -> None:
    """Say how nodes are written.

    Args:
        writers: By class, the function that writes a node.
        precedence: Tells how tightly a node holds together.
    """
    for kind, writer in writers.items():
        _WRITERS[kind] = (writer, precedence)


def write(node: Node, left: int = 0, right: int = 0) -> str:
    """Return the text of a node, in parentheses where it needs some.

    Args:
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
    """
    if isinstance(node, Identifier):
        return identifier(node)
    writer, precedence = _WRITERS[type(node)]
    if needs_parentheses(precedence(node), left, right):
        return f"({writer(node, 0, 0)})"
    return writer(node, left, right)


def write_list(nodes: Iterable[Node], around: Precedence = IN_LIST) -> str:
    """Return the texts of nodes, separated by commas."""
    return ", ".join([write(node, *around) for node in nodes])


def nested_query(node: Query, left: int = 0, right: int = 0) -> str:
    """Return the text of a query within an expression or in FROM: a SELECT always stands in parentheses there."""
    return f"({write(node)})" if isinstance(node, Select) else write(node, left, right)
