"""The equality keys of a join's condition, and the rest of the condition."""

from __future__ import annotations

from collections.abc import Iterator

from scurry._dataclasses import dataclass
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import calls
from scurry.sql.plan.expressions import Call, Expression
from scurry.sql.plan.nodes import Aggregate, Join, Project
from scurry.sql.plan.rewriting import input_references, shifted
from scurry.sql.types import VarCharType
from scurry.sql.types.families import same_type


@dataclass(frozen=True)
class EqualColumns:
    """An expression over the left row that equals one over the right row.

    Attributes:
        left: Over the columns of the left side.
        right: Over the columns of the right side.
        null_equals_null: Whether NULL equals NULL: IS NOT DISTINCT FROM.
    """

    left: Expression
    right: Expression
    null_equals_null: bool


def conjuncts(condition: Expression | None) -> Iterator[Expression]:
    waiting = [] if condition is None else [condition]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Call) and each.function == "AND":
            waiting += reversed(each.arguments)
        else:
            yield each


def split_condition(
    condition: Expression | None, left_width: int
) -> tuple[tuple[EqualColumns, ...], Expression | None]:
    """Split the condition of a join.

    Args:
        condition: The condition, over the columns of both sides.
        left_width: Number of columns of the left side.

    Returns:
        What must be equal on both sides, and the rest of the condition, None if nothing is left.
    """
    equal, rest = [], []
    for each in conjuncts(condition):
        found = _equal_columns(each, left_width)
        if found is None:
            rest.append(each)
        else:
            equal.append(found)
    return tuple(equal), calls.all_of(rest, EvaluationContext())


def _equal_columns(condition: Expression, left_width: int) -> EqualColumns | None:
    if not isinstance(condition, Call) or condition.function not in ("=", "IS NOT DISTINCT FROM"):
        return None
    one, other = condition.arguments
    sides = [{index < left_width for index in input_references(each)} for each in (one, other)]
    if sides == [{True}, {False}]:
        left, right = one, other
    elif sides == [{False}, {True}]:
        left, right = other, one
    else:
        return None
    if not same_type(left.type, right.type) and not (_is_text(left) and _is_text(right)):
        return None
    return EqualColumns(left, shifted(right, -left_width), condition.function != "=")


def _is_text(expression: Expression) -> bool:
    return isinstance(expression.type, VarCharType)


def joins_one_value(plan: Join) -> bool:
    """Return whether the right side of an inner join is a single value: an aggregate of all rows."""
    right = plan.right
    while isinstance(right, Project):
        right = right.input
    is_single = isinstance(right, Aggregate) and right.is_simple and not right.keys
    return plan.kind == "INNER" and is_single and len(plan.right.schema) == 1
