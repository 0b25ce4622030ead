"""BATCH as Flink plans it: operators with phases, strategies and exchanges, of plans without statistics."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.plan import nodes
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical.windows import GroupWindowAggregate
from scurry.sql.planner.explain.batch.aggregates import aggregate_operator, group_window_operator
from scurry.sql.planner.explain.batch.joins import join_operator
from scurry.sql.planner.explain.batch.ordering import limit_operator, over_operator, sort_operator
from scurry.sql.planner.explain.expressions import PrefixText
from scurry.sql.planner.explain.trees import Operator

__all__ = ["batch_operator", "limit_operator"]


def batch_operator(plan: Plan, inputs: Sequence[Operator], text: PrefixText) -> Operator | None:
    """Return the operators of an operation in BATCH; None if it is shown as in STREAMING.

    Args:
        inputs: Its inputs; of a limit of sorted rows those that are sorted.
        text: Returns the texts of expressions.
    """
    if isinstance(plan, nodes.Aggregate):
        return aggregate_operator(plan, inputs[0])
    if isinstance(plan, GroupWindowAggregate):
        return group_window_operator(plan, inputs[0])
    if isinstance(plan, nodes.Join):
        return join_operator(plan, inputs[0], inputs[1], text)
    if isinstance(plan, nodes.Sort):
        return sort_operator(plan, inputs[0])
    if isinstance(plan, nodes.Limit):
        return limit_operator(plan, inputs[0])
    return over_operator(plan, inputs[0]) if isinstance(plan, nodes.Over) else None
