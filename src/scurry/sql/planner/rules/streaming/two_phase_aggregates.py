"""Split aggregates into a local and a global phase, as Flink does with mini-batches."""

from __future__ import annotations

from scurry.common._config.tables import AGG_PHASE_STRATEGY, MINI_BATCH_ENABLED
from scurry.sql.functions.aggregate.catalogue import properties_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.nodes import Aggregate, Plan
from scurry.sql.plan.physical.aggregates import GlobalGroupAggregate, LocalGroupAggregate
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.planner.changelog import Changelogs


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
