"""Split texts where quotes and parentheses do not enclose the separator."""

from __future__ import annotations


def split_outside(text: str, separator: str, quotes: str) -> list[str]:
    """Return the parts of a text between separators outside of quotes, parentheses and brackets.

    Args:
        quotes: The characters that begin and end a quoted text.
    """
    parts, depth, quote, start = [], 0, "", 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in quotes:
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif not depth and text.startswith(separator, place):
            parts.append(text[start:place])
            start = place + len(separator)
    return [*parts, text[start:]]
