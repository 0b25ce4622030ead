"""Global aggregates of rows that the planner knows not to exist: Flink's planner replaces them by their one row.

Otherwise a global aggregate has no row in STREAMING before its input has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from scurry.errors import EvaluationError
from scurry.functions.catalogue import scalar_function
from scurry.functions.definition import Session
from scurry.relational.column_intervals import column_interval
from scurry.relational.expressions import AggregateCall, Call, Expression, InputReference, Literal
from scurry.relational.join_keys import conjuncts
from scurry.relational.plan import Aggregate, Filter, Join, Limit, Plan, Project, SetOperation, Values
from scurry.relational.rewriting import rewritten, walk_expression, with_expressions
from scurry.relational.subqueries import Subquery
from scurry.runtime.tables.batch.executor import execute_batch
from scurry.runtime.tables.expressions import compile_expressions

__all__ = ["without_empty_inputs"]

#: Aggregates whose value of no rows is NULL, and that Calcite's AggregateValuesRule knows, or their parts.
_NULL_OF_NOTHING = ("AVG", "MAX", "MIN", "SUM")
#: The inputs without whose rows a join has none.
_EMPTY_WITH = {"INNER": (0, 1), "LEFT": (0,), "RIGHT": (1,), "SEMI": (0, 1), "ANTI": (0,)}
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


def without_empty_inputs(plan: Plan, session: Session) -> Plan:
    """Replace global aggregates over inputs that are known to be empty, also those of subqueries.

    Args:
        plan: The plan that the validator made.
        session: The session.
    """

    def replaced(node: Expression) -> Expression:
        return replace(node, plan=without_empty_inputs(node.plan, session)) if isinstance(node, Subquery) else node

    plan = plan.with_inputs(tuple(without_empty_inputs(each, session) for each in plan.inputs))
    if isinstance(plan, Filter | Join | Project):
        plan = with_expressions(plan, lambda expression: rewritten(expression, replaced))
    if not isinstance(plan, Aggregate) or plan.keys or not plan.is_simple or not _is_empty(plan.input, session):
        return plan
    values = [_of_nothing(each) for each in plan.calls]
    return plan if None in values else Values(plan.schema, (tuple(each for each in values if each is not None),))


def _of_nothing(call: AggregateCall) -> Literal | None:
    """Return the value of an aggregate of no rows, None for those that Calcite leaves alone."""
    if call.function == "COUNT":
        return Literal(0, call.type)
    return Literal(None, call.type) if call.function in _NULL_OF_NOTHING else None


def _is_empty(plan: Plan, session: Session) -> bool:
    if isinstance(plan, Limit) and plan.fetch == 0:
        return True
    if isinstance(plan, Filter) and (_never_holds(plan, session) or _selects_no_constants(plan, session)):
        return True
    if isinstance(plan, Join) and plan.kind in _EMPTY_WITH:
        return any(_is_empty(plan.inputs[place], session) for place in _EMPTY_WITH[plan.kind])
    if isinstance(plan, SetOperation) and plan.kind == "UNION":
        return all(_is_empty(each, session) for each in plan.branches)
    is_kept = isinstance(plan, Filter | Project) or (isinstance(plan, Aggregate) and bool(plan.keys) and plan.is_simple)
    return is_kept and _is_empty(plan.inputs[0], session)


def _selects_no_constants(plan: Filter, session: Session) -> bool:
    """Say whether a condition holds for no row of VALUES with calls, which Flink plans as a union of projections.

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


def _never_holds(plan: Filter, session: Session) -> bool:
    """Say whether Calcite simplifies a condition to FALSE."""
    conditions = list(conjuncts(plan.condition))
    compared = {each.index for condition in conditions for each in _compared(condition)}
    if any(_is_false(each, session) or _column(_null_of(each)) in compared for each in conditions):
        return True
    alone = plan.with_inputs((Values(plan.schema, ()),))
    intervals = [column_interval(alone, each) for each in compared]
    return any(each.lower is not None and each.upper is not None and each.lower > each.upper for each in intervals)


def _null_of(condition: Expression) -> Expression | None:
    """Return what a condition says to be NULL."""
    return condition.arguments[0] if isinstance(condition, Call) and condition.function == "IS NULL" else None


def _column(expression: Expression | None) -> int | None:
    return expression.index if isinstance(expression, InputReference) else None


def _compared(condition: Expression) -> Iterator[InputReference]:
    """Iterate over the columns that a comparison compares, which are not NULL where it holds."""
    if isinstance(condition, Call) and condition.function in _COMPARISONS:
        yield from (each for each in condition.arguments if isinstance(each, InputReference))


def _is_false(condition: Expression, session: Session) -> bool:
    """Say whether a condition is constant, and not TRUE."""
    operand = _null_of(condition)
    if operand is not None and not operand.type.is_nullable:
        return True
    if not _is_deterministic(condition) or any(isinstance(part, InputReference) for part in walk_expression(condition)):
        return False
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
