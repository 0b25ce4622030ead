"""LIKE and SIMILAR TO."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature
from scurry.sql.functions.kernels import value_kernel
from scurry.sql.functions.signatures import Infer, refuse
from scurry.sql.types import DataType, NullType
from scurry.sql.types.families import BOOLEAN, CHARACTER

Pattern = Callable[[str, str | None], "re.Pattern[str]"]

_SIMILAR_CLASSES = {
    "[:ALPHA:]": "[a-zA-Z]",
    "[:alpha:]": "[a-zA-Z]",
    "[:UPPER:]": "[A-Z]",
    "[:upper:]": "[A-Z]",
    "[:LOWER:]": "[a-z]",
    "[:lower:]": "[a-z]",
    "[:DIGIT:]": r"\d",
    "[:digit:]": r"\d",
    "[:SPACE:]": " ",
    "[:space:]": " ",
    "[:WHITESPACE:]": r"\s",
    "[:whitespace:]": r"\s",
    "[:ALNUM:]": "[0-9a-zA-Z]",
    "[:alnum:]": "[0-9a-zA-Z]",
}
_SIMILAR_SPECIAL = "_%|*+?{}()[]^-"


@lru_cache(maxsize=256)
def like_pattern(pattern: str, escape: str | None = None) -> re.Pattern[str]:
    """Return the regular expression of a LIKE pattern.

    Raises:
        EvaluationError: The escape character is none, or escapes something that needs no escape.
    """
    _check_escape(escape)
    found: list[str | None] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in ("_", "%", escape):
                raise EvaluationError(f"Invalid escape sequence '{pattern}', {at - 1}")
            found.append(re.escape(pattern[at]))
        else:
            found.append({"_": ".", "%": None}.get(character, re.escape(character)))
        at += 1
    return re.compile(like_regex(found), re.DOTALL)


def like_regex(parts: Sequence[str | None]) -> str:
    """Return the regular expression of a LIKE pattern, for whole texts.

    What stands between two `%` is looked for once, from the left: the first place is as good as any later one, and to
    try those would take time that grows with a power of the text's length.

    Args:
        parts: The expressions of the pattern's characters; None for `%`.
    """
    segments, present = [""], False
    for part in parts:
        if part is None:
            present = True
            if segments[-1] or len(segments) == 1:
                segments.append("")
        else:
            segments[-1] += part
    first, *others = segments
    if not present:
        return first
    *middle, last = others
    return "".join([first, *(f"(?>.*?{segment})" for segment in middle), ".*", last])


@lru_cache(maxsize=256)
def similar_pattern(pattern: str, escape: str | None = None) -> re.Pattern[str]:
    """Return the regular expression of a SIMILAR TO pattern.

    Raises:
        EvaluationError: The pattern is malformed.
    """
    _check_escape(escape)
    found, at = [], 0
    while at < len(pattern):
        character = pattern[at]
        if character == escape:
            at += 1
            if at == len(pattern) or pattern[at] not in _SIMILAR_SPECIAL + escape:
                raise EvaluationError(f"Invalid escape sequence '{pattern}', {at - 1}")
            found.append(re.escape(pattern[at]))
        elif character == "[":
            end = pattern.find("]", at)
            if pattern[at : at + 3] == "[[:":
                end = pattern.find(":]]", at) + 2
            if end < at:
                raise EvaluationError(f"Invalid regular expression '{pattern}'")
            found.append(_character_set(pattern[at : end + 1]))
            at = end
        elif character == "{":
            found.append(_repetition(pattern, at))
        elif character in "|*+?}()":
            found.append(character)
        else:
            # Other characters keep the meaning that they have in patterns of Java, as in Calcite.
            found.append({"_": ".", "%": "(?:.*)"}.get(character, character))
        at += 1
    try:
        return re.compile("".join(found), re.DOTALL)
    except re.error as error:
        raise EvaluationError(f"Invalid regular expression '{pattern}': {error}") from error


def _repetition(pattern: str, at: int) -> str:
    """Return the beginning of a repetition, as Java's patterns take it: also of nothing."""
    if not re.match(r"\{[0-9]", pattern[at:]):
        raise EvaluationError(f"Illegal repetition near index {at + 1}\n{pattern}")
    if not re.match(r"\{[0-9]+(,[0-9]*)?\}", pattern[at:]):
        raise EvaluationError(f"Unclosed counted closure near index {len(pattern)}\n{pattern}")
    return "(?:){" if at == 0 or pattern[at - 1] in "(|" else "{"


def _character_set(text: str) -> str:
    inner = text[1:-1]
    if inner in _SIMILAR_CLASSES:
        return _SIMILAR_CLASSES[inner]
    negated = "^" if inner.startswith("^") else ""
    return f"[{negated}{inner[len(negated) :].replace(chr(92), chr(92) * 2).replace('[', chr(92) + '[')}]"


def _check_escape(escape: str | None) -> None:
    if escape is not None and len(escape) != 1:
        raise EvaluationError(f"Invalid escape character '{escape}'")


def _infer(name: str) -> Infer:
    def infer(site: CallSite) -> Signature:
        if len(site.arguments) not in (2, 3) or not all(
            isinstance(each, (*CHARACTER, NullType)) for each in site.types
        ):
            raise refuse(site, f"'{name}(<STRING>, <STRING>, <STRING>)'")
        return Signature(site.types, BOOLEAN.with_nullability(site.any_nullable))

    return infer


def _bind(pattern_of: Pattern, negated: bool) -> Callable[[CallSite, DataType], Kernel]:
    def matches(text: str, pattern: str, escape: str | None = None) -> bool:
        return (pattern_of(pattern, escape).fullmatch(text) is None) == negated

    def bind(site: CallSite, result_type: DataType) -> Kernel:
        by_value = value_kernel(matches, result_type)
        if pattern_of is not like_pattern or len(site.arguments) != 2 or not site.arguments[1].is_literal:
            return by_value
        pattern = site.arguments[1].value
        # For Arrow a backslash escapes; LIKE has no such character unless ESCAPE names one.
        if pattern is None or "\\" in pattern:
            return by_value

        def kernel(columns: Sequence[Column], rows: int) -> Column:
            found = pc.match_like(columns[0], pattern)
            return pc.invert(found) if negated else found

        return kernel

    return bind


def _operators(name: str, pattern_of: Pattern) -> tuple[ScalarFunction, ...]:
    return tuple(
        ScalarFunction(shown, _infer(shown), _bind(pattern_of, negated))
        for shown, negated in ((name, False), (f"NOT {name}", True))
    )


FUNCTIONS = (
    *_operators("LIKE", like_pattern),
    *_operators("SIMILAR TO", similar_pattern),
)
