"""Operators on the kinds of changes as nodes of a job graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scurry.sql.operators.changes.compacting import CompactingMaterializer
from scurry.sql.operators.changes.materialize import SinkUpsertMaterializer
from scurry.sql.operators.changes.normalize import ChangelogNormalizer
from scurry.sql.plan.nodes import Sink
from scurry.sql.plan.physical.changes import ChangelogNormalize
from scurry.sql.planner.unique_keys import upsert_keys

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering


def lower_changelog_normalize(lowering: Lowering, plan: ChangelogNormalize) -> Node:
    """Return the node that keeps the row of each key."""
    function = ChangelogNormalizer(plan.schema, lowering.changelogs.updates_before(plan), lowering.state_ttl)
    return lowering.keyed([lowering.node(plan.input)], [plan.key], function, "ChangelogNormalize")


def materialized(lowering: Lowering, sink: Sink) -> Node:
    """Return the node of a sink's rows, as changes by the table's key if the query's are by another one."""
    rows = lowering.node(sink.input)
    if not sink.upsert_materialize:
        return rows
    keys = sorted(map(sorted, upsert_keys(sink.input)), key=len)
    upsert_key = keys[0] if keys else ()
    if sink.on_conflict in (None, "DEDUPLICATE"):
        function: Any = SinkUpsertMaterializer(sink.schema, upsert_key, lowering.state_ttl)
    else:
        function = CompactingMaterializer(sink.schema, sink.key, upsert_key, sink.on_conflict == "ERROR")
    return lowering.keyed([rows], [sink.key], function, "SinkUpsertMaterializer")
