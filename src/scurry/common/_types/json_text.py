"""JSON strings as Jackson writes them."""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_IN_TEXTS: Final = re.compile(r'["\\\x00-\x1f]')
_IN_BYTES: Final = re.compile(r'["\\\x00-\x1f\U00010000-\U0010ffff]')


def quoted(text: str) -> str:
    """Return a text as a JSON string within a text."""
    return '"' + (_IN_TEXTS.sub(_escape, text) if _IN_TEXTS.search(text) else text) + '"'


def quoted_for_bytes(text: str) -> str:
    """Return a text as a JSON string of a message in UTF-8, where Jackson escapes characters beyond U+FFFF."""
    return '"' + (_IN_BYTES.sub(_escape, text) if _IN_BYTES.search(text) else text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _ESCAPES:
        return _ESCAPES[char]
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2))
