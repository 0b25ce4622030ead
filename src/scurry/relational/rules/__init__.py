"""Rules that rewrite plans, in the order of `RULES`; then those of STREAMING.

Each rule is a module with a function of a plan and the session, which returns a plan with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable

from scurry.functions.definition import Session
from scurry.relational.plan import Plan
from scurry.relational.rules.batch_limits import check_batch
from scurry.relational.rules.merge_projections import merge_projections
from scurry.relational.rules.order_joins import order_joins
from scurry.relational.rules.prune_columns import prune_columns
from scurry.relational.rules.push_filters import push_filters
from scurry.relational.rules.streaming import STREAMING_RULES
from scurry.relational.rules.streaming_limits import check_streaming
from scurry.relational.rules.subqueries import subqueries_to_joins

__all__ = ["RULES", "optimized"]

Rule = Callable[[Plan, Session], Plan]

RULES: tuple[Rule, ...] = (
    subqueries_to_joins,
    check_batch,
    check_streaming,
    push_filters,
    order_joins,
    prune_columns,
    merge_projections,
)


def optimized(plan: Plan, session: Session) -> Plan:
    """Apply all rules to a plan.

    Args:
        plan: The plan that the validator made.
        session: The session.

    Returns:
        A plan with the same rows, which can be executed.
    """
    for rule in (*RULES, *(STREAMING_RULES if session.is_streaming else ())):
        plan = rule(plan, session)
    return plan
