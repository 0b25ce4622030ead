"""Rows that wait for event time: in memory during a micro-batch, in the state of their key groups between two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from scurry.runtime.operators.rows import RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import taken
from scurry.sql.operators.partitioning import KeyedChanges


class _Piece(NamedTuple):
    """Rows of any key groups.

    Attributes:
        first: The earliest time that a row waits for.
        last: The latest.
        owners: For each row the key that stands for its key group.
    """

    first: int
    last: int
    changes: Changes
    times: Any
    owners: Any


class WaitingRows:
    """Keep rows until the watermark has passed their times.

    What happens within a micro-batch costs nothing per key group: only rows that wait longer are stored.

    Args:
        slot: Where they are in the state of a key group.
        time_of: Returns the times of rows, as integers.
    """

    def __init__(self, slot: str, time_of: Callable[[pa.RecordBatch], Any]) -> None:
        self._slot = slot
        self._time_of = time_of
        self._pieces: list[_Piece] = []

    def add(self, rows: KeyedChanges, times: Any) -> None:
        """Store rows with their times; their keys are those of key groups."""
        if len(times):
            owners = np.asarray(rows.keys, dtype=np.int64)[rows.group_ids]
            self._add(rows.changes, times, owners)

    def _add(self, changes: Changes, times: Any, owners: Any) -> None:
        self._pieces.append(_Piece(int(times.min()), int(times.max()), changes, times, owners))

    def on_event_time(self, context: RowsContext) -> None:
        """Load the stored rows of the current key group, because some of them are due."""
        later, self._pieces = self._pieces, []
        for changes in context.state.pop(self._slot, ()):
            times = self._time_of(changes.batch)
            self._add(changes, times, np.full(len(times), context.key, dtype=np.int64))
        # Stored rows arrived before those in memory.
        self._pieces += later

    def due(self, watermark: int) -> list[Changes]:
        """Return the rows whose time the watermark has passed; they wait no more."""
        if all(piece.first > watermark for piece in self._pieces):
            return []
        due, kept = [], []
        for piece in self._pieces:
            if piece.last <= watermark:
                due.append(piece.changes)
            elif piece.first > watermark:
                kept.append(piece)
            else:
                now = piece.times <= watermark
                due.append(_taken(piece.changes, np.flatnonzero(now)))
                later = np.flatnonzero(~now)
                times = piece.times[later]
                kept.append(
                    _Piece(int(times.min()), piece.last, _taken(piece.changes, later), times, piece.owners[later])
                )
        self._pieces = kept
        return due

    def write_back(self, context: RowsContext) -> None:
        """End the micro-batch: store the rows that wait, with a timer for the earliest of each key group."""
        pieces, self._pieces = self._pieces, []
        for piece in pieces:
            order = np.argsort(piece.owners, kind="stable")
            owners, times = piece.owners[order], piece.times[order]
            changes = _taken(piece.changes, order)
            starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
            for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(owners)], strict=True):
                context.select(int(owners[start]))
                context.register_event_timer(int(times[start:stop].min()))
                stored = context.state.get(self._slot, ())
                context.state[self._slot] = [*stored, changes.slice(start, stop - start)]


def concatenated_kinds(changes: Sequence[Changes]) -> Any:
    """Return the kinds of the rows of several records; None if all are inserted."""
    if all(each.kinds is None for each in changes):
        return None
    return np.concatenate(
        [np.zeros(each.batch.num_rows, np.int8) if each.kinds is None else each.kinds for each in changes]
    )


def _taken(changes: Changes, positions: Any) -> Changes:
    kinds = changes.kinds
    return Changes(taken(changes.batch, positions), None if kinds is None else np.asarray(kinds)[positions])
