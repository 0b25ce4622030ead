"""The regular join: both sides keep their rows by key, and a change of a row changes its pairs, as Flink does it.

A row is kept with the number of times it is there and, if its side is outer, with how many rows of the other side it is
paired with: a row without pairs has a result of its own with NULLs, and a semi join has a row that has pairs.

A row that replaces another (an UPDATE_AFTER without the row before) has the pairs of that row: updates come this way
only if no column of the conditions changes. Flink counts such pairs again, and loses the row of an outer side when the
other side deletes its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.graph.nodes import Node
from scurry.runtime.operators.rows import KeyedRowsFunction, RowsContext
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.joins.append_only import AppendOnlyJoin, can_hash_keys
from scurry.sql.operators.joins.rows import Pairs, batch_from, rows_of, with_null_key
from scurry.sql.operators.joins.sides import COUNT, PAIRED, ROW, Kept, Side
from scurry.sql.operators.partitioning import KeyedChanges
from scurry.sql.plan.physical.joins import RegularJoin as RegularJoinNode
from scurry.sql.plan.rewriting import without_inputs

if TYPE_CHECKING:
    from scurry.sql.operators.lowering import Lowering

#: Slots of the sides' rows in the state of a key.
_SLOTS = ("join-left", "join-right")
_INSERT, _DELETE = RowKind.INSERT.value, RowKind.DELETE.value
_RETRACTING = (RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value)


def lower_regular_join(lowering: Lowering, plan: RegularJoinNode) -> Node:
    """Return the node that joins; rows are kept by key."""
    ttl = [lowering.state_ttl if each is None else each for each in plan.state_ttl]
    inputs = [lowering.node(plan.left), lowering.node(plan.right)]
    keys = [[key.left for key in plan.keys], [key.right for key in plan.keys]]
    only_inserts = all(lowering.changelogs.is_insert_only(side) for side in (plan.left, plan.right))
    if plan.kind == "INNER" and only_inserts and not any(ttl) and can_hash_keys(plan):
        function = AppendOnlyJoin(without_inputs(plan), lowering.session)
        return lowering.keyed(inputs, keys, function, plan.operator, by_hash=True)
    return lowering.keyed(
        inputs, keys, RegularJoin(without_inputs(plan), (ttl[0], ttl[1]), lowering.session), plan.operator
    )


class _Results:
    """Results in their order: positions in both sides, of which -1 is a row of NULLs, and kinds."""

    def __init__(self, kept: Sequence[Kept]) -> None:
        self.kept = kept
        self.own: list[int] = []
        self.other: list[int] = []
        self.kinds: list[int] = []

    def add(self, own: int, other: int, kind: int) -> None:
        self.own.append(own)
        self.other.append(other)
        self.kinds.append(kind)

    def add_each(self, own: int, partner: int, kind: int) -> None:
        """Add a result for each time that a row of the other side is there."""
        for _ in range(self.kept[partner][COUNT]):
            self.add(own, partner, kind)


class RegularJoin(KeyedRowsFunction):
    """Join all rows of both sides.

    Attributes:
        page_bytes: The size of pages of state: a batch beside many rows touches one key of a page, and reads and writes
            all of them.
        packs_entries: Whether the state of each key is decoded only if it is touched.
    """

    page_bytes = 2 * 1024
    packs_entries = True

    def __init__(self, plan: RegularJoinNode, ttl: tuple[int, int], session: EvaluationContext) -> None:
        """Describe the join.

        Args:
            plan: The join, whose inputs matter only by their columns.
            ttl: Milliseconds after which rows of each side that are not written again are forgotten; 0 for never.
        """
        self._plan = plan
        self._ttl = ttl
        self._session = session

    def open(self, context: Any) -> None:
        """Compile the conditions."""
        plan = self._plan
        self._pairs = Pairs(plan, self._session)
        self._exists = plan.kind in ("SEMI", "ANTI")
        # Sides whose rows count their pairs.
        self._counted = (plan.kind in ("LEFT", "FULL") or self._exists, plan.kind in ("RIGHT", "FULL"))
        self._sides = (
            Side(_SLOTS[0], plan.left.schema, plan.left_unique, self._ttl[0], self._counted[0]),
            Side(_SLOTS[1], plan.right.schema, plan.right_unique, self._ttl[1], self._counted[1]),
        )
        self._strict = [
            [column for column, nulls in columns if not nulls]
            for columns in (
                [(key.left, key.null_equals_null) for key in plan.keys],
                [(key.right, key.null_equals_null) for key in plan.keys],
            )
        ]

    def process(self, index: int, rows: KeyedChanges, context: RowsContext) -> list[Changes]:
        """Change the pairs of some rows, and keep the rows."""
        context.prefetch(rows.keys)
        batch = rows.changes.batch
        kinds = _kinds(rows.changes)
        kept, starts = self._kept(1 - index, rows, context)
        others = batch_from([each[ROW] for each in kept], self._sides[1 - index].schema)
        own, other = self._candidates(index, rows, starts)
        held = self._held(index, batch, own, others, other)
        own, other = own[held], other[held]
        one_by_one = self._counted[1 - index]
        paired = np.zeros(batch.num_rows, dtype=np.int64)
        np.add.at(paired, own, np.asarray([each[COUNT] for each in kept], dtype=np.int64)[other])
        replaces = self._keep(index, rows, kinds, paired, context)
        if one_by_one:
            results = self._changed_by_each(index, kinds, own, other, kept, replaces)
            for place in np.unique(other).tolist():
                self._sides[1 - index].touch(kept[place], context)
            self._sides[1 - index].changed(rows.keys)
        elif self._exists:
            results = self._kept_if_paired(kinds, paired)
        else:
            results = self._paired(index, kinds, own, other, kept, paired)
        return self._changes(index, batch, others, results)

    def _kept(self, index: int, rows: KeyedChanges, context: RowsContext) -> tuple[list[Kept], Any]:
        """Return the rows that a side keeps of some keys, and where those of each key start."""
        found: list[Kept] = []
        starts = [0]
        for key in rows.keys:
            found += self._sides[index].rows(key, context)
            starts.append(len(found))
        return found, np.asarray(starts, dtype=np.int64)

    def _candidates(self, index: int, rows: KeyedChanges, starts: Any) -> tuple[Any, Any]:
        """Return the positions of new and kept rows with the same key."""
        counts = np.diff(starts)[rows.group_ids]
        counts[with_null_key(rows.changes.batch, self._strict[index])] = 0
        own = np.repeat(np.arange(len(counts)), counts)
        within = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
        return own, np.repeat(starts[rows.group_ids], counts) + within

    def _held(self, index: int, batch: pa.RecordBatch, own: Any, others: pa.RecordBatch, other: Any) -> Any:
        return (
            self._pairs.hold(batch, own, others, other) if index == 0 else self._pairs.hold(others, other, batch, own)
        )

    def _paired(self, index: int, kinds: Any, own: Any, other: Any, kept: Sequence[Kept], paired: Any) -> Any:
        """Return the pairs of each row, or for an outer side the row alone."""
        counts = np.asarray([each[COUNT] for each in kept], dtype=np.int64)
        if (counts != 1).any():
            times = counts[other]
            own, other = np.repeat(own, times), np.repeat(other, times)
        if not self._counted[index]:
            return own, other, kinds[own]
        alone = np.flatnonzero(paired == 0)
        order = np.argsort(np.concatenate([own, alone]), kind="stable")
        own = np.concatenate([own, alone])[order]
        other = np.concatenate([other, np.full(len(alone), -1)])[order]
        return own, other, np.where(np.isin(kinds[own], _RETRACTING), _DELETE, _INSERT)

    def _kept_if_paired(self, kinds: Any, paired: Any) -> Any:
        """Return the left rows of a semi or anti join."""
        own = np.flatnonzero((paired > 0) == (self._plan.kind == "SEMI"))
        return own, np.full(len(own), -1), kinds[own]

    def _changed_by_each(
        self, index: int, kinds: Any, own: Any, other: Any, kept: Sequence[Kept], replaces: set[int]
    ) -> Any:
        """Return the changes that rows, one after the other, make to rows of an outer side, which count their pairs."""
        results = _Results(kept)
        bounds = np.searchsorted(own, np.arange(len(kinds) + 1)).tolist()
        partners, outer = other.tolist(), self._counted[index]
        for place, kind in enumerate(kinds.tolist()):
            more = -1 if kind in _RETRACTING else 0 if place in replaces else 1
            some = partners[bounds[place] : bounds[place + 1]]
            if self._exists:
                self._change_existence(results, place, kind, more, some)
            elif some or not outer:
                self._change_pairs(results, place, kind, more, some, outer)
            else:
                results.add(place, -1, _DELETE if more < 0 else _INSERT)
        return results.own, results.other, results.kinds

    def _change_pairs(
        self, results: _Results, place: int, kind: int, more: int, partners: Sequence[int], outer: bool
    ) -> None:
        """Add the results of a row that gives each partner one pair more, one less, or a pair in place of another."""
        retracts = more < 0
        if retracts:
            for each in partners:
                results.add_each(place, each, _DELETE if outer else kind)
        for each in partners:
            if self._turns(results.kept[each], more):
                results.add_each(-1, each, _INSERT if retracts else _DELETE)
        if not retracts:
            for each in partners:
                results.add_each(place, each, _INSERT)

    def _change_existence(self, results: _Results, place: int, kind: int, more: int, partners: Sequence[int]) -> None:
        shown = kind if self._plan.kind == "SEMI" else _INSERT if more < 0 else _DELETE
        for each in partners:
            if self._turns(results.kept[each], more):
                results.add_each(place, each, shown)

    @staticmethod
    def _turns(found: Kept, more: int) -> bool:
        """Change how many pairs a row has, and return whether it had none before or has none now."""
        before = found[PAIRED]
        found[PAIRED] = before + more
        return before == 0 if more > 0 else more < 0 and before == 1

    def _keep(self, index: int, rows: KeyedChanges, kinds: Any, paired: Any, context: RowsContext) -> set[int]:
        """Keep rows or remove them, and return those that replace another."""
        batch, side = rows.changes.batch, self._sides[index]
        # A row with NULL in its key has no pairs whatever comes.
        matching = ~with_null_key(batch, self._strict[index])
        retracted = np.isin(kinds, _RETRACTING).tolist()
        values = rows_of(batch)
        keys, group_ids, pairs = rows.keys, rows.group_ids.tolist(), paired.tolist()
        replaces: set[int] = set()
        for place in np.flatnonzero(matching).tolist():
            if retracted[place]:
                side.retract(keys[group_ids[place]], values[place], context)
            elif side.add(keys[group_ids[place]], values[place], pairs[place], context):
                replaces.add(place)
        return replaces

    def _changes(self, index: int, batch: pa.RecordBatch, others: pa.RecordBatch, results: Any) -> list[Changes]:
        own, other, kinds = (np.asarray(each, dtype=np.int64) for each in results)
        if not len(kinds):
            return []
        if self._exists:
            columns = _taken(batch, own) if index == 0 else _taken(others, other)
        elif index == 0:
            columns = [*_taken(batch, own), *_taken(others, other)]
        else:
            columns = [*_taken(others, other), *_taken(batch, own)]
        found = batch_of(columns, self._plan.schema, len(kinds))
        return [Changes(found, kinds.astype(np.int8) if kinds.any() else None)]

    def on_processing_time(self, time: int, namespace: Any, context: RowsContext) -> None:
        """Forget the rows of a side of the current key that have expired."""
        self._sides[_SLOTS.index(namespace)].forget(time, context)

    def write_back(self, context: RowsContext) -> None:
        """Move the rows that are in memory to keyed state."""
        for side in self._sides:
            side.write_back(context)


def _kinds(changes: Changes) -> Any:
    if changes.kinds is None:
        return np.zeros(changes.batch.num_rows, dtype=np.int8)
    return np.asarray(changes.kinds, dtype=np.int8)


def _taken(batch: pa.RecordBatch, positions: Any) -> list[pa.Array]:
    """Return the rows at some positions, NULLs for a negative one."""
    indices = pa.array(positions, mask=positions < 0)
    return [column.take(indices) for column in batch.columns]
