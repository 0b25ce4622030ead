"""Ranks, deduplication, limits and sorting as nodes of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.sql.operators.ranks.columnar_top_n import MOST_ROWS, ColumnarTopN
from scurry.sql.operators.ranks.deduplicate import FirstRow, FirstRowByEventTime, FirstRowByProcessingTime
from scurry.sql.operators.ranks.last_row import ExpiringLastRow, LastRow
from scurry.sql.operators.ranks.sort import FirstRows, TimeSort
from scurry.sql.operators.ranks.top_n import AppendOnlyTopN, RetractableTopN, UpdatableTopN
from scurry.sql.plan.nodes import Limit
from scurry.sql.plan.physical.ranks import Deduplicate, Rank, TemporalSort
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering

_STRATEGIES = {
    "AppendFastStrategy": AppendOnlyTopN,
    "UpdateFastStrategy": UpdatableTopN,
    "RetractStrategy": RetractableTopN,
}


def lower_rank(lowering: Lowering, plan: Rank) -> Node:
    """Return the node that keeps the first rows of each partition."""
    name = "Rank" if not plan.is_limit else "SortLimit" if plan.order_by else "Limit"
    bare, rows, keys = without_inputs(plan), [lowering.node(plan.input)], [plan.partition_by]
    with_before, ttl = lowering.changelogs.updates_before(plan), lowering.state_ttl
    is_small = 0 < plan.end <= MOST_ROWS and plan.end_column is None
    if plan.strategy == "AppendFastStrategy" and is_small and not ttl:
        return lowering.keyed(rows, keys, ColumnarTopN(bare, with_before), name, by_hash=True)
    return lowering.keyed(rows, keys, _STRATEGIES[plan.strategy](bare, with_before, ttl), name)


def lower_deduplicate(lowering: Lowering, plan: Deduplicate) -> Node:
    """Return the node that keeps the first or the last row of each key."""
    bare, rows, keys = without_inputs(plan), [lowering.node(plan.input)], [plan.keys]
    with_before, ttl = lowering.changelogs.updates_before(plan), lowering.state_ttl
    if plan.keep_last and not ttl:
        return lowering.keyed(rows, keys, LastRow(bare, with_before), "Deduplicate", by_hash=True)
    if not (plan.keep_last or plan.has_event_time or ttl):
        return lowering.keyed(rows, keys, FirstRow(bare), "Deduplicate", by_hash=True)
    first = FirstRowByEventTime if plan.has_event_time else FirstRowByProcessingTime
    kind = ExpiringLastRow if plan.keep_last else first
    return lowering.keyed(rows, keys, kind(bare, with_before, ttl), "Deduplicate")


def lower_limit(lowering: Lowering, plan: Limit) -> Node:
    """Return the node that passes on the rows that come first."""
    function = FirstRows(without_inputs(plan), lowering.state_ttl)
    return lowering.keyed([lowering.node(plan.input)], [()], function, "Limit")


def lower_temporal_sort(lowering: Lowering, plan: TemporalSort) -> Node:
    """Return the node that emits rows in the order of time."""
    return lowering.keyed([lowering.node(plan.input)], [()], TimeSort(without_inputs(plan)), "TemporalSort")
