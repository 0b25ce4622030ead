"""Regular expressions as Java's `Pattern` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from scurry.common._java_regex.translator import translated
from scurry.errors import EvaluationError


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a Java regular expression.

    Raises:
        EvaluationError: The expression is malformed.
    """
    try:
        return re.compile(translated(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise EvaluationError(f"Invalid regular expression '{pattern}': {error}") from error


def tried(pattern: str) -> re.Pattern[str] | None:
    """Return the pattern of a Java regular expression, None if that is malformed."""
    try:
        return compiled(pattern)
    except EvaluationError:
        return None


def matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Iterate over the matches as `Matcher.find`: one without characters is followed by the next character.

    Python's `finditer` looks for a match with characters in the same place.
    """
    at = 0
    while at <= len(text) and (match := pattern.search(text, at)) is not None:
        yield match
        at = match.end() + (match.start() == match.end())


def replaced(pattern: re.Pattern[str], text: str, replacement: str) -> str:
    """Return the text with another one, which is taken literally, in place of each match."""
    parts, at = [], 0
    for match in matches(pattern, text):
        parts += [text[at : match.start()], replacement]
        at = match.end()
    return "".join([*parts, text[at:]])


def split_java(pattern: re.Pattern[str], text: str, limit: int = 0) -> list[str]:
    """Split a text as `String.split` does: empty parts at the end are left out, unless there is a limit.

    Args:
        pattern: What separates the parts.
        text: The text.
        limit: The greatest number of parts; 0 for any.
    """
    parts: list[str] = []
    start = 0
    for found in matches(pattern, text):
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
