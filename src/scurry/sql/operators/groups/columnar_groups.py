"""The groups of a GlobalGroupAggregate, kept in columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import arrow_batch, taken
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.aggregation.partial import PartialState, partials
from scurry.sql.operators.groups.net_changes import net_changes
from scurry.sql.operators.groups.two_phase import merged_states
from scurry.sql.operators.hashed_rows.function import HashedRowsFunction, KeptRows
from scurry.sql.operators.partitioning import HashedChanges
from scurry.sql.plan.physical.aggregates import GlobalGroupAggregate
from scurry.sql.types.arrow import arrow_type


def keeps_states_only(plan: GlobalGroupAggregate, session: EvaluationContext) -> bool:
    """Return whether groups have no more than states of aggregates: no rows, and no different values."""
    aggregate = plan.aggregate
    sent, _, _ = partials(aggregate.calls, aggregate.input.schema, plan.retracts, session)
    return all(isinstance(each, PartialState) for each in sent)


class ColumnarGroups(HashedRowsFunction):
    """Merge the partial states of `LocalGroups` by group; emit the change of each group.

    A group is a row with the columns that `LocalGroups` sends: its key, its number of rows if they may be taken back,
    and the states of its aggregates.
    """

    def __init__(self, plan: GlobalGroupAggregate, updates_before: bool, session: EvaluationContext) -> None:
        self._plan = plan
        self._updates_before = updates_before
        self._session = session

    def open(self, context: Any) -> None:
        """Make the accumulators; begin without groups in memory."""
        super().open(context)
        plan, aggregate = self._plan, self._plan.aggregate
        sent, _, _ = partials(aggregate.calls, aggregate.input.schema, plan.retracts, self._session)
        self._sent = [each for each in sent if isinstance(each, PartialState)]
        types = [arrow_type(aggregate.schema[key].type) for key in plan.keys]
        types += [pa.int64()] * plan.retracts
        types += [kind for each in self._sent for kind in each.types]
        self._schema = pa.schema([(f"c{place}", kind) for place, kind in enumerate(types)])

    def process(self, index: int, rows: HashedChanges, context: RowsContext) -> list[Changes]:
        plan, new = self._plan, rows.changes.batch
        kept = self._rows_of_keys(rows, self._schema, plan.keys, context)
        count = len(kept.first)
        first = pa.array(kept.first)
        keys = [new.column(key).take(first) for key in plan.keys]
        existed = np.zeros(count, dtype=bool)
        existed[kept.group_ids] = True
        numbers = self._numbers(kept, new)
        remains = np.ones(count, dtype=bool) if numbers is None else numbers > 0
        values, compared = [], []
        columns = [*keys, *([] if numbers is None else [pa.array(numbers)])]
        for call, sent in zip(plan.aggregate.calls, self._sent, strict=True):
            own = slice(len(columns), len(columns) + sent.width)
            column, tests, after = merged_states(
                sent, new.columns[own], kept.new_group_ids, count, kept.batch.columns[own], kept.group_ids
            )
            values.append(column)
            compared += [(call.function, each) for each in tests]
            columns += after
        kept.table.remove(kept.numbers, kept.hashes)
        groups = np.flatnonzero(remains)
        kept.table.add(taken(arrow_batch(columns, self._schema.names, count), groups), rows.hashes[kept.first[groups]])
        indices = np.arange(count), np.arange(count, 2 * count)
        return net_changes(keys, values, indices, (existed, remains), compared, self._updates_before, plan.schema)

    def _numbers(self, kept: KeptRows, new: pa.RecordBatch) -> Any:
        """Return the number of rows of each group; None if rows are not taken back."""
        if not self._plan.retracts:
            return None
        place, count = len(self._plan.keys), len(kept.first)
        numbers = np.bincount(kept.new_group_ids, weights=np.asarray(new.column(place)), minlength=count).astype(
            np.int64
        )
        numbers[kept.group_ids] += np.asarray(kept.batch.column(place))
        return numbers
