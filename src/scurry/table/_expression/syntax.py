"""Values and texts of SQL as syntax trees, with their place in the program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from scurry.errors import SqlParserError
from scurry.graph.nodes import Origin
from scurry.sql.syntax import nodes
from scurry.sql.syntax.parser import parse
from scurry.sql.syntax.span import Span
from scurry.sql.values.literals import literal_text


class PlaceOfCode(Span):
    """The file and line at which a program makes an expression, for messages."""

    __slots__ = ("_origin", "_text")

    def __init__(self, origin: Origin, text: str = "") -> None:
        super().__init__("", 0, 0)
        self._origin = origin
        self._text = text

    def to(self, other: Span) -> Span:
        """Return this place: the parts of an expression have no other one."""
        return self

    def describe(self) -> str:
        """Return file and line, and the text of SQL that is there."""
        return f"At {self._origin}" + (f", in the SQL expression: {self._text}" if self._text else "")


def here() -> PlaceOfCode:
    """Return the line of the program that is running."""
    return PlaceOfCode(Origin.of_caller())


@lru_cache(maxsize=1024)
def parsed(text: str) -> nodes.Expression:
    """Return the expression of a text of SQL.

    Raises:
        SqlParserError: It is none.
    """
    query = parse(f"SELECT {text}")
    assert isinstance(query, nodes.Select)
    return query.items[0].expression


def parsed_alone(text: str) -> nodes.Expression:
    """Return the expression of a text of a user, which is nothing else.

    Raises:
        SqlParserError: It is none; the place is one in the text.
    """
    try:
        query = parse(f"SELECT {text}")
    except SqlParserError as error:
        column = error.column - len("SELECT ") if error.line == 1 else error.column
        at = f"line {error.line}, column {column}"
        message = str(error).replace(f"line {error.line}, column {error.column}", at)
        raise SqlParserError(f"Invalid SQL expression: {text}\n{message}", error.line, column) from None
    if query != nodes.Select((nodes.SelectItem(query.items[0].expression),) if isinstance(query, nodes.Select) else ()):
        raise SqlParserError(f"Invalid SQL expression: {text}\nIt has to be one expression, without an alias.", 1, 1)
    assert isinstance(query, nodes.Select)
    return in_place(query.items[0].expression, PlaceOfCode(Origin.of_caller(), text))


def filled(template: str, parts: Mapping[str, nodes.Expression]) -> nodes.Expression:
    """Return the expression of a text of SQL in which some names stand for other expressions.

    Args:
        template: The text, such as `EXTRACT(YEAR FROM x)`.
        parts: The expressions by their names in the text.
    """
    return in_place(parsed(template), here(), parts)


def in_place(
    expression: nodes.Expression, place: Span, parts: Mapping[str, nodes.Expression] | None = None
) -> nodes.Expression:
    """Return an expression that is all at one place.

    Args:
        expression: The expression.
        place: The place.
        parts: What stands for names in it.
    """
    given = parts or {}

    def visited(node: nodes.Node) -> nodes.Node:
        if isinstance(node, nodes.Identifier):
            return given.get(node.names[0]) or nodes.replace(node, span=place)
        changes: dict[str, Any] = {"span": place}
        for each in type(node).node_fields:
            value = getattr(node, each.name)
            if isinstance(value, nodes.Node):
                changes[each.name] = visited(value)
            elif isinstance(value, tuple):
                changes[each.name] = tuple(visited(one) if isinstance(one, nodes.Node) else one for one in value)
        return nodes.replace(node, **changes)

    found = visited(expression)
    assert isinstance(found, nodes.Expression)
    return found


def literal(value: Any) -> nodes.Expression:
    """Return a Python value as a literal.

    Raises:
        ArgumentTypeError: The value has no SQL literal.
    """
    return nodes.replace(parsed(literal_text(value)), span=here())
