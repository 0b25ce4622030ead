"""Translate set operations to aggregates, joins and repeated rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of, call, converted
from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate, Filter, Join, Plan, Project, SetOperation
from scurry.sql.plan.physical.changes import ReplicateRows
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.types import BigIntType, BooleanType, DoubleType, FloatType, IntType

_COUNT = BigIntType(False)
_MARKER = BooleanType()


def set_operations(plan: Plan, session: EvaluationContext) -> Plan:
    """Leave no set operation but UNION ALL."""
    plan = plan.with_inputs(tuple(set_operations(each, session) for each in plan.inputs))
    if not isinstance(plan, SetOperation) or (plan.kind == "UNION" and plan.all):
        return plan
    branches = [_typed(each, plan.row_schema, session) for each in plan.branches]
    if plan.kind == "UNION":
        return builders.distinct(builders.set_operation("UNION", True, branches, plan.row_schema))
    if plan.all:
        combine = _intersect_all if plan.kind == "INTERSECT" else _except_all
        return reduce(lambda left, right: combine(left, right, session), branches)
    return _by_joins(plan, branches, session)


def compared_set_operations(plan: Plan, session: EvaluationContext) -> Plan:
    """Make joins of INTERSECT and EXCEPT of floating-point numbers in BATCH, where joins compare them with `=`."""
    plan = plan.with_inputs(tuple(compared_set_operations(each, session) for each in plan.inputs))
    if not isinstance(plan, SetOperation) or plan.kind == "UNION" or plan.all:
        return plan
    if not any(isinstance(column.type, FloatType | DoubleType) for column in plan.row_schema):
        return plan
    return _by_joins(plan, [_typed(each, plan.row_schema, session) for each in plan.branches], session)


def _by_joins(plan: SetOperation, branches: Sequence[Plan], session: EvaluationContext) -> Plan:
    kind = "SEMI" if plan.kind == "INTERSECT" else "ANTI"
    return builders.distinct(reduce(lambda left, right: _matched(left, right, kind, session), branches))


def _typed(plan: Plan, schema: Schema, session: EvaluationContext) -> Plan:
    """Return the rows of a branch with the names and types of the result."""
    if plan.schema == schema:
        return plan
    wanted = [
        converted(each, column.type, session) for each, column in zip(builders.columns(plan), schema, strict=True)
    ]
    return builders.project(plan, wanted, schema.names)


def _matched(left: Plan, right: Plan, kind: str, session: EvaluationContext) -> Plan:
    """Return the rows of the left side that the right side has, or has not; NULL equals NULL."""
    width = len(left.schema)
    equal = [
        call("IS NOT DISTINCT FROM", [one, InputReference(width + each.index, each.type)], session)
        for one, each in zip(builders.columns(left), builders.columns(right), strict=True)
    ]
    return Join(left, right, kind, all_of(equal, session))


def _intersect_all(left: Plan, right: Plan, session: EvaluationContext) -> Plan:
    """Repeat each row as often as the side has it that has it less often."""
    true, null = Literal(True, _MARKER), Literal(None, _MARKER)
    width = len(left.schema)
    counted = _counted(
        [(left, [true, null]), (right, [null, true])],
        [AggregateCall("COUNT", (InputReference(width + place, _MARKER),), _COUNT) for place in (0, 1)],
        session,
    )
    one, other = (InputReference(width + place, _COUNT) for place in (0, 1))
    at_least_one = [call(">=", [each, _number(1, session)], session) for each in (one, other)]
    condition = all_of(at_least_one, session)
    assert condition is not None
    least = call("IF", [call(">", [one, other], session), other, one], session)
    return _repeated(Filter(counted, condition), least, left, session)


def _except_all(left: Plan, right: Plan, session: EvaluationContext) -> Plan:
    """Repeat each row as often as the left side has it more often."""
    width = len(left.schema)
    counted = _counted(
        [(left, [Literal(1, _COUNT)]), (right, [Literal(-1, _COUNT)])],
        [AggregateCall("SUM", (InputReference(width, _COUNT),), _COUNT)],
        session,
    )
    difference = InputReference(width, _COUNT)
    return _repeated(Filter(counted, call(">", [difference, _number(0, session)], session)), difference, left, session)


def _counted(
    sides: Sequence[tuple[Plan, Sequence[Expression]]], calls: Sequence[AggregateCall], session: EvaluationContext
) -> Plan:
    """Return the distinct rows of some plans, with aggregates of each plan's share."""
    names, counts = _marker_names(len(sides[0][1]), session)
    schema = sides[0][0].schema
    added = Schema((*schema, *(Column(name, each.type) for name, each in zip(names, sides[0][1], strict=True))))
    marked = [builders.project(plan, [*builders.columns(plan), *markers], added.names) for plan, markers in sides]
    union = builders.set_operation("UNION", True, marked, added)
    keys = tuple(range(len(schema)))
    return Aggregate(union, keys, tuple(calls), counts, (keys,))


def _repeated(plan: Plan, times: Expression, like: Plan, session: EvaluationContext) -> Plan:
    """Return the first columns of a plan, each row a number of times."""
    columns = builders.columns(plan)[: len(like.schema)]
    if session.is_explained:
        return _shown_repeated(plan, times, columns)
    return ReplicateRows(builders.project(plan, [*columns, times], [*like.schema.names, "$times"]))


def _number(value: int, session: EvaluationContext) -> Literal:
    return Literal(value, IntType(False) if session.is_explained else _COUNT)


def _shown_repeated(plan: Plan, times: Expression, columns: Sequence[InputReference]) -> Plan:
    """Return the same rows as Flink has them: the number comes first, and the rows again behind their columns."""
    names = [plan.schema.names[each.index] for each in columns]
    number = plan.schema.names[times.index] if isinstance(times, InputReference) else "$f0"
    rows = builders.project(plan, [times, *columns], [number, *names])
    repeated = ReplicateRows(rows, is_explained=True)
    kept = builders.columns(repeated)[1 + len(columns) :]
    return Project(repeated, tuple(kept), tuple(names))


def _marker_names(count: int, session: EvaluationContext) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns that mark the rows of each side, and of their aggregates."""
    if not session.is_explained:
        names = tuple(f"vcol_{place}" for place in range(count))
        return names, tuple(f"{name}_count" for name in names)
    if count == 1:
        return ("vcol_marker",), ("sum_vcol_marker",)
    return ("vcol_left_marker", "vcol_right_marker"), ("vcol_left_cnt", "vcol_right_cnt")
