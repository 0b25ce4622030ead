"""The state of a parser: its position among the tokens, and the errors of unexpected ones."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple, NoReturn, TypeVar

from scurry.errors import SqlParserEOFError, SqlParserError
from scurry.sql.syntax.keywords import KEYWORDS
from scurry.sql.syntax.lexer import (
    END,
    IDENTIFIER_KEYS,
    LEXICAL_ERROR,
    QUOTED_IDENTIFIER,
    STRING,
    UNTERMINATED_COMMENT,
    Tokens,
)
from scurry.sql.syntax.nodes import Expression, Identifier, Select
from scurry.sql.syntax.span import Span, line_and_column

T = TypeVar("T")

_LARGEST_INTEGER = (1 << 31) - 1
# The longest name that Flink's parser takes.
MAX_NAME_LENGTH = 256


class Context(enum.Enum):
    """Kinds of expressions that a position allows; the names are those of Calcite's parser."""

    ALL = 0
    NONCURSOR = 1
    QUERY = 2
    NON_QUERY = 3
    # A query only in parentheses of its own.
    SUB_QUERY = 4
    CURSOR = 5

    def in_parentheses(self) -> Context:
        """Return the context in parentheses at such a position."""
        if self is Context.SUB_QUERY:
            return Context.NONCURSOR
        return Context.ALL if self is Context.CURSOR else self

    @property
    def takes_query(self) -> bool:
        """Return whether a query may stand here without parentheses."""
        return self not in (Context.NON_QUERY, Context.SUB_QUERY, Context.CURSOR)


class Recursion(NamedTuple):
    """The rules that other rules below them call.

    Attributes:
        operation: Parses operators that bind more tightly than a strength, with their operands.
        select: Parses SELECT, whose keyword is the next token.
    """

    operation: Callable[[Parser, Context, int], Expression]
    select: Callable[[Parser], Select]


