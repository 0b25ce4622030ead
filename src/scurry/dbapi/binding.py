"""Parameters of statements: each `?` becomes a literal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scurry.dbapi.exceptions import ProgrammingError
from scurry.errors import ArgumentTypeError
from scurry.sql.syntax.lexer import Tokens, tokenize
from scurry.sql.values.literals import literal_text

#: Maximum rows of one INSERT that `executemany` makes of many.
ROWS_PER_INSERT = 1000


def bound(statement: str, parameters: Sequence[Any]) -> str:
    """Return a statement with literals for its parameters.

    Raises:
        ProgrammingError: There are more or fewer parameters than question marks, or a value has no literal.
    """
    tokens = tokenize(statement)
    return _filled(tokens, _marks(tokens), parameters, 0, len(statement))


def bound_together(statement: str, rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the statements that insert many rows, of which many are in one; else a statement for each row.

    Raises:
        ProgrammingError: As in `bound`.
    """
    tokens = tokenize(statement)
    marks, group = _marks(tokens), _values_group(tokens)
    if group is None or any(tokens.starts[mark] < group[0] for mark in marks):
        yield from (_filled(tokens, marks, row, 0, len(statement)) for row in rows)
        return
    for first in range(0, len(rows), ROWS_PER_INSERT):
        some = rows[first : first + ROWS_PER_INSERT]
        yield statement[: group[0]] + ", ".join(_filled(tokens, marks, row, *group) for row in some)


def _filled(tokens: Tokens, marks: Sequence[int], parameters: Sequence[Any], start: int, end: int) -> str:
    if isinstance(parameters, Mapping | str | bytes) or not isinstance(parameters, Sequence):
        raise ProgrammingError(
            f"parameters are a sequence, one for each '?' of the statement, got {type(parameters).__name__}: pass a "
            "tuple or a list"
        )
    if len(parameters) != len(marks):
        raise ProgrammingError(f"the statement has {len(marks)} '?', but there are {len(parameters)} parameters")
    parts = []
    for number, (mark, value) in enumerate(zip(marks, parameters, strict=True), 1):
        parts += [tokens.text[start : tokens.starts[mark]], _literal(value, number)]
        start = tokens.ends[mark]
    return "".join([*parts, tokens.text[start:end]])


def _literal(value: Any, number: int) -> str:
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    try:
        return literal_text(value)
    except ArgumentTypeError:
        raise ProgrammingError(
            f"parameter {number} is a {type(value).__name__}, which has no SQL literal: pass None, a number, a text, "
            "bytes, or a value of datetime; write ARRAY[?, ?], MAP[?, ?] or ROW(?, ?) for others"
        ) from None


def _marks(tokens: Tokens) -> list[int]:
    """Return the tokens that stand for parameters: all `?` but the quantifiers of patterns."""
    found, keys = [], tokens.keys
    index = 0
    while index < len(keys):
        if keys[index] == "PATTERN" and keys[index + 1] == "(":
            index = _closing(keys, index + 1)
        elif keys[index] == "?":
            found.append(index)
        index += 1
    return found


def _values_group(tokens: Tokens) -> tuple[int, int] | None:
    """Return start and end of the only row of `INSERT ... VALUES (...)`, None for other statements."""
    keys = tokens.keys
    if keys[0] != "INSERT" or "VALUES" not in keys:
        return None
    first = keys.index("VALUES") + 1
    if keys[first] != "(":
        return None
    last = _closing(keys, first)
    rest = [key for key in keys[last + 1 :] if key != ";"]
    return (tokens.starts[first], tokens.ends[last]) if len(rest) == 1 else None


def _closing(keys: Sequence[str], opening: int) -> int:
    """Return the position of the bracket that closes another one, or of the end."""
    depth = 0
    for index in range(opening, len(keys)):
        depth += (keys[index] == "(") - (keys[index] == ")")
        if depth == 0:
            return index
    return len(keys) - 1
