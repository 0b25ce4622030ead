"""Rules that rewrite plans, in the order of `RULES`; then those of STREAMING, and that of patterns.

Each rule is a module with a function of a plan and the session, which returns a plan with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scurry.common._config.tables import EXCLUDED_RULES
from scurry.errors import ValidationError
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.planner.rules.limits import check_batch, check_streaming
from scurry.sql.planner.rules.merge_projections import merge_projections, unneeded_aggregates
from scurry.sql.planner.rules.order_joins import order_joins
from scurry.sql.planner.rules.pattern_matches import pattern_matches
from scurry.sql.planner.rules.prune_columns import prune_columns
from scurry.sql.planner.rules.prune_empty import prune_empty
from scurry.sql.planner.rules.push_filters import push_filters
from scurry.sql.planner.rules.streaming import STREAMING_RULES
from scurry.sql.planner.rules.streaming.scan_changes import scan_changes
from scurry.sql.planner.rules.streaming.set_operations import compared_set_operations
from scurry.sql.planner.rules.subqueries import subqueries_to_joins
from scurry.sql.planner.rules.unused_joins import unused_joins

__all__ = ["EXCLUDABLE", "RULES", "optimized"]

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


def optimized(plan: Plan, session: EvaluationContext, changes: Mapping[Any, str] | None = None) -> Plan:
    """Apply all rules to a plan, but for those that the setting `scurry.optimizer.excluded-rules` names.

    Args:
        plan: The plan that the validator made.
        session: The session.
        changes: As for `scan_changes`, by which operations of STREAMING are chosen; None if all rows are inserted.

    Returns:
        A plan with the same rows, which can be executed.

    Raises:
        ValidationError: The plan cannot be executed, or a rule cannot be excluded.
    """
    excluded = _excluded(session)
    for rule in RULES:
        if rule.__name__ not in excluded:
            plan = rule(plan, session)
    if session.is_streaming:
        plan = plan if changes is None else scan_changes(plan, changes, session)
        for rule in STREAMING_RULES:
            plan = rule(plan, session)
    else:
        plan = compared_set_operations(plan, session)
    # The changes of a pattern's rows are known from the chosen operations only.
    return pattern_matches(plan, session)


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
