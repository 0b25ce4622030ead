"""REGEXP and its like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from scurry.common._java_regex.patterns import matches, replaced, tried
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction
from scurry.sql.functions.kernels import by_value, value_kernel
from scurry.sql.functions.scalar.strings import utf16_length
from scurry.sql.functions.signatures import always, if_any_nullable, signature
from scurry.sql.types import ArrayType, DataType
from scurry.sql.types.families import BOOLEAN, CHARACTER, INT, INTEGER, STRING
from scurry.sql.types.values import to_value

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
        pattern: What `pattern_of_group` returns.
    """
    return pc.struct_field(pc.extract_regex(texts, pattern), [0])


def regexp(text: str, pattern: str) -> bool:
    """REGEXP: whether a part of the text matches; FALSE of an empty or malformed pattern."""
    found = tried(pattern) if pattern else None
    return found is not None and found.search(text) is not None


def regexp_replace(text: str, pattern: str, replacement: str) -> str | None:
    """REGEXP_REPLACE: the text with every match replaced by a text that is taken literally."""
    found = tried(pattern)
    return None if found is None else replaced(found, text, replacement)


def regexp_extract(text: str, pattern: str, group: int = 0) -> str | None:
    """REGEXP_EXTRACT: a group of the first match."""
    found = tried(pattern)
    match = found.search(text) if found is not None else None
    group = INT.wrapped(group)
    return match[group] if match is not None and 0 <= group <= match.re.groups else None


def regexp_extract_all(text: str, pattern: str, group: int = 1) -> list[str | None] | None:
    """REGEXP_EXTRACT_ALL: a group of every match."""
    found = tried(pattern)
    if found is None or not 0 <= group <= found.groups:
        return None
    return [match[group] for match in matches(found, text)]


def regexp_count(text: str, pattern: str) -> int | None:
    """REGEXP_COUNT: the number of matches."""
    found = tried(pattern)
    return None if found is None else sum(1 for _ in matches(found, text))


def regexp_instr(text: str, pattern: str) -> int | None:
    """REGEXP_INSTR: the position of the first match, from 1; 0 without a match."""
    found = tried(pattern)
    if found is None:
        return None
    match = found.search(text)
    return 0 if match is None else utf16_length(text[: match.start()]) + 1


def regexp_substr(text: str, pattern: str) -> str | None:
    """REGEXP_SUBSTR: the first match."""
    return regexp_extract(text, pattern)


def _bind_extract(site: CallSite, result_type: DataType) -> Kernel:
    by_row = value_kernel(regexp_extract, result_type)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        texts, *constants = columns
        is_constant = all(isinstance(each, pa.Scalar) and each.is_valid for each in constants)
        if not is_constant or isinstance(texts, pa.Scalar) or not pa.types.is_string(texts.type):
            return by_row(columns, rows)
        pattern = pattern_of_group(*map(to_value, constants))
        return by_row(columns, rows) if pattern is None else extracted(texts, pattern)

    return kernel


_TWO = (CHARACTER, CHARACTER)

FUNCTIONS = (
    ScalarFunction("REGEXP", signature(_TWO, if_any_nullable(BOOLEAN)), by_value(regexp)),
    ScalarFunction("REGEXP_REPLACE", signature([*_TWO, CHARACTER], if_any_nullable(STRING)), by_value(regexp_replace)),
    ScalarFunction("REGEXP_EXTRACT", signature([*_TWO, INTEGER], always(STRING), optional=1), _bind_extract),
    ScalarFunction(
        "REGEXP_EXTRACT_ALL",
        signature([*_TWO, INTEGER], always(ArrayType(STRING)), optional=1),
        by_value(regexp_extract_all),
    ),
    ScalarFunction("REGEXP_COUNT", signature(_TWO, always(INT)), by_value(regexp_count)),
    ScalarFunction("REGEXP_INSTR", signature(_TWO, always(INT)), by_value(regexp_instr)),
    ScalarFunction("REGEXP_SUBSTR", signature(_TWO, always(STRING)), by_value(regexp_substr)),
)
