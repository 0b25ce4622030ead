"""The changes of groups after each row, and groups that are kept in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state.layout import Entry
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.aggregating import filter_mask
from scurry.sql.evaluation.batch.batches import arrow_batch, taken
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.aggregation.columnar import ColumnarRunning
from scurry.sql.operators.aggregation.running import RunningAggregate, running
from scurry.sql.operators.aggregation.segments import Segments, segments_of
from scurry.sql.operators.groups.kept import decoded
from scurry.sql.operators.groups.net_changes import AFTER, BEFORE, DELETE, INSERT, emitted, unchanged
from scurry.sql.operators.hashed_rows.function import HashedRowsFunction
from scurry.sql.operators.partitioning import HashedChanges
from scurry.sql.plan.expressions import AggregateCall
from scurry.sql.plan.nodes import Aggregate
from scurry.sql.types.arrow import arrow_type


class RunningValues(NamedTuple):
    """The values of aggregates after each row.

    Attributes:
        batch: The rows, sorted by group.
        order: For each row its place among the rows as they came.
        segments: How the rows are divided.
        columns: The values of each aggregate at all places.
    """

    batch: pa.RecordBatch
    order: Any
    segments: Segments
    columns: Sequence[pa.Array]


def compared_columns(
    plan: Aggregate, aggregates: Sequence[RunningAggregate], columns: Sequence[pa.Array]
) -> Iterator[tuple[Any, pa.Array]]:
    """Yield the columns that tell whether a group has changed, each with its aggregate."""
    for call, each, column in zip(plan.calls, aggregates, columns, strict=True):
        for compared in each.compared(column):
            yield call.function, compared


def changes_of_rows(
    plan: Aggregate,
    values: RunningValues,
    fresh: Any,
    gone: Any,
    compared: Iterable[tuple[Any, pa.Array]] | None,
    updates_before: bool,
) -> list[Changes]:
    """Return the change of each row, in the order in which they came.

    Args:
        values: The values after each row.
        fresh: For each segment whether it is a new group.
        gone: For each row whether its group ends with it; None if none does.
        compared: The columns that tell whether a group has changed, each with its aggregate; None if groups are emitted
            that have not changed.
        updates_before: Whether an update has the row before it.
    """
    batch, order, segments, columns = values
    indices = segments.place_of_row
    first = np.zeros(len(order), dtype=bool)
    first[segments.starts] = fresh
    updated = ~first
    if gone is not None:
        updated &= ~gone
    if compared is not None:
        same = np.ones(len(order), dtype=bool)
        for function, column in compared:
            same &= unchanged(column, indices, indices - 1, function)
            if not same.any():
                break
        updated &= ~same
    # A row of the result: the row that causes it, where its values are, its kind.
    parts = [(np.flatnonzero(first), 0, INSERT), (np.flatnonzero(updated), 0, AFTER)]
    if updates_before:
        parts.insert(1, (np.flatnonzero(updated), 1, BEFORE))
    if gone is not None:
        parts.append((np.flatnonzero(gone & ~first), 1, DELETE))
    found = [(rows, indices[rows] - back, kind) for rows, back, kind in parts]
    return emitted([batch.column(key) for key in plan.keys], columns, found, order, plan.schema)


def counted_rows(call: AggregateCall, batch: pa.RecordBatch) -> Any:
    """Return for each row whether FILTER lets it pass."""
    found = filter_mask(call, batch)
    return np.ones(batch.num_rows, dtype=bool) if found is None else found


def keeps_columns(plan: Aggregate, session: EvaluationContext) -> bool:
    """Return whether groups of rows that are only added have no more than a few values of each aggregate."""
    return not any(call.distinct and call.arguments for call in plan.calls) and all(
        isinstance(running(call, plan.input.schema, False, session), ColumnarRunning) for call in plan.calls
    )


class ColumnarGroupAggregate(HashedRowsFunction):
    """Aggregate rows that are only added; emit a change for each row, as Flink without mini-batches.

    A group is a row with its key and what its aggregates keep.
    """

    def __init__(self, plan: Aggregate, updates_before: bool, session: EvaluationContext) -> None:
        self._plan = plan
        self._updates_before = updates_before
        self._session = session

    def open(self, context: Any) -> None:
        """Make the aggregates; begin without groups in memory."""
        super().open(context)
        plan, self._running = self._plan, list[ColumnarRunning]()
        for call in plan.calls:
            found = running(call, plan.input.schema, False, self._session)
            assert isinstance(found, ColumnarRunning)
            self._running.append(found)
        types = [arrow_type(plan.schema[place].type) for place in range(len(plan.keys))]
        types += [kind for each in self._running for kind in each.types]
        self._schema = pa.schema([(f"c{place}", kind) for place, kind in enumerate(types)])

    takes_over_entries = True

    def row_of(self, entry: Entry) -> list[Any] | None:
        """Return the row of a group whose state was kept by key."""
        group = decoded(entry)
        return None if group is None else [value for state in group[1] for value in state]

    def process(self, index: int, rows: HashedChanges, context: RowsContext) -> list[Changes]:
        """Return the changes of the groups, in the order of the rows."""
        plan, new = self._plan, rows.changes.batch
        kept = self._rows_of_keys(rows, self._schema, plan.keys, context, range(len(plan.keys)))
        order = np.argsort(kept.new_group_ids, kind="stable")
        batch, segments = taken(new, order), segments_of(kept.new_group_ids[order], None, None)
        first = pa.array(kept.first)
        columns, groups = [], [new.column(key).take(first) for key in plan.keys]
        for call, each in zip(plan.calls, self._running, strict=True):
            before = kept.batch.columns[len(groups) : len(groups) + len(each.types)]
            values, after = each.advanced(batch, counted_rows(call, batch), segments, kept.group_ids, before)
            columns.append(values)
            groups += after
        fresh = np.ones(len(kept.first), dtype=bool)
        fresh[kept.group_ids] = False
        kept.table.remove(kept.numbers, kept.hashes)
        kept.table.add(arrow_batch(groups, self._schema.names, len(kept.first)), rows.hashes[kept.first])
        compared = compared_columns(plan, self._running, columns)
        found = RunningValues(batch, order, segments, columns)
        return changes_of_rows(plan, found, fresh, None, compared, self._updates_before)
