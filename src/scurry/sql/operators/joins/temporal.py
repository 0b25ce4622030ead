"""The event-time temporal join: left rows wait for the watermark, then find the version of their time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.graph.nodes import Node
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import concatenated, milliseconds, taken
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.expiry import CLEANUP, IdleStateRetention
from scurry.sql.operators.joins.rows import Pairs, RowValues, batch_from, rows_of
from scurry.sql.operators.partitioning import KeyedChanges, keys_of
from scurry.sql.operators.waiting import WaitingRows, concatenated_kinds
from scurry.sql.plan.physical.joins import EventTimeTemporalJoin
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

#: Left rows that wait, of a key group.
WAITING = "temporal-join-waiting"
#: The versions of a key: two lists of the same length, times in ascending order and rows; None for a deletion.
VERSIONS = "temporal-join-versions"

Versions = tuple[list[int], list[RowValues | None]]

_BEFORE, _DELETE = RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value


def lower_temporal_join(lowering: Lowering, plan: EventTimeTemporalJoin) -> Node:
    """Return the node that joins: left rows are kept by key group, versions by key."""
    function = TemporalJoin(without_inputs(plan), lowering.state_ttl, lowering.session)
    inputs = [lowering.node(plan.left), lowering.node(plan.right)]
    keys = [[key.left for key in plan.keys], [key.right for key in plan.keys]]
    return lowering.keyed(inputs, keys, function, plan.operator, by_group=(True, False))


class TemporalJoin(KeyedRowsFunction):
    """Join left rows with versions of right rows."""

    def __init__(self, plan: EventTimeTemporalJoin, ttl: int, session: EvaluationContext) -> None:
        """Describe the join.

        Args:
            plan: The join, whose inputs matter only by their columns.
            ttl: Milliseconds after which a key without rows is forgotten; 0 for never.
        """
        self._ttl = ttl
        self._cleanup = IdleStateRetention(ttl)
        self._plan = plan
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the conditions."""
        self._pairs = Pairs(self._plan, self._session)
        self._left_keys = [key.left for key in self._plan.keys]
        self._waiting = WaitingRows(WAITING, self._times_of)

    def _times_of(self, left: pa.RecordBatch) -> Any:
        return milliseconds(left.column(self._plan.left_time))

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Keep rows: nothing is known of a point of time before the watermark has passed it."""
        if index == 0:
            self._waiting.add(rows, self._times_of(rows.changes.batch))
            if self._ttl:
                self._touch(keys_of(rows.changes.batch, self._left_keys)[0], context)
        else:
            self._keep_versions(rows, context)
        return []

    def _keep_versions(self, rows: KeyedChanges, context: RowsContext) -> None:
        context.prefetch(rows.keys)
        batch, kinds = rows.changes.batch, rows.changes.kinds
        times = milliseconds(batch.column(self._plan.right_time)).tolist()
        changed = [0] * batch.num_rows if kinds is None else np.asarray(kinds).tolist()
        for group_id, time, kind, row in zip(rows.group_ids.tolist(), times, changed, rows_of(batch), strict=True):
            if kind != _BEFORE:
                known = context.select(rows.keys[group_id]).setdefault(VERSIONS, ([], []))
                _add_version(known, time, None if kind == _DELETE else row)
        self._touch(rows.keys, context)
        for key in rows.keys:
            state = context.select(key)
            if VERSIONS in state:
                state[VERSIONS] = _since(state[VERSIONS], context.watermark)

    def _touch(self, keys: Sequence[Any], context: RowsContext) -> None:
        """Note that keys have rows, or have had some whose time has passed."""
        for key in keys if self._ttl else ():
            context.select(key)
            self._cleanup.touch(context)

    def on_event_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Join the left rows of a key group, of which some have all their versions."""
        self._waiting.on_event_time(context)

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget the versions of an idle key."""
        if self._cleanup.is_due(time, namespace, context):
            for slot in (VERSIONS, CLEANUP):
                context.state.pop(slot, None)

    def emit_after_timers(self, context: RowsContext) -> list[Changes]:
        """Return the left rows whose time has passed with their versions."""
        due = self._waiting.due(context.watermark)
        if not due:
            return []
        left, kinds = concatenated((each.batch for each in due), self._plan.left.schema), concatenated_kinds(due)
        versions, found = self._found(left, context)
        matched = np.flatnonzero(found >= 0)
        right = batch_from(versions, self._plan.right.schema)
        matched = matched[self._pairs.hold(left, matched, right, found[matched])]
        results = self._pairs.joined(left, matched, right, found[matched])
        if self._plan.kind == "LEFT" and len(matched) < left.num_rows:
            alone = np.setdiff1d(np.arange(left.num_rows), matched)
            both = concatenated((results, self._pairs.left_only(left, alone)), self._plan.schema)
            # rows of a key stay in order: with and without a version, they may be changes of one row
            places = np.concatenate([matched, alone])
            matched = np.sort(places)
            results = taken(both, np.argsort(places))
        return [_changes(results, kinds, matched)] if results.num_rows else []

    def write_back(self, context: RowsContext) -> None:
        """Store the left rows that wait."""
        self._waiting.write_back(context)

    def _found(self, left: pa.RecordBatch, context: RowsContext) -> tuple[list[RowValues], Any]:
        """Return versions, and for each left row the position of its version; -1 if it has none."""
        keys, group_ids = keys_of(left, self._left_keys)
        context.prefetch(keys)
        self._touch(keys, context)
        rows: list[RowValues | None] = []
        owners: list[int] = []
        times: list[int] = []
        for group_id, key in enumerate(keys):
            known = context.select(key).get(VERSIONS)
            if known is not None:
                owners += [group_id] * len(known[0])
                times += known[0]
                rows += known[1]
        count = len(rows)
        row_times = milliseconds(left.column(self._plan.left_time))
        ranks, width = _ranks(np.concatenate([np.asarray(times, dtype=np.int64), row_times]), len(keys))
        since = np.asarray(owners, dtype=np.int64) * width + ranks[:count]
        found = np.searchsorted(since, group_ids * width + ranks[count:], side="right") - 1
        of_key = np.asarray([*owners, -1], dtype=np.int64)
        present = np.asarray([row is not None for row in rows] + [False])
        # as in Flink, NULL finds the version of NULL: versions are found by key, and the key is not compared again
        valid = (of_key[found] == group_ids) & present[found]
        missing = (None,) * len(self._plan.right.schema)
        return [missing if row is None else row for row in rows], np.where(valid, found, -1)


def _ranks(times: Any, keys: int) -> tuple[Any, int]:
    """Return numbers in the order of times and how many there may be, few enough to count keys beside them."""
    least = int(times.min(initial=0))
    width = int(times.max(initial=0)) - least + 1
    if width * keys < 2**62:
        return times - least, width
    ranks = np.unique(times, return_inverse=True)[1]
    return ranks, len(ranks)


def _add_version(known: Versions, time: int, row: RowValues | None) -> None:
    """Add a version of a key; it replaces one of the same time."""
    times, rows = known
    place = len(times) if not times or time > times[-1] else bisect_left(times, time)
    if place < len(times) and times[place] == time:
        rows[place] = row
    else:
        times.insert(place, time)
        rows.insert(place, row)


def _since(known: Versions, watermark: int) -> Versions:
    """Return the versions that rows after the watermark may have."""
    times, rows = known
    first = bisect_right(times, watermark) - 1
    return (times[first:], rows[first:]) if first > 0 else known


def _changes(batch: pa.RecordBatch, kinds: Any, positions: Any) -> Changes:
    return Changes(batch, None if kinds is None else kinds[positions])
