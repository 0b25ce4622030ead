"""TO_CHANGELOG and FROM_CHANGELOG in STREAMING: kinds of changes as codes in a column, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.graph import operators as ops
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.changelog_functions import changes_of
from scurry.sql.plan.changelog_functions import FromChangelog, ToChangelog
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.graph.nodes import Node
    from scurry.sql.operators.lowering import Lowering


def lower_to_changelog(lowering: Lowering, plan: ToChangelog) -> Node:
    """Return the node that makes rows of changes."""
    return lowering.operator(
        lowering.node(plan.input), ops.FlatMap(ChangesToRows(without_inputs(plan))), "ProcessTableFunction"
    )


def lower_from_changelog(lowering: Lowering, plan: FromChangelog) -> Node:
    """Return the node that makes changes of rows."""
    return lowering.operator(
        lowering.node(plan.input), ops.Map(RowsToChanges(without_inputs(plan))), "ProcessTableFunction"
    )


class ChangesToRows:
    """Make inserted rows of changes: the code of the kind, then the row."""

    def __init__(self, plan: ToChangelog) -> None:
        """Describe the call.

        Args:
            plan: The call; of its input only the columns matter.
        """
        code_of = {kind: code for code, kind in plan.codes}
        self._plan = plan
        self._codes = [code_of.get(kind.value) for kind in RowKind]

    def flat_map(self, changes: Changes) -> list[Changes]:
        """Return the rows of the changes whose kinds have a code."""
        batch, rows = changes.batch, changes.batch.num_rows
        kinds = np.zeros(rows, np.int8) if changes.kinds is None else np.asarray(changes.kinds)
        codes = pa.array(self._codes, pa.string()).take(pa.array(kinds))
        if codes.null_count:
            kept = np.flatnonzero(np.asarray(codes.is_valid()))
            batch, codes, rows = taken(batch, kept), codes.take(pa.array(kept)), len(kept)
        if not rows:
            return []
        times = [] if self._plan.time is None else [batch.column(self._plan.time)]
        return [Changes(batch_of([codes, *batch.columns, *times], self._plan.schema, rows))]


class RowsToChanges:
    """Make changes of inserted rows: the row without its code, with the kind that this stands for."""

    def __init__(self, plan: FromChangelog) -> None:
        """Describe the call.

        Args:
            plan: The call; of its input only the columns matter.
        """
        self._plan = plan

    def map(self, changes: Changes) -> Changes:
        batch, kinds = changes_of(self._plan, changes.batch)
        return Changes(batch, kinds if kinds.any() else None)
