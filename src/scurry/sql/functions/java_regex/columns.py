"""Java's regular expressions that RE2, Arrow's engine, reads as Java does: their groups are found over columns."""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from scurry.common._java_regex.patterns import tried

_GROUP = "g"

#: A character that stands for itself, or a class of such characters and ranges, perhaps repeated; the beginning of the
#: text; a group, which is not repeated; or alternatives. What differs is left out: `.` and `$` know Java's ends of
#: lines, escapes and classes have Java's alphabets, and repeated groups keep other matches.
_TOKEN = re.compile(
    r"(?:[A-Za-z0-9 _=&/:;,%@!~#'\"<>-]|\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9 _=/:;,%@!~#'\"<>.+*?|()]|&(?!&))+\])"
    r"(?:[*+?]\??)?|\^(?![*+?])|\((?!\?)|\)(?![*+?{])|\|"
)


@lru_cache(256)
def pattern_of_group(pattern: str, group: int = 0) -> str | None:
    """Return a pattern of RE2 whose only group is one of a pattern of Java; None if they might differ.

    Args:
        pattern: The pattern.
        group: The number of the group, 0 for the whole match. It is one that each match has.
    """
    found, at, depth, number = [], 0, 0, 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        text, at = token[0], token.end()
        if text == "(":
            number += 1
            if number == group and depth:
                return None
            found.append(f"(?P<{_GROUP}>" if number == group else "(?:")
            depth += 1
            continue
        if text == ")":
            depth -= 1
        elif text == "|" and not depth and group:
            return None
        if depth < 0:
            return None
        found.append(text)
    if depth or not 0 <= group <= number or tried(pattern) is None:
        return None
    whole = "".join(found)
    return whole if group else f"(?P<{_GROUP}>{whole})"


def extracted(texts: pa.Array, pattern: str) -> pa.Array:
    """Return the group of the first match in each text, NULL without one.

    Args:
        texts: The texts.
        pattern: What `pattern_of_group` returns.
    """
    return pc.struct_field(pc.extract_regex(texts, pattern), [0])
