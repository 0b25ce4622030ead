"""Names, strings and precedences, shared by all parts of the canonical text."""

from __future__ import annotations

from typing import Final

from scurry.sql.syntax.nodes import Identifier

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
        own: Its precedence.
        left: How tightly the operator before it binds.
        right: How tightly the operator after it binds.
    """
    return left > own[0] or (own[1] <= right and right != 0)
