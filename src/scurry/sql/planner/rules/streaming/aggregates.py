"""Translate grouping sets and aggregates with OVER, and split aggregates into a local and a global phase."""

from __future__ import annotations

from dataclasses import replace
from functools import cmp_to_key

from scurry.common._config.tables import AGG_PHASE_STRATEGY, MINI_BATCH_ENABLED
from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import AggregateCall, Expression
from scurry.sql.plan.nodes import Aggregate, Over, Plan, Project
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.physical.aggregates import Expand, GlobalGroupAggregate, LocalGroupAggregate
from scurry.sql.plan.physical.over import NonTimeOverAggregate, OverAggregate
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.plan.windows import streaming_frame
from scurry.sql.planner.changelog import Changelogs
from scurry.sql.planner.rules.time_attributes import stays_time


def expand_grouping_sets(plan: Plan, session: EvaluationContext) -> Plan:
    """Make aggregates with several grouping sets of rows that are repeated for each set."""
    plan = plan.with_inputs(tuple(expand_grouping_sets(each, session) for each in plan.inputs))
    return _expanded(plan) if isinstance(plan, Aggregate) and not plan.is_simple else plan


def _expanded(plan: Aggregate) -> Plan:
    width, count = len(plan.input.schema), len(plan.keys)
    sets = tuple(sorted(plan.grouping_sets, key=cmp_to_key(_compared)))
    rows = Expand(plan.input, plan.keys, sets, set_numbers(sets, count))
    keys = tuple(range(width, width + count + 1))
    places = tuple(range(count + 1))
    grouped = replace(plan, input=rows, keys=keys, grouping_sets=(places,), grouping_id=None)
    order = [*range(count), *([count] if plan.grouping_id is not None else []), *range(count + 1, len(grouped.schema))]
    columns: list[Expression] = [builders.column(grouped, place) for place in order]
    return Project(grouped, tuple(columns), plan.schema.names)


def _compared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Compare grouping sets as Calcite orders them, which is the order of a row's copies: sets before their parts."""
    if set(one) >= set(other):
        return -1
    if set(one) <= set(other):
        return 1
    return sum(1 << place for place in one) - sum(1 << place for place in other)


def over_aggregates(plan: Plan, session: EvaluationContext) -> Plan:
    """Make OVER aggregations of the windows of rows that no other rule has recognised.

    Raises:
        ValidationError: Rows are ordered by several columns, which only the first rows of an order can be.
    """
    plan = plan.with_inputs(tuple(over_aggregates(each, session) for each in plan.inputs))
    if not isinstance(plan, Over):
        return plan
    if any(len(call.order_by) != 1 for call in plan.calls):
        raise ValidationError("The window can only be ordered by a single time column.")
    calls = tuple(replace(call, frame=streaming_frame(call)) for call in plan.calls)
    found = OverAggregate(plan.input, calls, plan.names)
    return found if stays_time(plan.input, found.time) else NonTimeOverAggregate(plan.input, calls, plan.names)


def two_phase_aggregates(plan: Plan, session: EvaluationContext) -> Plan:
    """Divide aggregates whose states can be merged, with mini-batches and unless the strategy is ONE_PHASE."""
    if not session.get(MINI_BATCH_ENABLED) or session.get(AGG_PHASE_STRATEGY) == "ONE_PHASE":
        return plan
    return _divided(plan)


def _divided(plan: Plan) -> Plan:
    plan = plan.with_inputs(tuple(_divided(each) for each in plan.inputs))
    if not isinstance(plan, Aggregate) or not plan.is_simple or not all(map(_merges, plan.calls)):
        return plan
    retracts = not Changelogs(()).is_insert_only(plan.input)
    local = LocalGroupAggregate(plan.input, plan.keys, plan.calls, retracts)
    return GlobalGroupAggregate(local, without_inputs(plan), retracts)


def _merges(call: AggregateCall) -> bool:
    return not isinstance(call.function, UserFunction) and properties_of(call.function).mergeable
