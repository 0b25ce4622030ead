"""Regular expressions as Java's `Pattern` reads them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scurry.errors import EvaluationError

__all__ = ["compiled", "split_java", "tried"]

_CLASSES: Final = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": r"\x00-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": r" \t\n\x0b\f\r",
    "IsAlphabetic": r"^\W\d_",
    "L": "a-zA-Z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u1fff\u3040-\ud7ff\uf900-\uffdc",
    "N": r"\d",
}
_ESCAPES: Final = {
    "h": r"[ \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]",
    "R": r"(?:\r\n|[\n-\r\x85\u2028\u2029])",
}


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a Java regular expression.

    Raises:
        EvaluationError: The expression is malformed.
    """
    try:
        return re.compile(_translated(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise EvaluationError(f"Invalid regular expression '{pattern}': {error}") from error


def tried(pattern: str) -> re.Pattern[str] | None:
    """Return the pattern of a Java regular expression, None if that is malformed."""
    try:
        return compiled(pattern)
    except EvaluationError:
        return None


def _translated(pattern: str) -> str:
    found, at, in_class = [], 0, 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\" and at + 1 < len(pattern):
            text, at = _escape(pattern, at, in_class > 0)
            found.append(text)
            continue
        if character == "[":
            in_class += 1
            character = "\\[" if in_class > 1 else character
        elif character == "]" and in_class:
            in_class -= 1
            character = "" if in_class else character
        elif pattern.startswith("(?<", at) and pattern[at + 3 : at + 4] not in ("=", "!"):
            found.append("(?P<")
            at += 3
            continue
        found.append(character)
        at += 1
    return "".join(found)


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    """Return the translation of an escape, and the place after it."""
    kind = pattern[at + 1]
    if kind in "pP":
        end = pattern.find("}", at) if pattern[at + 2 : at + 3] == "{" else at + 2
        name = pattern[at + 3 : end] if pattern[at + 2 : at + 3] == "{" else pattern[at + 2]
        members = _CLASSES.get(name.removeprefix("Is") if name not in _CLASSES else name)
        if members is None:
            raise EvaluationError(f"Unknown character property name {{{name}}}")
        if in_class:
            return members, end + 1
        return f"[{'^' if kind == 'P' else ''}{members}]", end + 1
    if kind == "Q":
        end = pattern.find("\\E", at)
        quoted = pattern[at + 2 : end if end >= 0 else len(pattern)]
        return re.escape(quoted), end + 2 if end >= 0 else len(pattern)
    if kind == "k" and pattern[at + 2 : at + 3] == "<":
        end = pattern.find(">", at)
        return f"(?P={pattern[at + 3 : end]})", end + 1
    if kind == "z":
        return r"\Z", at + 2
    if kind == "Z":
        return r"(?=\n?\Z)", at + 2
    if kind in _ESCAPES and not in_class:
        return _ESCAPES[kind], at + 2
    if not kind.isalnum():
        return re.escape(kind), at + 2
    return pattern[at : at + 2], at + 2


def split_java(pattern: re.Pattern[str], text: str, limit: int = 0) -> list[str]:
    """Split a text as `String.split` does: empty parts at the end are left out, unless there is a limit.

    Args:
        pattern: What separates the parts.
        text: The text.
        limit: The greatest number of parts; 0 for any.
    """
    parts: list[str] = []
    start = 0
    for found in pattern.finditer(text):
        if limit and len(parts) == limit - 1:
            break
        if found.end() == 0 or (
            found.end() == found.start() and found.start() in (start, len(text)) and start == found.start()
        ):
            continue
        parts.append(text[start : found.start()])
        start = found.end()
    parts.append(text[start:])
    if not limit:
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
    return parts
