"""Push filters towards the scans of the columns they refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.calls import all_of, call
from scurry.sql.plan.expressions import Call, Expression, InputReference
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.models import VectorSearch
from scurry.sql.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    Plan,
    Project,
    SetOperation,
    Sort,
    TableFunctionScan,
    TemporalJoin,
    Unnest,
    WindowTable,
)
from scurry.sql.plan.rewriting import (
    all_shifted,
    all_substituted,
    input_references,
    is_deterministic,
    remapped,
    rewritten_all,
)
from scurry.sql.types.families import same_type

Conditions = Sequence[Expression]

#: Comparisons that are not TRUE if an operand is NULL.
_NULL_OF_NULL = ("=", "<", "<=", ">", ">=", "<>", "LIKE", "IS NOT NULL")


def push_filters(plan: Plan, session: EvaluationContext) -> Plan:
    """Apply each condition as early as it can be: below joins, projections and aggregations, and as part of joins.

    A condition on a column that a join compares with one of the other side is one on that column, too.
    What all branches of an OR have in common is a condition of its own: `a = b AND x OR a = b AND y` joins by `a = b`.
    """
    return _Pushing(session).pushed(plan, [])


class _Pushing:
    def __init__(self, session: EvaluationContext) -> None:
        self._session = session

    def pushed(self, plan: Plan, conditions: Conditions) -> Plan:
        """Return a plan whose rows are those for which all conditions are TRUE, too."""
        handler = _HANDLERS.get(type(plan))
        if handler is not None:
            return handler(self, plan, conditions)
        below = plan.with_inputs(tuple(self.pushed(each, []) for each in plan.inputs))
        return self._filtered(below, conditions)

    def _filtered(self, plan: Plan, conditions: Conditions) -> Plan:
        condition = all_of(list(dict.fromkeys(conditions)), self._session)
        return plan if condition is None else Filter(plan, condition)

    def _filter(self, plan: Filter, conditions: Conditions) -> Plan:
        found = self._through(plan, conditions)
        if found is not None:
            return found
        return self.pushed(plan.input, [*self._factors(plan.condition), *conditions])

    def _through(self, plan: Plan, conditions: Conditions) -> Plan | None:
        """Move conditions through all projections and filters that follow each other; None if one has to stay.

        Each condition is rewritten once, however many views on views there are.
        """
        row_wise: list[Project | Filter] = []
        while isinstance(plan, Project | Filter):
            row_wise.append(plan)
            plan = plan.input
        columns: Sequence[Expression] | None = None
        moved: list[Expression] = []
        for node in reversed(row_wise):
            own = list(node.expressions) if isinstance(node, Project) else list(self._factors(node.condition))
            if not all(map(is_deterministic, own)):
                return None
            own = own if columns is None else all_substituted(own, columns)
            if isinstance(node, Project):
                columns = own
            else:
                moved += own
        if not all(map(is_deterministic, conditions)):
            return None
        moved += conditions if columns is None else all_substituted(conditions, columns)
        below = self.pushed(plan, moved)
        for node in reversed(row_wise):
            below = replace(node, input=below) if isinstance(node, Project) else below
        return below

    def _project(self, plan: Project, conditions: Conditions) -> Plan:
        found = self._through(plan, conditions)
        if found is not None:
            return found
        movable: list[Expression] = []
        rest: list[Expression] = []
        for each, moved in zip(conditions, all_substituted(conditions, plan.expressions), strict=True):
            if is_deterministic(moved):
                movable.append(moved)
            else:
                rest.append(each)
        return self._filtered(replace(plan, input=self.pushed(plan.input, movable)), rest)

    def _join(self, plan: Join, conditions: Conditions) -> Plan:
        width = len(plan.left.schema)
        own = self._factors(plan.condition)
        kind = _simplified(plan.kind, conditions, width)
        on, above = own, list(conditions)
        left: list[Expression] = []
        right: list[Expression] = []
        if kind == "INNER":
            on, above = [*own, *conditions], []
        if kind in ("INNER", "LEFT", "SEMI", "ANTI"):
            left, above = _split(above, lambda columns: all(each < width for each in columns))
        if kind == "RIGHT":
            right, above = _split(above, lambda columns: bool(columns) and all(each >= width for each in columns))
        if kind in ("INNER", "SEMI", "RIGHT"):
            found, on = _split(on, lambda columns: bool(columns) and all(each < width for each in columns))
            left += found
        if kind in ("INNER", "SEMI", "LEFT", "ANTI"):
            found, on = _split(on, lambda columns: bool(columns) and all(each >= width for each in columns))
            right += found
        equal = _equal_columns(on, width)
        to_right = _transferred(left, equal) if kind in ("INNER", "SEMI", "LEFT", "ANTI") else []
        to_left = _transferred(right, equal) if kind in ("INNER", "SEMI", "RIGHT") else []
        below_left = self.pushed(plan.left, [*left, *to_left])
        below_right = self.pushed(plan.right, all_shifted([*right, *to_right], -width))
        return self._filtered(
            replace(plan, left=below_left, right=below_right, kind=kind, condition=all_of(on, self._session)), above
        )

    def _temporal_join(self, plan: TemporalJoin, conditions: Conditions) -> Plan:
        width = len(plan.left.schema)
        left, above = _split(conditions, lambda columns: all(each < width for each in columns))
        right = self.pushed(plan.right, [])
        return self._filtered(replace(plan, left=self.pushed(plan.left, left), right=right), above)

    def _aggregate(self, plan: Aggregate, conditions: Conditions) -> Plan:
        always = {place for place in range(len(plan.keys)) if all(place in each for each in plan.grouping_sets)}
        movable, rest = _split(conditions, lambda columns: bool(columns) and columns <= always)
        below = self.pushed(plan.input, [remapped(each, plan.keys) for each in movable])
        return self._filtered(replace(plan, input=below), rest)

    def _set_operation(self, plan: SetOperation, conditions: Conditions) -> Plan:
        movable, rest = _split(conditions, lambda columns: True)
        return self._filtered(replace(plan, branches=tuple(self.pushed(each, movable) for each in plan.branches)), rest)

    def _appending(self, plan: WindowTable | Unnest | TableFunctionScan | VectorSearch, conditions: Conditions) -> Plan:
        width = len(plan.input.schema)
        movable, rest = _split(conditions, lambda columns: bool(columns) and all(each < width for each in columns))
        return self._filtered(replace(plan, input=self.pushed(plan.input, movable)), rest)

    def _sort(self, plan: Sort, conditions: Conditions) -> Plan:
        return replace(plan, input=self.pushed(plan.input, conditions))

    def _factors(self, condition: Expression | None) -> list[Expression]:
        return [found for each in conjuncts(condition) for found in self._factored(each)]

    def _factored(self, condition: Expression) -> list[Expression]:
        """Return the conditions that all branches of an OR share, and the rest of it."""
        branches = [list(conjuncts(each)) for each in _disjuncts(condition)]
        if len(branches) < 2:
            return [condition]
        common = [each for each in dict.fromkeys(branches[0]) if all(each in branch for branch in branches[1:])]
        if not common:
            return [condition]
        rest = [all_of([each for each in branch if each not in common], self._session) for branch in branches]
        if any(each is None for each in rest):
            return common
        left: Expression | None = None
        for each in rest:
            assert each is not None
            left = each if left is None else call("OR", [left, each], self._session)
        assert left is not None
        return [*common, left]


def _disjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "OR":
        return [found for each in condition.arguments for found in _disjuncts(each)]
    return [condition]


def _split(
    conditions: Conditions, belongs: Callable[[frozenset[int]], bool]
) -> tuple[list[Expression], list[Expression]]:
    """Part the conditions whose columns belong to a side, if it does not matter how often they are computed."""
    inside: list[Expression] = []
    rest: list[Expression] = []
    for each in conditions:
        (inside if is_deterministic(each) and belongs(input_references(each)) else rest).append(each)
    return inside, rest


def _equal_columns(conditions: Conditions, width: int) -> dict[int, InputReference]:
    """Return the columns of each side of a join that equal a column of the other one, which has the same type."""
    found: dict[int, InputReference] = {}
    for each in conditions:
        if not isinstance(each, Call) or each.function not in ("=", "IS NOT DISTINCT FROM"):
            continue
        one, other = each.arguments
        if isinstance(one, InputReference) and isinstance(other, InputReference):
            if (one.index < width) != (other.index < width) and same_type(one.type, other.type):
                found |= {one.index: other, other.index: one}
    return found


def _transferred(conditions: Conditions, equal: Mapping[int, InputReference]) -> list[Expression]:
    """Return conditions on columns of a side as conditions on those that equal them: other rows never match."""

    def other(node: Expression) -> Expression:
        return equal[node.index] if isinstance(node, InputReference) else node

    return rewritten_all(
        [each for each in conditions if (used := input_references(each)) and used <= equal.keys()], other
    )


def _simplified(kind: str, conditions: Conditions, width: int) -> str:
    """Return the kind of a join above which conditions refuse rows that were filled up with NULL."""
    refuses_left = any(_refuses_null(each, lambda index: index < width) for each in conditions)
    refuses_right = any(_refuses_null(each, lambda index: index >= width) for each in conditions)
    if kind == "FULL":
        kind = {(True, True): "INNER", (True, False): "LEFT", (False, True): "RIGHT"}.get(
            (refuses_left, refuses_right), kind
        )
    if (kind == "LEFT" and refuses_right) or (kind == "RIGHT" and refuses_left):
        return "INNER"
    return kind


def _refuses_null(condition: Expression, is_filled: Callable[[int], bool]) -> bool:
    """Return whether a comparison is never TRUE if the columns of a side are NULL."""
    if not isinstance(condition, Call) or condition.function not in _NULL_OF_NULL:
        return False
    return any(isinstance(each, InputReference) and is_filled(each.index) for each in condition.arguments)


_HANDLERS: dict[type, Callable[[_Pushing, Any, Conditions], Plan]] = {
    Filter: _Pushing._filter,
    Project: _Pushing._project,
    Join: _Pushing._join,
    TemporalJoin: _Pushing._temporal_join,
    Aggregate: _Pushing._aggregate,
    SetOperation: _Pushing._set_operation,
    WindowTable: _Pushing._appending,
    Unnest: _Pushing._appending,
    TableFunctionScan: _Pushing._appending,
    VectorSearch: _Pushing._appending,
    Sort: _Pushing._sort,
}
