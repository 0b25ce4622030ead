"""Aggregates of groups as nodes of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.common._config.tables import MINI_BATCH_ENABLED
from scurry.graph import operators as ops
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.operators.calc import ExpandRows
from scurry.sql.operators.groups.aggregate import GroupAggregate
from scurry.sql.operators.groups.columnar_groups import ColumnarGroups, keeps_states_only
from scurry.sql.operators.groups.row_changes import ColumnarGroupAggregate, keeps_columns
from scurry.sql.operators.groups.table_aggregate import GroupTableAggregate
from scurry.sql.operators.groups.two_phase import GlobalGroups, LocalGroups
from scurry.sql.plan.nodes import Aggregate, TableAggregate
from scurry.sql.plan.physical.aggregates import Expand, GlobalGroupAggregate, LocalGroupAggregate
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.planner.monotonicity import never_retracted

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering


def lower_group_aggregate(lowering: Lowering, plan: Aggregate) -> Node:
    """Return the node that aggregates groups, with a change for each row."""
    bare = without_inputs(plan)
    assert isinstance(bare, Aggregate)
    retracts = not lowering.changelogs.is_insert_only(plan.input)
    bundles = lowering.session.get(MINI_BATCH_ENABLED)
    # PyFlink calls functions for the rows of a bundle, which change a group once.
    bundles = bundles or any(isinstance(call.function, UserFunction) for call in plan.calls)
    before = lowering.changelogs.updates_before(plan)
    ttl = lowering.state_ttl if plan.state_ttl is None else plan.state_ttl
    rows, keys = [lowering.node(plan.input)], [plan.keys]
    if not (retracts or ttl or bundles) and keeps_columns(plan, lowering.session):
        columnar = ColumnarGroupAggregate(bare, before, lowering.session)
        return lowering.keyed(rows, keys, columnar, "GroupAggregate", by_hash=True)
    function = GroupAggregate(bare, retracts, never_retracted(plan), before, ttl, bundles, lowering.session)
    return lowering.keyed(rows, keys, function, "GroupAggregate")


def lower_local_aggregate(lowering: Lowering, plan: LocalGroupAggregate) -> Node:
    """Return the node that aggregates rows where they are read."""
    function = LocalGroups(without_inputs(plan), lowering.session)
    return lowering.operator(lowering.node(plan.input), ops.Map(function), "LocalGroupAggregate")


def lower_global_aggregate(lowering: Lowering, plan: GlobalGroupAggregate) -> Node:
    """Return the node that merges the partial states of groups from the local phase."""
    before = lowering.changelogs.updates_before(plan)
    ttl = lowering.state_ttl if plan.aggregate.state_ttl is None else plan.aggregate.state_ttl
    bare, rows, keys = without_inputs(plan), [lowering.node(plan.input)], [plan.keys]
    if keeps_states_only(plan, lowering.session) and not ttl:
        columnar = ColumnarGroups(bare, before, lowering.session)
        return lowering.keyed(rows, keys, columnar, "GlobalGroupAggregate", by_hash=True)
    function = GlobalGroups(bare, before, ttl, lowering.session)
    return lowering.keyed(rows, keys, function, "GlobalGroupAggregate")


def lower_table_aggregate(lowering: Lowering, plan: TableAggregate) -> Node:
    """Return the node that makes rows of groups."""
    bare = without_inputs(plan)
    assert isinstance(bare, TableAggregate)
    function = GroupTableAggregate(bare, lowering.state_ttl, lowering.session)
    return lowering.keyed([lowering.node(plan.input)], [plan.keys], function, "GroupTableAggregate")


def lower_expand(lowering: Lowering, plan: Expand) -> Node:
    """Return the node that repeats rows for grouping sets."""
    bare = without_inputs(plan)
    assert isinstance(bare, Expand)
    return lowering.operator(lowering.node(plan.input), ops.Map(ExpandRows(bare)), "Expand")
