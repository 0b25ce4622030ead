"""Texts of several statements, one by one."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.sql.lexer import END, tokenize
from scurry.sql.span import line_and_column

__all__ = ["Piece", "is_complete", "split"]


@dataclass(frozen=True)
class Piece:
    """A statement of a text.

    Attributes:
        text: The statement, without the semicolon that ends it.
        line: The line of the text that it begins in, from 1.
        ended: Whether a semicolon ends it.
    """

    text: str
    line: int
    ended: bool


def split(text: str) -> list[Piece]:
    """Return the statements of a text.

    Semicolons in strings, names and comments end nothing, nor do those between BEGIN and END of
    `EXECUTE STATEMENT SET BEGIN ... END`.
    """
    tokens = tokenize(text)
    pieces: list[Piece] = []
    first: int | None = None
    in_set = False
    for index, key in enumerate(tokens.keys):
        if key in (";", END) and not (in_set and key == ";"):
            if first is not None:
                start = tokens.starts[first]
                line = line_and_column(text, start)[0]
                pieces.append(Piece(text[start : tokens.starts[index]].rstrip(), line, key == ";"))
            first, in_set = None, False
            continue
        first = index if first is None else first
        if key == "BEGIN" and tokens.keys[max(index - 2, 0) : index] == ["STATEMENT", "SET"]:
            in_set = True
        elif key == "END" and in_set:
            in_set = False
    return pieces


def is_complete(text: str) -> bool:
    """Say whether a text that is being typed ends a statement."""
    pieces = split(text)
    return not pieces or pieces[-1].ended
