"""Recognise window Top-N and deduplication: filters on the number of a row within its window."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import FLIPPED, Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Filter, Over, Plan, Project, SortKey
from scurry.sql.plan.physical.windows import WindowDeduplicate, WindowRank, window_properties
from scurry.sql.plan.rewriting import substituted
from scurry.sql.plan.schema import Column
from scurry.sql.types import LocalZonedTimestampType, TimestampType


def window_ranks(plan: Plan, session: EvaluationContext) -> Plan:
    """Make ranks of the filters on ROW_NUMBER() that is partitioned by start and end of a window."""
    plan = plan.with_inputs(tuple(window_ranks(each, session) for each in plan.inputs))
    return _ranked(plan, session) if isinstance(plan, Filter) else plan


def _ranked(plan: Filter, session: EvaluationContext) -> Plan:
    below, condition, projections = plan.input, plan.condition, list[Project]()
    while isinstance(below, Project):
        condition = substituted(condition, below.expressions)
        projections.append(below)
        below = below.input
    if not isinstance(below, Over) or len(below.calls) != 1 or below.calls[0].call.function != "ROW_NUMBER":
        return plan
    number = len(below.input.schema)
    limits = [_limits(each, number) for each in conjuncts(condition)]
    known = [each for each in limits if each is not None]
    rest = [each for each, found in zip(conjuncts(condition), limits, strict=True) if found is None]
    first = max((low for low, _ in known if low is not None), default=1)
    last = min((high for _, high in known if high is not None), default=None)
    found = None if last is None else _window_rank(below, max(first, 1), last)
    if found is None:
        return plan
    kept = all_of(rest, session)
    made: Plan = found if kept is None else Filter(found, kept)
    for each in reversed(projections):
        made = Project(made, each.expressions, each.names)
    return made


def _limits(condition: Expression, number: int) -> tuple[int | None, int | None] | None:
    """Return the first and the last number of a row for which a condition holds; None if it is about something else."""
    if not isinstance(condition, Call) or condition.function not in FLIPPED:
        return None
    (one, other), operator = map(_uncast, condition.arguments), condition.function
    if isinstance(other, InputReference):
        one, other, operator = other, one, FLIPPED[operator]
    if not isinstance(one, InputReference) or one.index != number or not isinstance(other, Literal):
        return None
    value = other.value
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return {
        "<": (None, value - 1),
        "<=": (None, value),
        ">": (value + 1, None),
        ">=": (value, None),
        "=": (value, value),
    }[operator]


def _uncast(expression: Expression) -> Expression:
    """Return the operand of a cast to the type that it is compared in."""
    if isinstance(expression, Call) and expression.function == "CAST" and isinstance(expression.arguments[0], Literal):
        return expression.arguments[0]
    return expression


def _window_rank(over: Over, first: int, last: int) -> WindowRank | None:
    properties, call = window_properties(over.input), over.calls[0]
    if properties is None:
        return None
    keys = [each.index for each in call.partition_by if isinstance(each, InputReference)]
    order = [each.expression.index for each in call.order_by if isinstance(each.expression, InputReference)]
    if len(keys) < len(call.partition_by) or len(order) < len(call.order_by) or not order:
        return None
    if not properties.is_grouped_by(tuple(keys)):
        return None
    sort = tuple(
        SortKey(index, each.descending, each.nulls_first) for index, each in zip(order, call.order_by, strict=True)
    )
    number = Column(over.names[0], call.type)
    end = properties.end_among(tuple(keys))
    kind = WindowDeduplicate if last == first == 1 and _is_by_time(over.input, sort) else WindowRank
    if not properties.window.is_event_time:
        name = "Deduplication" if kind is WindowDeduplicate else "TopN"
        raise ValidationError(f"Processing time Window {name} is not supported yet.")
    return kind(over.input, properties.window, end, tuple(keys), sort, first, last, number)


def _is_by_time(plan: Plan, sort: tuple[SortKey, ...]) -> bool:
    kind = plan.schema[sort[0].index].type
    if len(sort) > 1 or not isinstance(kind, TimestampType | LocalZonedTimestampType):
        return False
    return kind.is_rowtime or kind.is_proctime
