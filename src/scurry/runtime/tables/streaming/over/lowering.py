"""OVER aggregations as nodes of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.errors import UnsupportedError
from scurry.relational.physical.over import OverAggregate
from scurry.relational.rewriting import without_inputs
from scurry.runtime.tables.streaming.over.aggregate import EventTimeOver, ProcessingTimeOver

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.runtime.tables.streaming.lowering import Lowering

__all__ = ["lower_over"]


def lower_over(lowering: Lowering, plan: OverAggregate) -> Node:
    """Return the node that aggregates the rows before each row.

    Raises:
        UnsupportedError: The rows are not ordered by time.
    """
    if not plan.has_time:
        raise UnsupportedError("OVER ordered by a column that is no time attribute, in STREAMING; order by event time")
    function = (EventTimeOver if plan.has_event_time else ProcessingTimeOver)(without_inputs(plan), lowering.session)
    return lowering.keyed([lowering.node(plan.input)], [plan.partition_by], function, "OverAggregate")
