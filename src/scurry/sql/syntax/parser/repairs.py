"""Hints for statements that cannot be parsed: small changes after which they can be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from scurry.errors import SqlParserEOFError, SqlParserError
from scurry.errors.suggestions import similar_names
from scurry.sql.syntax.keywords import KEYWORDS, RESERVED
from scurry.sql.syntax.lexer import END, IDENTIFIER, IDENTIFIER_KEYS, STRING, Tokens
from scurry.sql.syntax.span import Span

#: A longer text is not parsed again and again.
_MOST_TOKENS = 5000
_MOST_ATTEMPTS = 24
#: Number of tokens before the faulty one that may be misspelt, and their least similarity to a keyword.
_TOKENS_BEFORE = 3
_SIMILAR = 0.75
#: A change is a hint if the parser comes so many tokens further.
_FURTHER = 2

#: Openings without an end, and quotes that SQL does not have.
_QUOTES = {
    '"': "names are written between backticks, `name`, and texts in single quotes, 'text'",
    "'": "nothing ends the text that begins here; a single quote within a text is written twice, 'it''s'",
    "`": "nothing ends the name that begins here",
}

Parse = Callable[[Tokens], object]


def _offset_of(text: str, error: SqlParserError) -> int:
    begin = 0
    for _ in range(error.line - 1):
        begin = text.find("\n", begin) + 1
    return min(begin + max(error.column - 1, 0), len(text))


def span_of_failure(tokens: Tokens, error: SqlParserError) -> Span:
    return _span(tokens, _index_at(tokens, _offset_of(tokens.text, error)))


def hint_for(tokens: Tokens, error: SqlParserError, parse: Parse) -> tuple[str, Span] | None:
    """Return the probable correction and the faulty span; None if no small correction makes a valid statement.

    Args:
        tokens: The tokens of the text.
        error: Why it cannot be parsed.
        parse: Parses tokens, or raises a SqlParserError.
    """
    if len(tokens.starts) > _MOST_TOKENS:
        return None
    failed = _failed(tokens, error)
    image = _image(tokens, failed)
    if image in _QUOTES:
        return _QUOTES[image], _span(tokens, failed)
    best, found = failed + _FURTHER - 1, None
    for change in itertools.islice(_changes(tokens, failed), _MOST_ATTEMPTS):
        try:
            parse(change.tokens)
        except SqlParserError as other:
            reached = _failed(change.tokens, other) - change.added
        except RecursionError:
            continue
        else:
            return change.hint, _span(tokens, change.at)
        if reached > best:
            best, found = reached, (change.hint, _span(tokens, change.at))
    if found is None and failed >= len(tokens.starts) - 2:
        return "the statement ends too early", _span(tokens, failed)
    return found


class _Change(NamedTuple):
    """Changed tokens, how many are more, the hint, and the token that is wrong."""

    tokens: Tokens
    added: int
    hint: str
    at: int


def _changes(tokens: Tokens, failed: int) -> Iterator[_Change]:
    """Yield changes, the likeliest first."""
    keys, image = tokens.keys, _image(tokens, failed)
    if keys[failed] in RESERVED:
        hint = f"{image.upper()} is a keyword: as a name it is written between backticks, `{image}`"
        yield _Change(_replaced(tokens, failed, IDENTIFIER), 0, hint, failed)
    first = min(failed + (failed == 0), len(tokens.starts) - 1)  # SHOW TABELS: Flink names the first word
    for index in range(first, max(failed - _TOKENS_BEFORE, 0) - 1, -1):
        if keys[index] == IDENTIFIER or (index == failed and keys[index] in RESERVED):
            yield from _other_keywords(tokens, index)
    if failed > 0 and keys[failed - 1] == ",":
        yield _Change(_removed(tokens, failed - 1), -1, "the comma is one too many", failed - 1)
    for index in (failed, failed + 1):
        if 0 < index < len(keys) and keys[index] != END:
            hint = f"is a comma missing before {_image(tokens, index)}?"
            yield _Change(_inserted(tokens, index, ","), 1, hint, index)
    if keys[failed] in IDENTIFIER_KEYS:
        yield _Change(_replaced(tokens, failed, STRING), 0, f"texts are written in single quotes: '{image}'", failed)
    yield _Change(_inserted(tokens, failed, ")"), 1, "is a closing parenthesis missing?", failed)
    if failed > 0 and keys[failed - 1] in KEYWORDS:
        yield _Change(
            _removed(tokens, failed - 1), -1, f"{_image(tokens, failed - 1)} is one word too many", failed - 1
        )


def _other_keywords(tokens: Tokens, index: int) -> Iterator[_Change]:
    image = _image(tokens, index)
    others = (keyword for keyword in _LONG_KEYWORDS if keyword != image.upper())
    for keyword in similar_names(image, others, _SIMILAR, most=4):
        hint = f"did you mean '{keyword}' instead of '{image}'?"
        yield _Change(_replaced(tokens, index, keyword), 0, hint, index)


_LONG_KEYWORDS = sorted(keyword for keyword in KEYWORDS if len(keyword) > 2)


def _failed(tokens: Tokens, error: SqlParserError) -> int:
    """Return the token that an error names; a text that ends too early fails at its end."""
    if isinstance(error, SqlParserEOFError):
        return len(tokens.starts) - 1
    return _index_at(tokens, _offset_of(tokens.text, error))


def _image(tokens: Tokens, index: int) -> str:
    return tokens.text[tokens.starts[index] : tokens.ends[index]]


def _span(tokens: Tokens, index: int) -> Span:
    if tokens.keys[index] == END:
        return Span(tokens.text, max(len(tokens.text) - 1, 0), len(tokens.text))
    return Span(tokens.text, tokens.starts[index], tokens.ends[index])


def _index_at(tokens: Tokens, offset: int) -> int:
    """Return the token at an offset, or the first one after it."""
    return next((index for index, end in enumerate(tokens.ends) if end > offset), len(tokens.ends) - 1)


def _copy(tokens: Tokens) -> Tokens:
    count = len(tokens.starts)  # a parser has appended ends of the text to the keys
    return Tokens(tokens.text, tokens.keys[:count], list(tokens.starts), list(tokens.ends))


def _replaced(tokens: Tokens, index: int, key: str) -> Tokens:
    copy = _copy(tokens)
    copy.keys[index] = key
    return copy


def _inserted(tokens: Tokens, index: int, key: str) -> Tokens:
    copy = _copy(tokens)
    copy.keys.insert(index, key)
    copy.starts.insert(index, tokens.starts[index])
    copy.ends.insert(index, tokens.starts[index])
    return copy


def _removed(tokens: Tokens, index: int) -> Tokens:
    copy = _copy(tokens)
    for each in (copy.keys, copy.starts, copy.ends):
        del each[index]
    return copy
