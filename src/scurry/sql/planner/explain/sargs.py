"""Conditions on the values of one column, which Calcite shows as a search in a set of values or a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.planner.explain.types import type_text
from scurry.sql.types import CharType, IntType

_OPENING, _CLOSING = {">=": "[", ">": "("}, {"<=": "]", "<": ")"}


@dataclass(frozen=True)
class Comparison:
    """A comparison of a column with a constant.

    Attributes:
        operator: The operator.
        column: The column.
        value: The constant.
    """

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
        operands: The alternatives.
        name: Returns the text of the column.
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


def joined_ranges(conditions: Sequence[Expression], text: Callable[[Expression], str]) -> list[str]:
    """Return the texts of conditions; a lower and an upper bound of a column behind each other are one range."""
    return list(_joined(conditions, text))


def _joined(conditions: Sequence[Expression], text: Callable[[Expression], str]) -> Iterator[str]:
    place = 0
    while place < len(conditions):
        lower = _comparison(conditions[place])
        upper = _comparison(conditions[place + 1]) if place + 1 < len(conditions) else None
        if lower and upper and _are_bounds(lower, upper):
            bounds = f"{_OPENING[lower.operator]}{lower.value.value}..{upper.value.value}{_CLOSING[upper.operator]}"
            yield f"SEARCH({text(lower.column)}, Sarg[{bounds}])"
            place += 2
        else:
            yield text(conditions[place])
            place += 1


def _are_bounds(lower: Comparison, upper: Comparison) -> bool:
    return (
        lower.operator in _OPENING
        and upper.operator in _CLOSING
        and lower.column.index == upper.column.index
        and isinstance(lower.value.type, IntType)
        and isinstance(upper.value.type, IntType)
        and lower.value.value < upper.value.value
    )


def _comparison(condition: Expression) -> Comparison | None:
    if not isinstance(condition, Call) or len(condition.arguments) != 2:
        return None
    column, value = condition.arguments
    if isinstance(value, Call) and value.function == "CAST":
        value = value.arguments[0]
    if not isinstance(column, InputReference) or not isinstance(value, Literal) or value.value is None:
        return None
    return Comparison(condition.function, column, value)
