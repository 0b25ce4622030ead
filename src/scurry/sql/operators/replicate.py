"""Rows that are repeated as often as a column says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from scurry.graph import operators as ops
from scurry.sql.connectors.contract import Changes
from scurry.sql.plan.physical.changes import ReplicateRows

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering


def lower_replicate(lowering: Lowering, plan: ReplicateRows) -> Node:
    return lowering.operator(lowering.node(plan.input), ops.FlatMap(Replicate()), "Correlate")


class Replicate:
    """Repeat each row as often as its last column says."""

    def flat_map(self, changes: Changes) -> list[Changes]:
        """Return the rows without that column."""
        batch, kinds = changes.batch, changes.kinds
        times = np.asarray(batch.column(batch.num_columns - 1))
        rows = np.repeat(np.arange(batch.num_rows), times)
        if not len(rows):
            return []
        found = batch.select(range(batch.num_columns - 1)).take(pa.array(rows))
        return [Changes(found, None if kinds is None else kinds[rows])]
