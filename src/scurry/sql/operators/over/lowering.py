"""OVER aggregations as nodes of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.sql.operators.over.aggregate import EventTimeOver, ProcessingTimeOver
from scurry.sql.operators.over.any_order import AnyOrderOver
from scurry.sql.plan.physical.over import NonTimeOverAggregate, OverAggregate
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering


def lower_over(lowering: Lowering, plan: OverAggregate) -> Node:
    """Return the node that aggregates the rows before each row."""
    bare, session = without_inputs(plan), lowering.session
    function: Any
    if isinstance(plan, NonTimeOverAggregate):
        function = AnyOrderOver(bare, lowering.changelogs.updates_before(plan), lowering.state_ttl, session)
    else:
        function = (EventTimeOver if plan.has_event_time else ProcessingTimeOver)(bare, lowering.state_ttl, session)
    return lowering.keyed([lowering.node(plan.input)], [plan.partition_by], function, "OverAggregate")
