"""Conditions that hold for no row become FALSE, as by Calcite's ReduceExpressionsRule.

`prune_empty` decides by them which plans have no rows; the values of constants are known only beside the runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scurry.errors import EvaluationError
from scurry.sql.evaluation.batch.executor import execute_batch
from scurry.sql.evaluation.expressions import compile_expressions
from scurry.sql.functions.catalogue import scalar_function
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import is_constant
from scurry.sql.plan.expressions import Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Filter, Join, Plan, Project, Values
from scurry.sql.plan.rewriting import expressions_of, rewritten, walk_expression, with_expressions
from scurry.sql.plan.subqueries import Subquery
from scurry.sql.planner.column_intervals import interval_where
from scurry.sql.types import BooleanType

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def reduce_conditions(plan: Plan, session: EvaluationContext) -> Plan:
    """Replace conditions that hold for no row by FALSE, also those of subqueries.

    Args:
        plan: The plan that the validator made.
    """

    def reduced(node: Expression) -> Expression:
        return replace(node, plan=reduce_conditions(node.plan, session)) if isinstance(node, Subquery) else node

    plan = plan.with_inputs(tuple(reduce_conditions(each, session) for each in plan.inputs))
    if isinstance(plan, Filter | Join | Project) and _has_subqueries(plan):
        plan = with_expressions(plan, lambda expression: rewritten(expression, reduced))
    if not isinstance(plan, Filter | Join) or plan.condition is None:
        return plan
    never = _never_holds(plan.condition, session) or (isinstance(plan, Filter) and _selects_no_constants(plan, session))
    return replace(plan, condition=Literal(False, BooleanType(False))) if never else plan


def _has_subqueries(plan: Plan) -> bool:
    return any(isinstance(part, Subquery) for each in expressions_of(plan) for part in walk_expression(each))


def _never_holds(condition: Expression, session: EvaluationContext) -> bool:
    """Return whether Calcite simplifies a condition to FALSE."""
    conditions = list(conjuncts(condition))
    compared = {operand for each in conditions for operand in _compared(each)}
    if any(_is_false(each, session) or _null_of(each) in compared for each in conditions):
        return True
    intervals = [interval_where(condition, each) for each in compared]
    return any(each.lower is not None and each.upper is not None and each.lower > each.upper for each in intervals)


def _selects_no_constants(plan: Filter, session: EvaluationContext) -> bool:
    """Return whether a condition holds for no row of VALUES with calls, which Flink plans as a union of projections.

    Rows of literals only are left as they are: Flink does not compute conditions over them.
    """
    rows = plan.input
    while isinstance(rows, Project) and all(isinstance(each, InputReference) for each in rows.expressions):
        rows = rows.input
    if not isinstance(rows, Values) or all(isinstance(each, Literal) for row in rows.rows for each in row):
        return False
    if not all(map(_is_deterministic, [plan.condition, *(each for row in rows.rows for each in row)])):
        return False
    try:
        return not any(batch.num_rows for batch in execute_batch(plan, session, lambda scan: iter(())))
    except EvaluationError:
        return False


def _null_of(condition: Expression) -> Expression | None:
    """Return the operand that a condition requires to be NULL."""
    return condition.arguments[0] if isinstance(condition, Call) and condition.function == "IS NULL" else None


def _compared(condition: Expression) -> Iterator[Expression]:
    """Iterate over the operands of a comparison, which are not NULL where it holds."""
    if isinstance(condition, Call) and condition.function in _COMPARISONS and _is_deterministic(condition):
        yield from (each for each in condition.arguments if not isinstance(each, Literal))


def _is_false(condition: Expression, session: EvaluationContext) -> bool:
    """Return whether a condition is constant, and not TRUE."""
    operand = _null_of(condition)
    if operand is not None and not operand.type.is_nullable:
        return True
    if not is_constant(condition):
        return False
    import pyarrow as pa

    one_row = pa.record_batch({"row": pa.array([0])})
    try:
        return not compile_expressions([condition], session).mask(one_row).any()
    except EvaluationError:
        return False


def _is_deterministic(expression: Expression) -> bool:
    return all(
        isinstance(part, Literal | InputReference)
        or (isinstance(part, Call) and scalar_function(part.function).is_deterministic)
        for part in walk_expression(expression)
    )
