"""Expand: each row once per grouping set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.plan.physical.aggregates import Expand


class ExpandRows:
    """Repeat each row for each grouping set."""

    def __init__(self, plan: Expand) -> None:
        self._plan = plan

    def map(self, changes: Changes) -> Changes:
        plan, sets = self._plan, len(self._plan.grouping_sets)
        rows = changes.batch.num_rows
        positions = np.repeat(np.arange(rows), sets)
        batch = taken(changes.batch, positions)
        columns: list[Any] = list(batch.columns)
        for place, key in enumerate(plan.keys):
            absent = np.tile([place not in each for each in plan.grouping_sets], rows)
            column = batch.column(key)
            source = pa.array(np.arange(len(positions)), mask=absent)
            columns.append(column.take(source))
        columns.append(pa.array(np.tile(plan.numbers, rows), pa.int64()))
        kinds = None if changes.kinds is None else np.asarray(changes.kinds)[positions]
        return Changes(batch_of(columns, plan.schema, len(positions)), kinds)
