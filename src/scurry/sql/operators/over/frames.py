"""The functions of an OVER aggregation, evaluated for new rows of several keys at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from scurry._dataclasses import dataclass
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.evaluation.batch.over import over_columns
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.kept_rows import Piece, joined, pieces, runs_of
from scurry.sql.operators.over.running import Runs, running
from scurry.sql.plan.expressions import Literal
from scurry.sql.plan.nodes import Over
from scurry.sql.plan.physical.over import OverAggregate


@dataclass(frozen=True)
class Evaluated:
    """New rows with the values of the functions.

    Attributes:
        batch: The rows, by key, those of a key in their order.
        group_ids: For each row the number of its key.
        kept: For each key what its next rows need.
    """

    batch: pa.RecordBatch
    group_ids: Any
    kept: list[Any]


class Evaluator:
    """Evaluates functions over rows that are sorted by key, and those of a key by time."""

    def evaluate(self, batch: pa.RecordBatch, group_ids: Any, times: Any, kept: Sequence[Any]) -> Evaluated:
        """Return rows with the values of the functions.

        Args:
            batch: The new rows.
            group_ids: For each row the number of its key.
            kept: For each key what its rows before have left, None if there were none.
        """
        raise NotImplementedError


def evaluator(plan: OverAggregate, session: EvaluationContext) -> Evaluator:
    return _Running(plan, session) if plan.is_unbounded else _Framed(plan, session)


class _Running(Evaluator):
    """The frames begin with the first row of the key: a state per function is kept."""

    def __init__(self, plan: OverAggregate, session: EvaluationContext) -> None:
        self._schema = plan.schema
        self._calls = [running(call, plan.input.schema, session) for call in plan.calls]
        # Rows of the same processing time are not peers: each has the value that it had when it arrived.
        self._has_peers = plan.has_event_time and plan.frame.units == "RANGE"

    def evaluate(self, batch: pa.RecordBatch, group_ids: Any, times: Any, kept: Sequence[Any]) -> Evaluated:
        rows = np.arange(batch.num_rows)
        keys = runs_of(group_ids)
        bounds = [(start, stop) for _, start, stop in keys]
        start = np.repeat([start for start, _ in bounds], [stop - start for start, stop in bounds])
        last = _last_peers(group_ids, times) if self._has_peers else rows
        runs = Runs(batch, start, last, bounds)
        states = [kept[group_id] or [None] * len(self._calls) for group_id, _, _ in keys]
        columns, after = [], []
        for place, call in enumerate(self._calls):
            column, left = call.values(runs, [state[place] for state in states])
            columns.append(column)
            after.append(left)
        found = list(kept)
        for (group_id, _, _), state in zip(keys, zip(*after, strict=True), strict=True):
            found[group_id] = state
        return Evaluated(batch_of([*batch.columns, *columns], self._schema, batch.num_rows), group_ids, found)


class _Framed(Evaluator):
    """The frames are bounded: the rows that later ones may see are kept."""

    def __init__(self, plan: OverAggregate, session: EvaluationContext) -> None:
        distance = plan.frame.lower.distance
        assert isinstance(distance, Literal), "a bounded frame has a constant distance"
        self._by_rows = plan.frame.units == "ROWS"
        self._distance = int(distance.value)
        self._input = plan.input.schema
        self._time = plan.time
        self._schema = plan.schema
        self._over = Over(plan.input, plan.calls, plan.names)
        self._session = session

    def evaluate(self, batch: pa.RecordBatch, group_ids: Any, times: Any, kept: Sequence[Any]) -> Evaluated:
        here = sorted({group_id for group_id, _, _ in runs_of(group_ids)})
        before: list[Piece] = [kept[group_id][0] for group_id in here if kept[group_id] is not None]
        old_codes = [group_id for group_id in here if kept[group_id] is not None for _ in kept[group_id][1]]
        old_times = [time for group_id in here if kept[group_id] is not None for time in kept[group_id][1]]
        is_new = np.r_[np.zeros(len(old_codes), dtype=bool), np.ones(batch.num_rows, dtype=bool)]
        if before:
            old = joined(before, self._input)
            columns = [pa.concat_arrays([one, other]) for one, other in zip(old.columns, batch.columns, strict=True)]
            batch = batch_of(columns, self._input, len(is_new))
            group_ids, times = np.r_[np.asarray(old_codes), group_ids], np.r_[np.asarray(old_times), times]
        columns, order = over_columns(self._over, batch, self._session)
        batch, group_ids, times, is_new = batch.take(pa.array(order)), group_ids[order], times[order], is_new[order]
        found = self._after(batch, group_ids, times, kept)
        new = pa.array(np.flatnonzero(is_new))
        rows = [column.take(new) for column in (*batch.columns, *columns)]
        return Evaluated(batch_of(rows, self._schema, len(new)), group_ids[is_new], found)

    def _after(self, batch: pa.RecordBatch, group_ids: Any, times: Any, kept: Sequence[Any]) -> list[Any]:
        """Return for each key the rows that are in frames of later rows, and their times."""
        found, bounds, keys = list(kept), [], []
        for group_id, start, stop in runs_of(group_ids):
            if self._by_rows:
                first = max(start, stop - self._distance)
            else:
                first = start + int(np.searchsorted(times[start:stop], times[stop - 1] - self._distance))
            keys.append(group_id)
            bounds.append((first, stop))
        for group_id, piece, (first, stop) in zip(keys, pieces(batch, bounds), bounds, strict=True):
            found[group_id] = (piece, times[first:stop].tolist())
        return found


def _last_peers(group_ids: Any, times: Any) -> Any:
    """Return for each row the position of the last one of the same key and time."""
    rows = len(group_ids)
    ends = np.flatnonzero(np.r_[(group_ids[1:] != group_ids[:-1]) | (times[1:] != times[:-1]), True])
    return ends[np.searchsorted(ends, np.arange(rows))]
