"""Arrays as PostgreSQL writes them, such as `{1,NULL,"a,b"}`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def parse_array(text: str, read: Callable[[str], Any]) -> list[Any]:
    """Return the elements of an array; one of several dimensions is a list of lists.

    Args:
        text: The array.
        read: Makes a value of the text of an element.

    Raises:
        ValueError: It is no array.
    """
    begin = text.index("{")  # behind bounds, such as [0:1]={1,2}
    found, end = _elements(text, begin + 1, read)
    if end != len(text):
        raise ValueError(text)
    return found


def _elements(text: str, at: int, read: Callable[[str], Any]) -> tuple[list[Any], int]:
    found: list[Any] = []
    while text[at] != "}":
        if text[at] == ",":
            at += 1
        elif text[at] == "{":
            inner, at = _elements(text, at + 1, read)
            found.append(inner)
        elif text[at] == '"':
            element, at = _quoted(text, at + 1)
            found.append(read(element))
        else:
            end = at
            while text[end] not in ",}":
                end += 1
            element, at = text[at:end], end
            found.append(None if element == "NULL" else read(element))
    return found, at + 1


def _quoted(text: str, at: int) -> tuple[str, int]:
    parts = []
    while text[at] != '"':
        at += text[at] == "\\"
        parts.append(text[at])
        at += 1
    return "".join(parts), at + 1
