"""Aggregates of groups as nodes of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.graph import operators as ops
from scurry.relational.physical.aggregates import Expand
from scurry.relational.plan import Aggregate
from scurry.relational.rewriting import without_inputs
from scurry.runtime.tables.streaming.groups.aggregate import GroupAggregate
from scurry.runtime.tables.streaming.groups.expand import ExpandRows

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.runtime.tables.streaming.lowering import Lowering

__all__ = ["lower_expand", "lower_group_aggregate"]


def lower_group_aggregate(lowering: Lowering, plan: Aggregate) -> Node:
    """Return the node that aggregates groups, with a change for each row."""
    bare = without_inputs(plan)
    assert isinstance(bare, Aggregate)
    retracts = not lowering.changelogs.is_insert_only(plan.input)
    bundles = dict(lowering.session.options).get("table.exec.mini-batch.enabled", "false").lower() == "true"
    before = lowering.changelogs.updates_before(plan)
    ttl = lowering.state_ttl if plan.state_ttl is None else plan.state_ttl
    function = GroupAggregate(bare, retracts, before, ttl, bundles, lowering.session)
    return lowering.keyed([lowering.node(plan.input)], [plan.keys], function, "GroupAggregate")


def lower_expand(lowering: Lowering, plan: Expand) -> Node:
    """Return the node that repeats rows for grouping sets."""
    bare = without_inputs(plan)
    assert isinstance(bare, Expand)
    return lowering.operator(lowering.node(plan.input), ops.Map(ExpandRows(bare)), "Expand")
