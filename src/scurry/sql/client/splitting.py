"""Splitting of texts into statements."""

from __future__ import annotations

from scurry._dataclasses import dataclass
from scurry.sql.syntax.lexer import END, UNTERMINATED_COMMENT, tokenize
from scurry.sql.syntax.span import line_and_column

#: Openings that are tokens of their own if nothing closes them.
_OPENING = ("'", "`")


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

    Semicolons in texts, names and comments end nothing, also if these are not closed; nor do those between BEGIN and
    END of `EXECUTE STATEMENT SET BEGIN ... END`.
    """
    tokens = tokenize(text)
    pieces: list[Piece] = []
    first: int | None = None
    in_set = is_open = False
    for index, key in enumerate(tokens.keys):
        if key == END or (key == ";" and not in_set and not is_open):
            if first is not None:
                start = tokens.starts[first]
                line = line_and_column(text, start)[0]
                pieces.append(Piece(text[start : tokens.ends[index - 1]], line, key == ";"))
            first, in_set = None, False
            continue
        first = index if first is None else first
        is_open = is_open or text[tokens.starts[index] : tokens.ends[index]] in _OPENING or key == UNTERMINATED_COMMENT
        if key == "BEGIN" and tokens.keys[max(index - 2, 0) : index] == ["STATEMENT", "SET"]:
            in_set = True
        elif key == "END" and in_set:
            in_set = False
    return pieces


def is_complete(text: str) -> bool:
    """Return whether a text that is being typed ends a statement."""
    pieces = split(text)
    return not pieces or pieces[-1].ended
