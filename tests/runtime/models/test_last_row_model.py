"""The last or the first row of each key: rows in columns give the changes that rows by key give, and a naive model."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scurry.runtime.clock import ProcessingClock
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state import row_groups
from scurry.runtime.state.backend import Index, KeyedStateBackend, stored_entries
from scurry.runtime.state.layout import has_rows
from scurry.runtime.state.runs import stored_content
from scurry.runtime.state.store import DictStore
from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.joins.rows import batch_from, rows_of
from scurry.sql.operators.partitioning import PartitionByHash, PartitionByKey
from scurry.sql.operators.ranks.deduplicate import FirstRow, FirstRowByProcessingTime
from scurry.sql.operators.ranks.last_row import ExpiringLastRow, LastRow
from scurry.sql.plan.nodes import Values
from scurry.sql.plan.physical.ranks import Deduplicate
from scurry.sql.plan.schema import Schema
from scurry.sql.types import IntType, TimestampType, VarCharType

FIXTURES = Path(__file__).parents[2] / "fixtures"
Row = tuple[Any, ...]
NAMES = ("+I", "-U", "+U", "-D")
TTL = 10**9


class LastRows:
    """A deduplication with its state, which is written and read again after each micro-batch."""

    def __init__(self, make: Callable[[], Any], schema: Schema, partition: Any) -> None:
        self._make, self._schema, self._partition = make, schema, partition
        self.store, self.joins = DictStore(), False

    def batch(self, *inputs: list[Row]) -> list[tuple[str, Row]]:
        function, backend = self._make(), KeyedStateBackend("rows", self.store)
        function.open(None)
        if getattr(function, "has_rows_only", False):
            backend.forget_timers()
        context = RowsContext(TaskInfo(0, 1, 128, clock=ProcessingClock(lambda: 0)), backend, 0)
        found: list[tuple[str, Row]] = []
        parts = [self._partition(Changes(batch_from(rows, self._schema)), 128, 1) for rows in inputs]
        records = [keyed for ((_, keyed),) in pickle.loads(pickle.dumps(parts))]
        for record in [function.joined(records)] if self.joins else records:
            for each in function.process(0, record, context):
                kinds = [0] * each.batch.num_rows if each.kinds is None else each.kinds.tolist()
                found += zip((NAMES[kind] for kind in kinds), rows_of(each.batch), strict=True)
        if hasattr(function, "write_back"):
            function.write_back(context)
        backend.flush()
        return found


def plan_of(rowtime: bool) -> Deduplicate:
    schema = Schema.of(["k", "l", "v", "t"], [IntType(), VarCharType(5), IntType(), TimestampType(3)])
    return Deduplicate(Values(schema, ()), (0, 1), 3, rowtime, keep_last=True)


def drawn(chance: random.Random) -> Row:
    return chance.choice([None, *range(6)]), chance.choice([None, "", "a"]), chance.randrange(3), chance.randrange(20)


@pytest.mark.parametrize("with_before", [False, True])
@pytest.mark.parametrize("rowtime", [False, True])
@pytest.mark.parametrize("small", [0, 16384])
def test_changes_are_those_of_rows_by_key(
    with_before: bool, rowtime: bool, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_groups, "SMALL", small)
    plan, chance = plan_of(rowtime), random.Random(small)
    hashed = LastRows(lambda: LastRow(plan, with_before), plan.schema, PartitionByHash([0, 1]))
    by_key = LastRows(lambda: ExpiringLastRow(plan, with_before, TTL), plan.schema, PartitionByKey([0, 1]))
    last: dict[Row, Row] = {}
    for _ in range(30):
        inputs = [[drawn(chance) for _ in range(chance.randint(1, 12))] for _ in range(chance.randint(1, 3))]
        found = hashed.batch(*inputs)
        assert found == by_key.batch(*inputs)
        for row in (row for rows in inputs for row in rows):
            known = last.get(row[:2])
            if known is None or not rowtime or row[3] >= known[3]:
                last[row[:2]] = row if rowtime or known is None or row[:3] != known[:3] else known
        kept = [row for entry in stored_entries("rows", hashed.store).values() for row in entry["row"]]
        assert sorted(map(repr, kept)) == sorted(map(repr, last.values()))


def test_records_that_are_joined_make_the_changes_that_they_make_one_by_one() -> None:
    plan, chance = plan_of(rowtime=True), random.Random(7)
    one_by_one, together = (
        LastRows(lambda: LastRow(plan, True), plan.schema, PartitionByHash([0, 1])) for _ in range(2)
    )
    together.joins = True
    for _ in range(10):
        inputs = [[drawn(chance) for _ in range(5)] for _ in range(3)]
        assert together.batch(*inputs) == one_by_one.batch(*inputs)


def test_a_row_that_was_replaced_is_not_kept() -> None:
    plan = plan_of(rowtime=True)
    rows = LastRows(lambda: LastRow(plan, False), plan.schema, PartitionByHash([0, 1]))
    rows.batch(*([(key, "a", number, number) for key in range(100)] for number in range(50)))
    entries = stored_entries("rows", rows.store)
    assert len(entries) == 100
    assert all([row[2] for row in entry["row"]] == [49] for entry in entries.values())


@pytest.mark.parametrize("small", [0, 16384])
def test_first_rows_in_columns_are_those_of_rows_by_key(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "SMALL", small)
    plan, chance = replace(plan_of(rowtime=False), keep_last=False), random.Random(small)
    hashed = LastRows(lambda: FirstRow(plan), plan.schema, PartitionByHash([0, 1], by_key=True))
    by_key = LastRows(lambda: FirstRowByProcessingTime(plan, False), plan.schema, PartitionByKey([0, 1]))
    keys: set[Row] = set()
    for _ in range(30):
        inputs = [[drawn(chance) for _ in range(chance.randint(1, 12))] for _ in range(chance.randint(1, 3))]
        assert hashed.batch(*inputs) == by_key.batch(*inputs)
        keys.update(row[:2] for rows in inputs for row in rows)
        kept = [row for entry in stored_entries("rows", hashed.store).values() for row in entry["row"]]
        assert sorted(map(repr, kept)) == sorted(map(repr, keys))


def test_state_of_an_earlier_version_becomes_runs_as_it_is_touched() -> None:
    plan = plan_of(rowtime=False)
    rows = LastRows(lambda: LastRow(plan, True), plan.schema, PartitionByHash([0, 1]))
    rows.store.update(pickle.loads((FIXTURES / "rows-in-pages" / "last-row.pickle").read_bytes()))
    found = rows.batch([(n, "a", -1, 0) for n in range(0, 600, 2)])
    replaced = [row for kind, row in found if kind == "-U"]
    assert replaced == [(n, "a", 100 if n >= 100 else 0, n % 20) for n in range(0, 500, 2)]
    after = stored_entries("rows", rows.store)
    assert len(after) == 550
    assert all([row[2] for row in entry["row"]] in ([-1], [0], [100]) for entry in after.values())
    rows.batch([(n, "a", 5, 0) for n in range(1, 600, 2)])
    kept = [row for entry in stored_entries("rows", rows.store).values() for row in entry["row"]]
    assert sorted(row[:3] for row in kept) == [(n, "a", 5 if n % 2 else -1) for n in range(600)]
    left = [blob for key, blob in rows.store.items() if key[1] == "page" and not has_rows(blob)]
    assert all(type(stored_content(blob)) is Index for blob in left)


@pytest.mark.parametrize("small", [0, 16384])
@pytest.mark.parametrize("by_key_before", [False, True])
def test_the_first_row_of_all_comes_once(small: int, by_key_before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "SMALL", small)
    plan = replace(plan_of(rowtime=False), keep_last=False, keys=())
    hashed = LastRows(lambda: FirstRow(plan), plan.schema, PartitionByHash([], by_key=True))
    if by_key_before:
        by_key = LastRows(lambda: FirstRowByProcessingTime(plan, False), plan.schema, PartitionByKey([]))
        assert by_key.batch([(0, "a", 0, 0)]) == [("+I", (0, "a", 0, 0))]
        hashed.store.update(by_key.store)
    found = [row for number in range(5) for row in hashed.batch([(number, "a", 0, 0), (9, "b", 0, 0)])]
    assert found == ([] if by_key_before else [("+I", (0, "a", 0, 0))])


def test_first_rows_that_were_kept_by_key_are_taken_over() -> None:
    plan = replace(plan_of(rowtime=False), keep_last=False)
    hashed = LastRows(lambda: FirstRow(plan), plan.schema, PartitionByHash([0, 1], by_key=True))
    by_key = LastRows(lambda: FirstRowByProcessingTime(plan, False, TTL), plan.schema, PartitionByKey([0, 1]))
    by_key.batch([(n, "a", 0, 0) for n in range(3000)])
    hashed.store.update(by_key.store)
    assert KeyedStateBackend("rows", hashed.store).meta.due[1]
    found = hashed.batch([(n, "a", 0, 0) for n in range(0, 6000, 2)])
    assert [row[0] for _, row in found] == list(range(3000, 6000, 2))
    assert not any(KeyedStateBackend("rows", hashed.store).meta.due)
    assert not hashed.batch([(n, "a", 0, 0) for n in range(3000)])
