"""Rules that rewrite plans, in the order of `RULES`; then those of STREAMING, and that of patterns.

Each rule is a module with a function of a plan and the session, which returns a plan with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scurry.common._config.tables import EXCLUDED_RULES
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.rules.explained import (
    SHAPING,
    SHOWN,
    WRITTEN,
    named_columns_of_values,
    narrowed_windows,
    split_distinct,
    windows_of_having,
    without_marks,
)
from scurry.sql.planner.rules.explained.names import all_selected
from scurry.sql.planner.rules.explained.sinks import named_by_query
from scurry.sql.planner.rules.limits import check_batch, check_streaming
from scurry.sql.planner.rules.merge_projections import merge_projections, unneeded_aggregates
from scurry.sql.planner.rules.order_joins import order_joins
from scurry.sql.planner.rules.pattern_matches import pattern_matches
from scurry.sql.planner.rules.prune_columns import prune_columns
from scurry.sql.planner.rules.prune_empty import prune_empty
from scurry.sql.planner.rules.push_filters import push_filters
from scurry.sql.planner.rules.streaming import STREAMING_RULES
from scurry.sql.planner.rules.streaming.aggregates import expand_grouping_sets
from scurry.sql.planner.rules.streaming.scan_changes import scan_changes
from scurry.sql.planner.rules.streaming.set_operations import compared_set_operations, set_operations
from scurry.sql.planner.rules.subqueries import subqueries_to_joins
from scurry.sql.planner.rules.unused_joins import unused_joins

__all__ = ["EXCLUDABLE", "RULES", "all_selected", "as_written", "named_by_query", "optimized"]

Rule = Callable[[Plan, EvaluationContext], Plan]

RULES: tuple[Rule, ...] = (
    subqueries_to_joins,
    check_batch,
    push_filters,
    # Below joins, too, a filter makes a Top-N of a ranking.
    check_streaming,
    prune_empty,
    order_joins,
    prune_columns,
    merge_projections,
    unneeded_aggregates,
    unused_joins,
)

#: Of `explained`, what other rules would hide.
BEFORE: tuple[Rule, ...] = (named_columns_of_values, narrowed_windows, windows_of_having)

#: Operations of BATCH that Flink computes of others.
SHOWN_IN_BATCH: tuple[Rule, ...] = (set_operations, unneeded_aggregates, split_distinct, expand_grouping_sets)

#: Rules without which plans have the same rows; but for `prune_empty`, global aggregates of no rows in STREAMING.
EXCLUDABLE: tuple[Rule, ...] = (
    push_filters,
    prune_empty,
    order_joins,
    prune_columns,
    merge_projections,
    unneeded_aggregates,
    unused_joins,
)


def optimized(
    plan: Plan, session: EvaluationContext, changes: Mapping[Any, str] | None = None, explained: bool = False
) -> Plan:
    """Apply all rules to a plan, but for those that the setting `scurry.optimizer.excluded-rules` names.

    Args:
        plan: The plan that the validator made.
        changes: As for `scan_changes`, by which operations of STREAMING are chosen; None if all rows are inserted.
        explained: Whether the plan is for EXPLAIN, in the shape that Flink shows, and not executed.

    Returns:
        A plan with the same rows, which can be executed.

    Raises:
        ValidationError: The plan cannot be executed, or a rule cannot be excluded.
    """
    excluded = _excluded(session)
    session = replace(session, is_explained=True) if explained else session
    plan = _applied(BEFORE, plan, session) if explained else plan
    for rule in RULES:
        if rule.__name__ not in excluded:
            shaping = explained and rule is prune_columns
            plan = rule(_applied(SHAPING, plan, session) if shaping else plan, session)
            plan = without_marks(plan) if shaping else plan
    if session.is_streaming:
        plan = plan if changes is None else scan_changes(plan, changes, session)
        for rule in STREAMING_RULES:
            plan = rule(plan, session)
    else:
        plan = _applied(SHOWN_IN_BATCH if explained else (compared_set_operations,), plan, session)
    # The changes of a pattern's rows are known from the chosen operations only.
    plan = pattern_matches(plan, session)
    return _applied(SHOWN, plan, session) if explained else plan


def as_written(plan: Plan, session: EvaluationContext) -> Plan:
    """Return a plan that the validator made as EXPLAIN shows it first."""
    return _applied(WRITTEN, plan, session)


def _applied(rules: Sequence[Rule], plan: Plan, session: EvaluationContext) -> Plan:
    for rule in rules:
        plan = rule(plan, session)
    return plan


def _excluded(session: EvaluationContext) -> set[str]:
    """Return the rules that are left out."""
    given = session.get(EXCLUDED_RULES)
    found = {name for each in given.split(";") if (name := each.strip())}
    known = sorted(rule.__name__ for rule in EXCLUDABLE)
    unknown = sorted(found.difference(known))
    if unknown:
        raise ValidationError(
            f"{EXCLUDED_RULES.key}: {', '.join(unknown)} cannot be left out; there are {', '.join(known)}"
        )
    return found
