"""Times that become ordinary columns."""

from __future__ import annotations

from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Call, Expression, InputReference
from scurry.sql.plan.nodes import Aggregate, Filter, Plan, Project, Sink
from scurry.sql.plan.physical.joins import RegularJoin
from scurry.sql.plan.rewriting import rewritten
from scurry.sql.types.families import is_proctime, is_rowtime, without_time_attribute


def materialized_times(plan: Plan, session: EvaluationContext) -> Plan:
    """Read the clock for processing times that leave the query, and make keys of groups of event times ordinary."""
    if isinstance(plan, Sink):
        return plan.with_inputs((materialized_times(plan.input, session),))
    plan = _keys(_calls(plan))
    if not any(_is_clock(each) for each in _columns(plan)):
        return plan
    rows = plan if isinstance(plan, Project) else Project(plan, builders.columns(plan), plan.schema.names)
    shown = tuple(_materialized(each) if _is_clock(each) else each for each in rows.expressions)
    return replace(rows, expressions=shown)


def _columns(plan: Plan) -> tuple[Expression, ...]:
    return plan.expressions if isinstance(plan, Project) else builders.columns(plan)


def _is_clock(expression: Expression) -> bool:
    return is_proctime(expression.type) or (isinstance(expression, Call) and expression.function == "PROCTIME")


def _materialized(expression: Expression) -> Expression:
    return Call("PROCTIME_MATERIALIZE", (expression,), without_time_attribute(expression.type))


def _calls(plan: Plan) -> Plan:
    """Make times ordinary that functions are called with, where they compute columns of rows."""
    plan = plan.with_inputs(tuple(map(_calls, plan.inputs)))
    if isinstance(plan, Filter):
        return replace(plan, condition=_of_ordinary(plan.condition))
    if isinstance(plan, Project):
        return replace(plan, expressions=tuple(map(_of_ordinary, plan.expressions)))
    return plan


def _of_ordinary(expression: Expression) -> Expression:
    def ordinary(part: Expression) -> Expression:
        if not isinstance(part, Call) or part.function in ("CAST", "PROCTIME_MATERIALIZE") and is_rowtime(part.type):
            return part
        arguments = tuple(_ordinary(each) if isinstance(each, InputReference) else each for each in part.arguments)
        return part if arguments == part.arguments else replace(part, arguments=arguments)

    return rewritten(expression, ordinary)


def _keys(plan: Plan) -> Plan:
    plan = plan.with_inputs(tuple(map(_keys, plan.inputs)))
    if isinstance(plan, RegularJoin):
        return plan.with_inputs(tuple(map(_ordinary_rows, plan.inputs)))
    if not isinstance(plan, Aggregate):
        return plan
    used = {
        *plan.keys,
        *(each.index for call in plan.calls for each in call.arguments if isinstance(each, InputReference)),
    }
    types = plan.input.schema.types
    if not any(is_rowtime(types[place]) or is_proctime(types[place]) for place in used):
        return plan
    below = plan.input
    rows = below if isinstance(below, Project) else Project(below, builders.columns(below), below.schema.names)
    shown = tuple(_ordinary(each) if place in used else each for place, each in enumerate(rows.expressions))
    return replace(plan, input=replace(rows, expressions=shown))


def _ordinary_rows(plan: Plan) -> Plan:
    """Return rows none of whose columns is a time."""
    if not any(is_rowtime(each) or is_proctime(each) for each in plan.schema.types):
        return plan
    rows = plan if isinstance(plan, Project) else Project(plan, builders.columns(plan), plan.schema.names)
    return replace(rows, expressions=tuple(map(_ordinary, rows.expressions)))


def _ordinary(expression: Expression) -> Expression:
    if is_proctime(expression.type):
        return _materialized(expression)
    if is_rowtime(expression.type):
        return Call("CAST", (expression,), without_time_attribute(expression.type))
    return expression
