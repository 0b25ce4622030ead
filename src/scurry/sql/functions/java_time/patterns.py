"""Patterns of dates and times, as sequences of tokens."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scurry.errors import EvaluationError

MONTHS: Final = tuple("January February March April May June July August September October November December".split())

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(\[|\])|([^A-Za-z'\[\]])", re.DOTALL)

_LETTERS: Final = "GuyDMLdQqYwWEecFahKkHmsSAnNVzOXxZv"

_SIMPLE_LETTERS: Final = "GyYMLwWDdFEuaHkKhmsSzZX"

#: Maximum repetitions of a letter; those of years are minimum widths.
_MOST: Final = (
    dict.fromkeys("uyYnNA", 19)
    | dict.fromkeys("MLGEecQqZXx", 5)
    | dict.fromkeys("dHhKkmsw", 2)
    | dict.fromkeys("aWF", 1)
    | {"D": 3}
)

Token = tuple[str, int] | str


@lru_cache(maxsize=256)
def tokens(pattern: str, simple: bool = False) -> tuple[Token, ...]:
    """Return the parts of a pattern: letters with how often they stand, and other text.

    Raises:
        EvaluationError: A letter has no meaning, or a quote is not closed.
    """
    found: list[Token] = []
    at = 0
    while at < len(pattern):
        match = _TOKEN.match(pattern, at)
        if match is None:
            raise EvaluationError(f"Pattern ends with an incomplete string literal: {pattern}")
        quoted, letter, bracket, other = match.groups()
        if quoted is not None:
            found.append(quoted.replace("''", "'") or "'")
        elif letter is not None:
            if simple and letter not in _SIMPLE_LETTERS:
                raise EvaluationError(f"Illegal pattern character '{letter}'")
            if not simple:
                _check_letter(letter, len(match[0]))
            found.append((letter, len(match[0])))
        else:
            if not simple and other in ("{", "}", "#"):
                raise EvaluationError(f"Pattern includes reserved character: '{other}'")
            found.append((bracket, 0) if bracket and not simple else bracket or other)
        at = match.end()
    return tuple(found)


def _check_letter(letter: str, count: int) -> None:
    if letter not in _LETTERS:
        raise EvaluationError(f"Unknown pattern letter: {letter}")
    if letter == "c" and count == 2:
        raise EvaluationError('Invalid pattern "cc"')
    most = _MOST.get(letter, count)
    if count > most and most == 19:
        raise EvaluationError(f"The minimum width must be from 1 to 19 inclusive but was {count}")
    if count > most:
        raise EvaluationError(f"Too many pattern letters: {letter}")
