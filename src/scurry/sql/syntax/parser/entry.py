"""The entry points of the parser: one statement, or a script of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from scurry.common.recursion import deep_recursion
from scurry.errors import SqlParserError
from scurry.sql.syntax.keywords import KEYWORDS
from scurry.sql.syntax.lexer import END, IDENTIFIER, Tokens, tokenize
from scurry.sql.syntax.nodes import Expression, Identifier, Select, SelectItem, Statement
from scurry.sql.syntax.parser.operators import parse_operation
from scurry.sql.syntax.parser.parser import Parser, Recursion
from scurry.sql.syntax.parser.repairs import hint_for, span_of_failure
from scurry.sql.syntax.parser.select import parse_select
from scurry.sql.syntax.parser.statements import parse_statement
from scurry.sql.syntax.places import place_of

T = TypeVar("T")

_RECURSION = Recursion(parse_operation, parse_select)


@deep_recursion()
def parse(text: str) -> Statement:
    """Parse a statement, which a semicolon may end.

    Returns:
        Its syntax tree.

    Raises:
        SqlParserError: The text is no statement of Flink's dialect; says where and, in Flink's words, why.
        SqlParserEOFError: The statement is not complete.
    """
    return _explaining(text, _single)


def _single(tokens: Tokens) -> Statement:
    parser = Parser(tokens, _RECURSION)
    statement = _statement(parser)
    while parser.accept(";"):
        pass
    if not parser.at(END):
        parser.fail()
    return statement


@deep_recursion()
def parse_statements(text: str) -> list[Statement]:
    """Parse a script: statements that semicolons separate, with settings as clients take them (`SET key = value;`).

    Semicolons in strings, names and comments separate nothing, nor do those between BEGIN and END of a statement set.

    Returns:
        The statements in their order; none if there are only comments.

    Raises:
        SqlParserError: One of them is no statement of Flink's dialect; line and column are those of the script.
    """
    return _explaining(text, _script)


def _script(tokens: Tokens) -> list[Statement]:
    parser = Parser(tokens, _RECURSION, for_clients=True)
    statements: list[Statement] = []
    while True:
        while parser.accept(";"):
            pass
        if parser.at(END):
            return statements
        parser.parameters = 0
        statements.append(_statement(parser))
        if not parser.at(";") and not parser.at(END):
            parser.fail()


def parse_path(text: str) -> Identifier:
    """Parse a name as the Table API takes it: keywords are names there, without backticks.

    Args:
        text: The name, with its qualifiers.

    Raises:
        SqlParserError: The text is no name; says where.
    """
    tokens = tokenize(text)
    keys = [IDENTIFIER if key in KEYWORDS else key for key in tokens.keys]
    parser = Parser(tokens._replace(keys=keys), _RECURSION)
    name = parser.compound_name()
    if not parser.at(END):
        parser.fail()
    return name


def _explaining(text: str, parse: Callable[[Tokens], T]) -> T:
    """Parse a text; give the error its position in it, and a hint."""
    tokens = tokenize(text)
    try:
        return parse(tokens)
    except SqlParserError as error:
        hint, span = hint_for(tokens, error, parse) or ("", error.span or span_of_failure(tokens, error))
        error.statement = place_of(span)
        error.with_hint(hint)
        raise


def _statement(parser: Parser) -> Statement:
    try:
        return parse_statement(parser)
    except RecursionError:
        message = "The statement is nested too deeply; split it into views."
        line, column = parser.place(min(parser.position, len(parser.tokens.starts) - 1))
        raise SqlParserError(f"SQL parse failed. {message}", line, column) from None


def parse_expression(text: str) -> Expression:
    """Return the expression of a text such as `a + 1`."""
    query = parse(f"SELECT {text}")
    assert isinstance(query, Select)
    item = query.items[0]
    assert isinstance(item, SelectItem)
    return item.expression
