"""Filters in JSON paths, as `?(@.price < 10 && @.name =~ /b.*/i)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from scurry.sql.functions.splitting import split_outside

#: Value of an operand whose path leads nowhere.
MISSING: Final = object()

#: Predicate of a value, given the value and the root of the path.
Condition = Callable[[Any, Any], bool]
Operand = Callable[[Any, Any], Any]

_COMPARISON: Final = re.compile(
    r"(.+?)\s*(===|!==|==|!=|<=|>=|=~|<|>|\b(?:in|nin|contains|size|empty|subsetof|anyof|noneof)\b)\s*(.+)",
    re.DOTALL | re.IGNORECASE,
)


def compile_filter(text: str, operand: Callable[[str], Operand]) -> Condition:
    """Return the condition of a filter.

    Args:
        text: The condition, as it is written.
        operand: Reads an operand of a comparison.
    """
    text = text.strip()
    for word, combine in (("||", any), ("&&", all)):
        parts = split_outside(text, word, "'\"")
        if len(parts) > 1:
            return _combined(combine, [compile_filter(part, operand) for part in parts])
    if text.startswith("(") and text.endswith(")"):
        return compile_filter(text[1:-1], operand)
    if text.startswith("!"):
        negated = compile_filter(text[1:], operand)
        return lambda value, root: not negated(value, root)
    match = _COMPARISON.fullmatch(text)
    if match is None:
        found = operand(text)
        return lambda value, root: found(value, root) is not MISSING
    left, right = operand(match[1]), operand(match[3])
    compare = _COMPARE[match[2].lower()]
    return lambda value, root: _holds(compare, left(value, root), right(value, root))


def _combined(combine: Callable[[Any], bool], conditions: list[Condition]) -> Condition:
    return lambda value, root: combine(condition(value, root) for condition in conditions)


def _holds(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> bool:
    try:
        return bool(compare(left, right))
    except TypeError:
        return False


def _matches(text: Any, pattern: str) -> bool:
    expression, _, flags = pattern[1:].rpartition("/")
    return re.fullmatch(expression, text, re.IGNORECASE if "i" in flags else 0) is not None


def _size(value: Any, wanted: Any) -> bool:
    return value is not MISSING and len(value) == wanted


def _is_empty(value: Any, wanted: Any) -> bool:
    return value is not MISSING and (len(value) == 0) == wanted


_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": eq,
    "===": eq,
    "!=": ne,
    "!==": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "=~": _matches,
    "in": lambda value, values: value in values,
    "nin": lambda value, values: value not in values,
    "contains": lambda values, value: value in values,
    "size": _size,
    "empty": _is_empty,
    "subsetof": lambda values, others: all(each in others for each in values),
    "anyof": lambda values, others: any(each in others for each in values),
    "noneof": lambda values, others: not any(each in others for each in values),
}
