"""Recognise Top-N: filters on ROW_NUMBER and the like, and ORDER BY with LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of
from scurry.sql.plan.expressions import FLIPPED, Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Filter, Limit, Over, Plan, Project, Sort, SortKey, Values
from scurry.sql.plan.physical.ranks import Deduplicate, Rank, TemporalSort
from scurry.sql.plan.rewriting import input_references, is_deterministic, substituted
from scurry.sql.plan.schema import Column
from scurry.sql.planner.changelog import Changelogs, Kinds
from scurry.sql.planner.monotonicity import Monotonicity, modified_monotonicity
from scurry.sql.planner.rules.streaming.aggregates import over_aggregates
from scurry.sql.planner.rules.streaming.joins import regular_joins
from scurry.sql.planner.rules.time_attributes import stays_time
from scurry.sql.planner.unique_keys import upsert_keys
from scurry.sql.types.families import is_rowtime


def ranks(plan: Plan, session: EvaluationContext) -> Plan:
    """Translate row-number filters, limits and sorts by time to Rank, Deduplicate and their like.

    Raises:
        ValidationError: A LIMIT does not say how many rows there are at most.
    """
    if isinstance(plan, Project) and isinstance(plan.input, Filter) and _is_numbered(plan.input.input):
        used = set().union(*map(input_references, plan.expressions))
        return replace(plan, input=_numbered(plan.input, used, session))
    if isinstance(plan, Filter) and _is_numbered(plan.input):
        return _numbered(plan, set(range(len(plan.schema))), session)
    if isinstance(plan, Filter) and isinstance(plan.input, Project) and _is_numbered(_below_projections(plan.input)):
        condition = substituted(plan.condition, plan.input.expressions)
        if is_deterministic(condition):
            return ranks(replace(plan.input, input=Filter(plan.input.input, condition)), session)
    plan = _limited(plan) if isinstance(plan, Limit) else plan
    plan = plan.with_inputs(tuple(ranks(each, session) for each in plan.inputs))
    if isinstance(plan, Rank):
        return _with_strategy(plan, session)
    if isinstance(plan, Limit) and _kinds(plan.input, session) != Kinds.INSERT:
        return Rank(plan.input, (), (), plan.offset + 1, plan.offset + (plan.fetch or 0), is_limit=True)
    if isinstance(plan, Sort) and stays_time(plan.input, plan.keys[0].index):
        return TemporalSort(plan.input, plan.keys, is_rowtime(plan.schema[plan.keys[0].index].type))
    return plan


@dataclass
class _Range:
    """The numbers that a condition admits.

    Attributes:
        start: The first one.
        end: The last one; None if no number says it.
        end_column: Position of the column that says it.
        others: Conditions on other columns.
    """

    start: int = 1
    end: int | None = None
    end_column: int | None = None
    others: tuple[Expression, ...] = ()


def _is_numbered(plan: Plan) -> bool:
    return (
        isinstance(plan, Over)
        and len(plan.calls) == 1
        and plan.calls[0].call.function == "ROW_NUMBER"
        and bool(plan.calls[0].order_by)
    )


def _numbered(plan: Filter, used: set[int], session: EvaluationContext) -> Plan:
    """Return the rank that a filter makes of numbers of rows; the filter itself if it does not restrict them."""
    over = plan.input
    assert isinstance(over, Over)
    number = len(over.input.schema)
    found = _range(plan.condition, number)
    below = ranks(over.input, session)
    if found.end is None and found.end_column is None:
        return replace(plan, input=replace(over, input=below))
    if found.end is not None and found.end < found.start:
        return Values(plan.schema, ())
    is_constant = found.end == found.start
    used = used.union(*map(input_references, found.others))
    column = over.schema[number] if number in used and not is_constant else None
    rank = _rank(over, below, found, column, session)
    if is_constant and number in used:
        constant = Literal(found.start, over.schema[number].type)
        rank = builders.project(rank, [*builders.columns(rank), constant], over.schema.names)
    if not found.others:
        return rank
    condition = all_of(found.others, session)
    assert condition is not None
    return Filter(rank, condition)


def _rank(over: Over, below: Plan, found: _Range, number: Column | None, session: EvaluationContext) -> Plan:
    call = over.calls[0]
    partition_by = tuple(each.index for each in call.partition_by if isinstance(each, InputReference))
    order_by = tuple(
        SortKey(key.expression.index, key.descending, key.nulls_first)
        for key in call.order_by
        if isinstance(key.expression, InputReference)
    )
    kind = below.schema[order_by[0].index].type if len(order_by) == 1 else None
    is_first = found.start == 1 and found.end == 1
    is_by_time = kind is not None and stays_time(below, order_by[0].index)
    if is_first and kind is not None and is_by_time and _kinds(below, session) == Kinds.INSERT:
        return Deduplicate(below, partition_by, order_by[0].index, is_rowtime(kind), order_by[0].descending)
    end = found.start if found.end is None else found.end
    rank = Rank(below, partition_by, order_by, found.start, end, found.end_column, number)
    return _with_strategy(rank, session)


def _kinds(plan: Plan, session: EvaluationContext) -> Kinds:
    """Return the kinds of the changes of a plan once later rules have made operations of all of it."""
    return Changelogs(()).kinds(_with_operations(plan, session))


def _with_operations(plan: Plan, session: EvaluationContext) -> Plan:
    return regular_joins(over_aggregates(plan, session), session)


def _with_strategy(plan: Rank, session: EvaluationContext) -> Rank:
    """Return a rank with the cheapest strategy for its input."""
    below, changelogs = _with_operations(plan.input, session), Changelogs(())
    kinds = changelogs.kinds(below)
    if kinds == Kinds.INSERT:
        return replace(plan, strategy="AppendFastStrategy")
    if Kinds.DELETE in kinds or not _get_better(plan.input, plan.order_by) or not changelogs.can_omit_before(below):
        return plan
    for key in sorted(upsert_keys(plan.input), key=sorted):
        if set(plan.partition_by) <= key:
            return replace(plan, strategy="UpdateFastStrategy", update_key=tuple(sorted(key)))
    return plan


def _get_better(plan: Plan, keys: Sequence[SortKey]) -> bool:
    """Return whether updates of a row only move it towards the beginning of an order, or leave it where it is."""
    directions = modified_monotonicity(plan)
    if directions is None or not keys:
        return False
    for key in keys:
        direction = directions[key.index]
        if direction is Monotonicity.CONSTANT:
            continue
        if direction is not (Monotonicity.INCREASING if key.descending else Monotonicity.DECREASING):
            return False
        if key.nulls_first and plan.schema[key.index].type.is_nullable:
            return False  # the first value that is not NULL moves a row back
    return True


def _below_projections(plan: Plan) -> Plan:
    while isinstance(plan, Project):
        plan = plan.input
    return plan


def _limited(plan: Limit) -> Plan:
    """Return the rank of a LIMIT over an ordered input.

    Raises:
        ValidationError: It does not say how many rows there are at most.
    """
    if plan.fetch is None:
        raise ValidationError("FETCH is missed, which on streaming table is not supported currently.")
    if plan.fetch == 0:
        return Values(plan.schema, ())
    below, projections = plan.input, []
    while isinstance(below, Project):
        projections.append(below)
        below = below.input
    if not isinstance(below, Sort):
        return plan
    start, end = plan.offset + 1, plan.offset + plan.fetch
    found: Plan = Rank(below.input, (), below.keys, start, end, is_limit=True)
    for each in reversed(projections):
        found = replace(each, input=found)
    return found


def _range(condition: Expression, number: int) -> _Range:
    found, others = _Range(), []
    for each in conjuncts(condition):
        operator, bound = _comparison(each, number)
        value = None if bound is None else _constant(bound)
        column = None if bound is None else _column(bound)
        if value is not None and operator in (">", ">=", "="):
            found.start = max(found.start, value + (operator == ">"))
        if value is not None and operator in ("<", "<=", "="):
            end = value - (operator == "<")
            found.end = end if found.end is None else min(found.end, end)
        elif value is None and column is not None and operator == "<=" and found.end_column is None:
            found.end_column = column
        elif value is None:
            others.append(each)
    found.others = tuple(others)
    if found.end is not None:
        found.end_column = None
    return found


def _comparison(condition: Expression, number: int) -> tuple[str, Expression | None]:
    """Return the operator and operand in a condition's comparison of the row number; None without one."""
    if isinstance(condition, Call) and condition.function in FLIPPED:
        one, other = condition.arguments
        if isinstance(one, InputReference) and one.index == number:
            return condition.function, other
        if isinstance(other, InputReference) and other.index == number:
            return FLIPPED[condition.function], one
    return "", None


def _constant(expression: Expression) -> int | None:
    if isinstance(expression, Call) and expression.function == "CAST":
        return _constant(expression.arguments[0])
    if isinstance(expression, Call) and expression.function in ("+", "-", "*"):
        one, other = map(_constant, expression.arguments)
        if one is None or other is None:
            return None
        return one + other if expression.function == "+" else one - other if expression.function == "-" else one * other
    is_number = isinstance(expression, Literal) and isinstance(expression.value, int)
    return int(expression.value) if is_number and isinstance(expression, Literal) else None


def _column(expression: Expression) -> int | None:
    if isinstance(expression, Call) and expression.function == "CAST":
        return _column(expression.arguments[0])
    return expression.index if isinstance(expression, InputReference) else None
