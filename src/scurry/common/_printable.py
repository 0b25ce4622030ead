"""Texts that are safe to print: data, names and errors may contain commands of terminals."""

from __future__ import annotations

import re

# Control characters of ASCII and Latin-1, what changes the direction of a text, and halves of characters, which cannot
# be encoded. Terminals execute what begins with ESC, or with U+009B.
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXTS = re.compile(f"[{_UNSAFE}]")
_IN_LINES = re.compile(f"[\t\n\u2028\u2029{_UNSAFE}]")


def printable(text: str) -> str:
    r"""Return a text whose control characters are shown (`\x1b`) instead of executed; lines and tabs stay."""
    return text if text.isprintable() else _IN_TEXTS.sub(_shown, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    r"""Return a text as one line: as `printable`, and line breaks and tabs are shown, too (`\n`)."""
    return text if text.isprintable() else _IN_LINES.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
