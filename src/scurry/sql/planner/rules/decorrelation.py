"""Decorrelation: rewrites joins whose right side refers to the left row as joins of independent sides.

The right side is computed once for all distinct values that it refers to, which become columns of it; then both sides
are joined by these values (Neumann and Kemper, "Unnesting Arbitrary Queries", 2015). Where the right side only compares
columns of its own with them by `=`, those columns are the values, and nothing has to be joined below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import builders
from scurry.sql.plan.calls import all_of, call
from scurry.sql.plan.expressions import CorrelatedReference, Expression, InputReference
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Aggregate, Filter, Join, Limit, Over, Plan, Project, Scan, Sort
from scurry.sql.plan.rewriting import (
    correlations_of,
    expressions_of,
    input_references,
    remapped,
    shifted,
    substituted,
    walk_expression,
)
from scurry.sql.planner.rules.outer_values import OuterValues, bound


def are_own_keys(keys: Plan, rows: Plan, columns: Sequence[int]) -> bool:
    """Return whether the rows of a plan are all different values that some columns have in a table.

    Args:
        keys: The plan: `SELECT DISTINCT` of a table.
        columns: For each column of the plan, the column of the rows that equals it.

    Returns:
        Whether both read the same columns of the same table, so that the plan has each row's values.
    """
    if not isinstance(keys, Aggregate) or not keys.is_simple or keys.calls or len(columns) != len(keys.keys):
        return False
    read = [_column_of_table(keys.input, key, with_all_rows=True) for key in keys.keys]
    same = [_column_of_table(rows, column, with_all_rows=False) for column in columns]
    return None not in read and read == same


def _column_of_table(plan: Plan, column: int, with_all_rows: bool) -> tuple[Scan, int] | None:
    """Return the table and the position in it of which a column is; None if it is computed, or rows are left out."""
    if isinstance(plan, Scan):
        return plan, column
    if isinstance(plan, Project):
        source = plan.expressions[column]
        return _column_of_table(plan.input, source.index, with_all_rows) if isinstance(source, InputReference) else None
    if isinstance(plan, Over):
        return _column_of_table(plan.input, column, with_all_rows) if column < len(plan.input.schema) else None
    if isinstance(plan, Filter | Limit | Sort) and not with_all_rows:
        return _column_of_table(plan.input, column, with_all_rows)
    return None


def dependent_join(
    left: Plan, right: Plan, correlation: int, kind: str, condition: Expression | None, session: EvaluationContext
) -> Plan:
    """Join each left row with the rows that the right side has for it.

    Args:
        right: The right side, whose references to the left row have a number.
        kind: INNER, LEFT, SEMI or ANTI.
        condition: A condition on the columns of both sides.

    Returns:
        A join without such references.
    """
    if correlation not in correlations_of(right):
        return Join(left, right, kind, condition)
    extracted = _extracted(right, correlation)
    if extracted is not None:
        return _joined(left, right, extracted, kind, condition, correlation, session)
    if kind == "LEFT" and condition is None:
        found = _with_group_of_all(left, right, correlation, session)
        if found is not None:
            return found
    columns = sorted(_outer_columns(right, correlation))
    outer = OuterValues(left, columns, correlation, session)
    pulled = outer.pull_top(right, kind)
    if kind == "INNER" and condition is None and not outer.may_be_null:
        places = [len(right.schema) + place for place in range(len(columns))]
        if columns == list(range(len(left.schema))) and are_own_keys(left, pulled, places):
            order = [*places, *range(len(right.schema))]
            names = (*left.schema.names, *right.schema.names)
            return Project(pulled, tuple(builders.column(pulled, place) for place in order), names)
    equal = _equal_outer(left, pulled, columns, outer, session)
    conditions = equal if condition is None else [*equal, condition]
    return _first_columns(Join(left, pulled, kind, all_of(conditions, session)), left, right)


def _equal_outer(
    left: Plan, pulled: Plan, columns: Sequence[int], outer: OuterValues, session: EvaluationContext
) -> list[Expression]:
    """Return the conditions that a left row has the outer values, which are the last columns of the right side."""
    first = len(pulled.schema) - len(columns)
    return [
        call(
            "IS NOT DISTINCT FROM" if outer.may_be_null else "=",
            [builders.column(left, column), shifted(builders.column(pulled, first + place), len(left.schema))],
            session,
        )
        for place, column in enumerate(columns)
    ]


def _with_group_of_all(left: Plan, right: Plan, correlation: int, session: EvaluationContext) -> Plan | None:
    """Join each left row with the one group of its rows; behind the join a missing group has the values of no rows.

    Returns:
        The join; None if the right side is something else than what is computed of such a group.
    """
    projections = []
    below = right
    while isinstance(below, Project):
        projections.append(below.expressions)
        below = below.input
    if not isinstance(below, Aggregate) or below.grouping_sets != ((),) or correlation not in correlations_of(below):
        return None
    columns = sorted(_outer_columns(below, correlation))
    outer = OuterValues(left, columns, correlation, session)
    grouped = outer.grouped(below)
    width = len(left.schema)
    equal = _equal_outer(left, grouped, columns, outer, session)
    joined = Join(left, grouped, "LEFT", all_of(equal, session))
    values = [outer.or_of_nothing(joined, width + place, below, place) for place in range(len(below.schema))]
    for expressions in reversed(projections):
        values = [bound(substituted(each, values), correlation, lambda column: column) for each in expressions]
    found = [replace(each, type=each.type.nullable()) for each in values]  # type: ignore[call-arg]
    return Project(joined, (*builders.columns(joined)[:width], *found), (*left.schema.names, *right.schema.names))


def _first_columns(joined: Join, left: Plan, right: Plan) -> Plan:
    """Drop the columns that were added to the right side of a join."""
    width = len(joined.schema) if joined.kind in ("SEMI", "ANTI") else len(left.schema) + len(right.schema)
    if width == len(joined.schema):
        return joined
    return Project(joined, builders.columns(joined)[:width], joined.schema.names[:width])


def _joined(
    left: Plan,
    right: Plan,
    extracted: tuple[Plan, list[Expression]],
    kind: str,
    condition: Expression | None,
    correlation: int,
    session: EvaluationContext,
) -> Plan:
    """Join with the conditions that were taken out of the right side."""
    plan, conditions = extracted
    width = len(left.schema)
    moved = [bound(shifted(each, width), correlation, lambda column: column) for each in conditions]
    if condition is not None:
        # Flink shows the condition of IN first.
        moved = [condition, *moved] if session.is_explained else [*moved, condition]
    return _first_columns(Join(left, plan, kind, all_of(moved, session)), left, right)


def _extracted(plan: Plan, correlation: int) -> tuple[Plan, list[Expression]] | None:
    """Remove the conditions that refer to the outer row from a plan.

    Returns:
        The plan, perhaps with more columns, and the conditions over its columns; None if something else refers to it.
    """
    if correlation not in correlations_of(plan):
        return plan, []
    if isinstance(plan, Filter):
        found = _extracted(plan.input, correlation)
        if found is None:
            return None
        below, conditions = found
        own = list(conjuncts(plan.condition))
        inner = [each for each in own if not _refers(each, correlation)]
        for condition in inner:
            below = Filter(below, condition)
        return below, [*conditions, *(each for each in own if _refers(each, correlation))]
    if isinstance(plan, Project) and not any(_refers(each, correlation) for each in plan.expressions):
        found = _extracted(plan.input, correlation)
        if found is None:
            return None
        below, conditions = found
        used = sorted(set().union(*(input_references(each) for each in conditions)))
        width = len(plan.expressions)
        added = [builders.column(below, index) for index in used]
        places = {index: width + place for place, index in enumerate(used)}
        names = (*plan.names, *(below.schema.names[index] for index in used))
        return Project(below, (*plan.expressions, *added), names), [remapped(each, places) for each in conditions]
    return _extracted_of_join(plan, correlation) if isinstance(plan, Join) else None


def _extracted_of_join(plan: Join, correlation: int) -> tuple[Plan, list[Expression]] | None:
    """Remove the conditions from the sides of a join whose rows it does not fill with NULLs."""
    own = list(conjuncts(plan.condition))
    if plan.kind != "INNER" and any(_refers(each, correlation) for each in own):
        return None
    left = _extracted_of_side(plan.left, correlation, plan.kind in ("INNER", "LEFT", "SEMI", "ANTI"))
    right = _extracted_of_side(plan.right, correlation, plan.kind in ("INNER", "RIGHT"))
    if left is None or right is None:
        return None
    widths = [len(plan.left.schema), len(plan.right.schema)]
    offset = len(left[0].schema)
    places = [*range(widths[0]), *range(offset, offset + widths[1])]
    kept = [remapped(each, places) for each in own if not _refers(each, correlation)]
    joined = Join(left[0], right[0], plan.kind, all_of(kept, EvaluationContext()), plan.state_ttl)
    moved = [
        *(remapped(each, places) for each in own if _refers(each, correlation)),
        *left[1],
        *(shifted(each, offset) for each in right[1]),
    ]
    # The columns that the sides have been given come last.
    order = [*places, *(place for place in range(len(joined.schema)) if place not in places)]
    if plan.kind in ("SEMI", "ANTI"):
        order = list(range(len(joined.schema)))
    found = {column: place for place, column in enumerate(order)}
    columns = [builders.column(joined, column) for column in order]
    rows = builders.project(joined, columns, [joined.schema.names[column] for column in order])
    return rows, [remapped(each, found) for each in moved]


def _extracted_of_side(plan: Plan, correlation: int, keeps_rows: bool) -> tuple[Plan, list[Expression]] | None:
    if correlation not in correlations_of(plan):
        return plan, []
    return _extracted(plan, correlation) if keeps_rows else None


def _refers(expression: Expression, correlation: int) -> bool:
    return any(
        isinstance(each, CorrelatedReference) and each.correlation == correlation
        for each in walk_expression(expression)
    )


def _outer_columns(plan: Plan, correlation: int) -> set[int]:
    found: set[int] = set()
    for expression in expressions_of(plan):
        for part in walk_expression(expression):
            if isinstance(part, CorrelatedReference) and part.correlation == correlation:
                found.add(part.index)
    for each in plan.inputs:
        found |= _outer_columns(each, correlation)
    return found