class Parser:
    """Tokens and a position among them.

    Attributes:
        keys: What each token is; see ``Tokens``.
        position: Index of the next token.
        name_tried_at: Index of the last token where a name would have been accepted.
        looked_ahead_at: Index of the last token that was refused because of the one after it.
        join_at: Index of the keyword JOIN of the last join.
        parameters: Number of dynamic parameters so far.
        for_clients: Whether settings may be without quotes.
    """

    def __init__(self, tokens: Tokens, recursion: Recursion, for_clients: bool = False) -> None:
        self.for_clients = for_clients
        self._parse_operation, self._parse_select = recursion
        self.tokens = tokens
        self.keys = tokens.keys
        self.position = 0
        self.name_tried_at = -1
        self.looked_ahead_at = -1
        self.join_at = -1
        self.parameters = 0
        # Looking ahead reads past the end.
        self.keys += [END] * 4

    def at(self, key: str) -> bool:
        """Return whether the next token is this one."""
        return self.keys[self.position] == key

    def at_all(self, *keys: str) -> bool:
        """Return whether the next tokens are these."""
        position = self.position
        return self.keys[position : position + len(keys)] == list(keys)

    def at_name(self) -> bool:
        """Return whether the next token can be a name."""
        self.name_tried_at = self.position
        return self.keys[self.position] in IDENTIFIER_KEYS

    def accept(self, key: str) -> bool:
        """Go past the next token if it is this one."""
        if self.keys[self.position] == key:
            self.position += 1
            return True
        return False

    def accept_all(self, *keys: str) -> bool:
        """Go past the next tokens if they are these."""
        if self.at_all(*keys):
            self.position += len(keys)
            return True
        return False

    def accept_any(self, *keys: str) -> str | None:
        """Go past the next token if it is one of these, and return it."""
        key = self.keys[self.position]
        if key in keys:
            self.position += 1
            return key
        return None

    def expect(self, *keys: str) -> None:
        """Go past the next tokens, which have to be these."""
        for key in keys:
            if self.keys[self.position] != key:
                self.fail()
            self.position += 1

    def expect_any(self, *keys: str) -> str:
        """Go past the next token, which has to be one of these, and return it."""
        key = self.keys[self.position]
        if key not in keys:
            self.fail()
        self.position += 1
        return key

    def image(self, position: int) -> str:
        """Return a token as it is written."""
        tokens = self.tokens
        if position >= len(tokens.starts):
            return ""
        return tokens.text[tokens.starts[position] : tokens.ends[position]]

    def span_from(self, start: int) -> Span:
        """Return the span from a token to the last one that was read."""
        tokens = self.tokens
        return Span(tokens.text, tokens.starts[start], tokens.ends[max(self.position - 1, start)])

    def span_of(self, position: int) -> Span:
        return Span(self.tokens.text, self.tokens.starts[position], self.tokens.ends[position])

    def span_since(self, start: Span) -> Span:
        """Return the span from the start of another to the last token that was read."""
        return Span(start.text, start.start, self.tokens.ends[self.position - 1])

    def expression(self, context: Context = Context.SUB_QUERY) -> Expression:
        """Parse an expression.

        Args:
            context: Whether a query may stand here as well.

        Returns:
            The expression; a query in parentheses is a ``Subquery``.
        """
        return self._parse_operation(self, context, 0)

    def select(self) -> Select:
        """Parse SELECT, whose keyword is the next token."""
        return self._parse_select(self)

    def comma_list(self, parse: Callable[[Parser], T]) -> tuple[T, ...]:
        """Parse one or more of something, separated by commas."""
        items = [parse(self)]
        while self.keys[self.position] == ",":
            self.position += 1
            items.append(parse(self))
        return tuple(items)

    def parenthesized_list(self, parse: Callable[[Parser], T]) -> tuple[T, ...]:
        """Parse one or more of something, separated by commas, in parentheses."""
        self.expect("(")
        items = self.comma_list(parse)
        self.expect(")")
        return items

    def alias(self) -> Identifier | None:
        """Parse `AS name` or `name`; return None if there is neither."""
        return self.name() if self.accept("AS") or self.at_name() else None

    def name(self) -> Identifier:
        position = self.position
        if self.keys[position] not in IDENTIFIER_KEYS:
            self.name_tried_at = position
            self.fail()
        self.position += 1
        quoted = self.keys[position] == QUOTED_IDENTIFIER
        image = self.image(position)
        value = image[1:-1].replace("``", "`") if quoted else image
        span = self.span_of(position)
        if len(value) > MAX_NAME_LENGTH:
            raise self.error_at(
                f"Length of identifier '{value}' must be less than or equal to {MAX_NAME_LENGTH} characters", span
            )
        return Identifier((value,), quoted=(quoted,), part_spans=(span,), span=span)

    def compound_name(self) -> Identifier:
        start = self.position
        parts = [self.name()]
        keys = self.keys
        while keys[self.position] == "." and keys[self.position + 1] in IDENTIFIER_KEYS:
            self.position += 1
            parts.append(self.name())
        if keys[self.position] == ".":
            self.looked_ahead_at = self.position
        if len(parts) == 1:
            return parts[0]
        return Identifier(
            tuple(part.names[0] for part in parts),
            quoted=tuple(part.quoted[0] for part in parts),
            part_spans=tuple(part.span for part in parts),
            span=self.span_from(start),
        )

    def names(self) -> tuple[Identifier, ...]:
        """Parse names of one part, in parentheses."""
        return self.parenthesized_list(Parser.name)

    def string(self) -> str:
        """Parse a string without prefix, which may not be continued by a second one."""
        if self.keys[self.position] != STRING:
            self.fail()
        self.position += 1
        return self.image(self.position - 1)[1:-1].replace("''", "'")

    def unsigned_integer(self) -> int:
        """Parse an integer without sign."""
        if self.keys[self.position] != "<UNSIGNED_INTEGER_LITERAL>":
            self.fail()
        self.position += 1
        value = self.image(self.position - 1)
        if int(value) > _LARGEST_INTEGER:
            message = f"Literal '{value}' can not be parsed to type 'INT'"
            raise SqlParserError(f"SQL parse failed. {message}", *self.place(self.position - 1))
        return int(value)

    def fail(self, tokens: int = 1) -> NoReturn:
        """Say that the next token cannot stand where it does.

        Args:
            tokens: How many tokens the parser has looked at: Flink names all of them.
        """
        position = self.position
        if self.looked_ahead_at == position:
            tokens = max(tokens, 2)
        self._fail_on_characters(position + tokens)
        line, column = self.place(position)
        image = self.image(position)
        if self.keys[position] == END:
            raise SqlParserEOFError(f'Encountered "<EOF>" at line {line}, column {column}.', line, column)
        # Flink compares the keyword as it is written with those in upper case.
        if image in KEYWORDS and self.name_tried_at == position:
            message = f"Incorrect syntax near the keyword '{image}' at line {line}, column {column}."
        else:
            message = f'Encountered "{self._images(position, tokens)}" at line {line}, column {column}.'
        raise SqlParserError(f"SQL parse failed. {message}", line, column)

    def _images(self, position: int, tokens: int) -> str:
        images = []
        for index in range(position, position + tokens):
            images.append("<EOF>" if self.keys[index] == END else _escaped(self.image(index)))
            if self.keys[index] == END:
                break
        return " ".join(images)

    def _fail_on_characters(self, end: int) -> None:
        """Report a character that begins no token, if the parser has come to see it."""
        for position in range(min(end, len(self.tokens.starts))):
            key = self.keys[position]
            if key == LEXICAL_ERROR or key == UNTERMINATED_COMMENT:
                self._fail_on_character(position)

    def _fail_on_character(self, position: int) -> NoReturn:
        text, start = self.tokens.text, self.tokens.starts[position]
        shown = text[start]
        # A quoted name, a comment, and the last character of all are found wanting at the end of the text.
        at_end = shown in "`/" or start == len(text) - 1
        line, column = line_and_column(text, len(text) - 1 if at_end else start)
        column += at_end
        found = "<EOF>" if at_end else f'"{_escaped(shown)}" ({ord(shown)}),'
        after = _escaped(text[start:]) if shown == "`" else ""
        message = f'Lexical error at line {line}, column {column}.  Encountered: {found} after : "{after}"'
        raise SqlParserError(f"SQL parse failed. {message}", line, column)

    def place(self, position: int) -> tuple[int, int]:
        """Return line and column of a token; the end of the text is where its last character is."""
        tokens = self.tokens
        if self.keys[position] != END:
            return line_and_column(tokens.text, tokens.starts[position])
        if not tokens.text:
            return 0, 0
        return line_and_column(tokens.text, len(tokens.text) - 1)

    def error_at(self, message: str, span: Span) -> SqlParserError:
        """Return an error about something that is said correctly, but not allowed."""
        error = SqlParserError(f"SQL parse failed. {message}", span.line, span.column)
        error.span = span
        return error

    def error_at_last(self, message: str) -> SqlParserError:
        """Return an error at the last token that was read."""
        return self.error_at(message, self.span_of(max(self.position - 1, 0)))


def _escaped(image: str) -> str:
    """Return a token as Flink's message shows it: with the escapes of Java."""
    for character, escape in (("\\", "\\\\"), ('"', '\\"'), ("'", "\\'"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        image = image.replace(character, escape)
    return image
