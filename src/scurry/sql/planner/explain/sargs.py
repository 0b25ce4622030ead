"""Conditions on the values of one column, which Calcite shows as a search in a set of values or a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from scurry._dataclasses import dataclass
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.planner.explain.types import type_text
from scurry.sql.types import CharType, DecimalType, IntType, VarCharType

_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_OPENING, _CLOSING = {">=": "[", ">": "("}, {"<=": "]", "<": ")"}


@dataclass(frozen=True)
class Comparison:
    """A comparison of a column with a constant."""

    operator: str
    column: InputReference
    value: Literal


def points_text(
    operands: Sequence[Expression],
    name: Callable[[Expression], str],
    literal: Callable[[Literal], str],
    with_type: bool,
) -> str | None:
    """Return alternatives that are equations of one column as text; None if they are others.

    Args:
        literal: Returns the text of a constant.
        with_type: Whether the type of texts is shown.
    """
    found = [each for each in map(_comparison, operands) if each is not None and each.operator == "="]
    types = {each.value.type for each in found}
    if len(found) < max(2, len(operands)) or len({each.column.index for each in found}) > 1 or len(types) > 1:
        return None
    (kind,) = types
    if not isinstance(kind, IntType | CharType):
        return None
    values = sorted({each.value.value: each.value for each in found}.items())
    typed = f":{type_text(kind)}" if with_type and isinstance(kind, CharType) else ""
    return f"SEARCH({name(found[0].column)}, Sarg[{', '.join(literal(each) for _, each in values)}]{typed})"


def ranges_text(operands: Sequence[Expression], name: Callable[[Expression], str]) -> list[str] | None:
    """Return alternatives of which some compare an integer with constants as text: these are one search behind others.

    Returns:
        The texts; None if no column is compared twice.
    """
    found = [_bounds(each) for each in operands]
    columns = [each.column.index for each in found if each is not None]
    asked = [_is_null(each) for each in operands]
    twice = [column for column in dict.fromkeys(columns) if columns.count(column) + asked.count(column) > 1]
    if not twice:
        return None
    others = [
        name(each)
        for each, bounds, null in zip(operands, found, asked, strict=True)
        if (bounds is None or bounds.column.index not in twice) and null not in twice
    ]
    searches = []
    for column in twice:
        own = [each for each in found if each is not None and each.column.index == column]
        shown = ", ".join(map(_range_text, _united([each.range for each in own])))
        null = "; NULL AS TRUE" if column in asked else ""
        searches.append(f"SEARCH({name(own[0].column)}, Sarg[{shown}{null}])")
    return [*others, *searches]


@dataclass(frozen=True)
class _Bounds:
    """The integers for which a comparison is TRUE.

    Attributes:
        range: The least and the greatest one, each with whether it is among them; None for no bound.
    """

    column: InputReference
    range: _Range


_Bound = tuple[int, bool] | None
_Range = tuple[_Bound, _Bound]


def _bounds(condition: Expression) -> _Bounds | None:
    found = _comparison(condition)
    if found is None or not isinstance(found.value.type, IntType):
        return None
    value = found.value.value
    ranges: dict[str, _Range] = {
        "=": ((value, True), (value, True)),
        "<": (None, (value, False)),
        "<=": (None, (value, True)),
        ">": ((value, False), None),
        ">=": ((value, True), None),
    }
    return _Bounds(found.column, ranges[found.operator]) if found.operator in ranges else None


def _is_null(condition: Expression) -> int | None:
    """Return which column is NULL if a condition is TRUE; None if it is about something else."""
    if isinstance(condition, Call) and condition.function == "IS NULL":
        column = condition.arguments[0]
        return column.index if isinstance(column, InputReference) else None
    return None


def _united(ranges: Sequence[_Range]) -> list[_Range]:
    """Return ranges in order, those that overlap as one."""
    found: list[_Range] = []
    for each in sorted(ranges, key=_start):
        if found and _overlap(found[-1][1], each[0]):
            found[-1] = (found[-1][0], max(found[-1][1], each[1], key=_end))
        else:
            found.append(each)
    return found


def _start(each: _Range) -> tuple[float, bool]:
    return (-math.inf, False) if each[0] is None else (each[0][0], not each[0][1])


def _end(bound: _Bound) -> tuple[float, bool]:
    return (math.inf, True) if bound is None else bound


def _overlap(end: _Bound, start: _Bound) -> bool:
    if end is None or start is None:
        return True
    return start[0] < end[0] or (start[0] == end[0] and (start[1] or end[1]))


def _range_text(found: _Range) -> str:
    lower, upper = found
    if lower is not None and lower == upper:
        return str(lower[0])
    begin = "(-∞" if lower is None else f"{'[' if lower[1] else '('}{lower[0]}"
    end = "+∞)" if upper is None else f"{upper[0]}{']' if upper[1] else ')'}"
    return f"{begin}..{end}"


def known_columns(columns: Sequence[Expression], conditions: Sequence[Expression]) -> list[Expression]:
    """Return columns with constants in place of those that conditions say the value of."""
    found = [each for each in map(_comparison, conditions) if each is not None and each.operator == "="]
    values = {each.column.index: each for each in found}

    def known(column: Expression) -> Expression:
        each = values.get(column.index) if isinstance(column, InputReference) else None
        if each is None:
            return column
        if isinstance(each.value.type, CharType) and isinstance(column.type, VarCharType):
            return Call("CAST", (each.value,), column.type)
        return each.value if type(each.value.type) is type(column.type) else column

    return [known(each) for each in columns]


def needed_conditions(conditions: Sequence[Expression]) -> list[Expression]:
    """Return conditions without TRUE, and without those that a column is there which is compared, too."""
    compared = {each.column.index for each in map(_comparison, conditions) if each is not None}

    def is_needed(condition: Expression) -> bool:
        if isinstance(condition, Literal):
            return condition.value is not True
        if not isinstance(condition, Call) or condition.function != "IS NOT NULL":
            return True
        column = condition.arguments[0]
        return not isinstance(column, InputReference) or column.index not in compared

    return [each for each in conditions if is_needed(each)]


def without_negation(condition: Expression) -> Expression:
    """Return a condition in which comparisons that are negated are the opposite ones."""
    if not isinstance(condition, Call) or condition.function != "NOT":
        return condition
    operand = condition.arguments[0]
    if not isinstance(operand, Call):
        return condition
    if operand.function in _OPPOSITE:
        return replace(operand, function=_OPPOSITE[operand.function])
    if operand.function in ("AND", "OR"):
        parts = tuple(without_negation(replace(condition, arguments=(each,))) for each in operand.arguments)
        return replace(operand, function="OR" if operand.function == "AND" else "AND", arguments=parts)
    return condition


def joined_ranges(
    conditions: Sequence[Expression], text: Callable[[Expression], str], with_type: bool = True
) -> list[str]:
    """Return the texts of conditions; a lower and an upper bound of a column behind each other are one range.

    Args:
        with_type: Whether the type of numbers with a fraction is shown.
    """
    return list(_joined(conditions, text, with_type))


def _type_of(lower: Comparison, upper: Comparison) -> str:
    """Return the type of both bounds as text; empty if they are integers."""
    kinds = [lower.value.type, upper.value.type]
    if all(isinstance(each, IntType) for each in kinds):
        return ""
    digits = [(each.precision, each.scale) if isinstance(each, DecimalType) else (10, 0) for each in kinds]
    scale = max(each for _, each in digits)
    return f":DECIMAL({max(precision - own for precision, own in digits) + scale}, {scale})"


def _joined(conditions: Sequence[Expression], text: Callable[[Expression], str], with_type: bool) -> Iterator[str]:
    place = 0
    while place < len(conditions):
        lower = _comparison(conditions[place])
        upper = _comparison(conditions[place + 1]) if place + 1 < len(conditions) else None
        if lower and upper and _are_bounds(lower, upper):
            kind = _type_of(lower, upper) if with_type else ""
            values = f"{lower.value.value}{kind}..{upper.value.value}{kind}"
            bounds = f"{_OPENING[lower.operator]}{values}{_CLOSING[upper.operator]}"
            yield f"SEARCH({text(lower.column)}, Sarg[{bounds}]{kind})"
            place += 2
        else:
            yield text(conditions[place])
            place += 1


def _are_bounds(lower: Comparison, upper: Comparison) -> bool:
    return (
        lower.operator in _OPENING
        and upper.operator in _CLOSING
        and lower.column.index == upper.column.index
        and isinstance(lower.value.type, IntType | DecimalType)
        and isinstance(upper.value.type, IntType | DecimalType)
        and lower.value.value < upper.value.value
    )


def _comparison(condition: Expression) -> Comparison | None:
    if not isinstance(condition, Call) or len(condition.arguments) != 2:
        return None
    column, value = condition.arguments
    if isinstance(value, Call) and value.function == "CAST":
        value = value.arguments[0]
    if isinstance(column, Call) and column.function == "CAST" and isinstance(column.type, DecimalType):
        column = column.arguments[0] if isinstance(column.arguments[0].type, DecimalType) else column
    if not isinstance(column, InputReference) or not isinstance(value, Literal) or value.value is None:
        return None
    return Comparison(condition.function, column, value)
