"""MATCH_RECOGNIZE as a node of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.sql.operators.match.operator import EventTimeMatch, ProcessingTimeMatch
from scurry.sql.plan.matching import Match
from scurry.sql.plan.rewriting import without_inputs
from scurry.sql.types.families import is_rowtime

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering

__all__ = ["lower_match"]


def lower_match(lowering: Lowering, plan: Match) -> Node:
    """Return the node that finds matches; rows that wait for event time are kept by key group."""
    has_event_time = is_rowtime(plan.input.schema[plan.order_by[0].index].type)
    kind: Any = EventTimeMatch if has_event_time else ProcessingTimeMatch
    function = kind(without_inputs(plan), lowering.session)
    return lowering.keyed([lowering.node(plan.input)], [plan.partition_by], function, "Match", by_group=has_event_time)
