"""MATCH_RECOGNIZE as a node of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.logical_types.families import is_rowtime
from scurry.relational.matching import Match
from scurry.relational.rewriting import without_inputs
from scurry.runtime.tables.streaming.match.operator import EventTimeMatch, ProcessingTimeMatch

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.runtime.tables.streaming.lowering import Lowering

__all__ = ["lower_match"]


def lower_match(lowering: Lowering, plan: Match) -> Node:
    """Return the node that finds matches; rows that wait for event time are kept by key group."""
    has_event_time = is_rowtime(plan.input.schema[plan.order_by[0].index].type)
    kind: Any = EventTimeMatch if has_event_time else ProcessingTimeMatch
    function = kind(without_inputs(plan), lowering.session)
    return lowering.keyed([lowering.node(plan.input)], [plan.partition_by], function, "Match", by_group=has_event_time)
