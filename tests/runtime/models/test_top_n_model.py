"""Top-N over changing rows: after each change the rows that were emitted are those of a sorted list."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import DictStore
from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.partitioning import PartitionByHash, PartitionByKey
from scurry.sql.operators.ranks.columnar_top_n import ColumnarTopN
from scurry.sql.operators.ranks.top_n import AppendOnlyTopN, RetractableTopN, UpdatableTopN
from scurry.sql.plan.nodes import SortKey, Values
from scurry.sql.plan.physical.ranks import Rank
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.types import BigIntType, IntType
from support.cases import cases

INPUT = Schema.of(["g", "k", "v"], [IntType(), IntType(), IntType()])
NUMBER = Column("r", BigIntType(False))
ORDER = (SortKey(2, descending=True, nulls_first=False),)
PLAN = Rank(Values(INPUT, ()), (0,), ORDER, 1, 5, update_key=(0, 1))
PLANS = [
    PLAN,
    replace(PLAN, number=NUMBER),
    replace(PLAN, start=3, number=NUMBER),
    replace(PLAN, start=3),
    replace(PLAN, end=1),
]


def drive(
    kind: Any, plan: Rank, changes: list[tuple[int, tuple[Any, ...]]], batch: int, with_before: bool = True
) -> list[Any]:
    """Return what a rank has emitted after each batch, each batch with state that was written and read again."""
    store, found = DictStore(), []
    function = kind(plan, with_before)
    function.open(None)
    for start in range(0, len(changes), batch):
        some = changes[start : start + batch]
        columns = [pa.array(list(each), pa.int32()) for each in zip(*(row for _, row in some), strict=True)]
        kinds = np.asarray([change for change, _ in some], dtype=np.int8)
        rows = Changes(pa.RecordBatch.from_arrays(columns, names=list(INPUT.names)), kinds)
        partition = PartitionByHash if kind is ColumnarTopN else PartitionByKey
        ((_, keyed),) = pickle.loads(pickle.dumps(partition(plan.partition_by)(rows, 128, 1)))
        backend = KeyedStateBackend("rank", store)
        context = RowsContext(TaskInfo(0, 1, 128), backend, 0)
        emitted = function.process(0, keyed, context)
        if kind is ColumnarTopN:
            function.write_back(context)
        backend.flush()
        found.append(
            [
                (change, tuple(row.values()))
                for each in emitted
                for change, row in zip(kinds_of(each), each.batch.to_pylist(), strict=True)
            ]
        )
    return found


def kinds_of(changes: Changes) -> list[int]:
    return [0] * changes.batch.num_rows if changes.kinds is None else changes.kinds.tolist()


def check(plan: Rank, changes: list[tuple[int, tuple[Any, ...]]], emitted: list[Any], batch: int) -> None:
    """Check after each batch that the rows which were emitted are the first ones of those that there are."""
    present: list[Any] = []
    shown: list[Any] = []
    for number, output in enumerate(emitted):
        for change, row in changes[number * batch : (number + 1) * batch]:
            if change == 2 and plan.strategy == "UpdateFastStrategy":
                present = [each for each in present if each[:2] != row[:2]]
            (present.append if change in (0, 2) else present.remove)(row)
        for change, row in output:
            (shown.append if change in (0, 2) else shown.remove)(row)
        wanted = []
        for group in {row[0] for row in present}:
            rows = [row for row in present if row[0] == group]
            rows = sorted(rows, key=lambda row: (row[2] is None, -(row[2] or 0)))
            for place, row in enumerate(rows[: plan.end], start=1):
                if place >= plan.start:
                    wanted.append(row if plan.number is None else (*row, place))
        # Which of equal rows are within the range depends on the order in which they came.
        assert sorted((row[0], str(row[2:])) for row in shown) == sorted((row[0], str(row[2:])) for row in wanted)


@pytest.mark.parametrize("batch", [1, 7, 200])
@pytest.mark.parametrize("plan", PLANS)
def test_rows_that_are_only_added(plan: Rank, batch: int) -> None:
    chance = random.Random(3)
    changes = [(0, (chance.randint(0, 3), k, chance.choice([None, *range(40)]))) for k in range(200)]
    check(plan, changes, drive(AppendOnlyTopN, plan, changes, batch), batch)


@pytest.mark.parametrize("with_before", [True, False])
@pytest.mark.parametrize("batch", [1, 7, 100, 600])
@pytest.mark.parametrize("plan", [*PLANS, replace(PLAN, partition_by=()), replace(PLAN, end=2)])
def test_changes_in_columns_are_those_row_by_row(plan: Rank, batch: int, with_before: bool) -> None:
    chance, count = random.Random(11), cases(600) if batch == 1 else 600
    changes = [
        (0, (chance.choice([None, *range(5)]), k, chance.choice([None, *range(9 + k // 10)]))) for k in range(count)
    ]
    wanted = drive(AppendOnlyTopN, plan, changes, batch, with_before)
    assert drive(ColumnarTopN, plan, changes, batch, with_before) == wanted


@pytest.mark.parametrize("batch", [1, 7, 500])
@pytest.mark.parametrize("plan", PLANS)
def test_rows_that_are_taken_back(plan: Rank, batch: int) -> None:
    chance = random.Random(5)
    changes: list[tuple[int, tuple[Any, ...]]] = []
    present: list[tuple[Any, ...]] = []
    for k in range(500):
        if present and chance.random() < 0.4:
            changes.append((chance.choice([1, 3]), present.pop(chance.randrange(len(present)))))
        else:
            present.append((chance.randint(0, 1), k % 50, chance.choice([None, *range(200)])))
            changes.append((chance.choice([0, 2]), present[-1]))
    check(plan, changes, drive(RetractableTopN, plan, changes, batch), batch)


@pytest.mark.parametrize("batch", [1, 7, 200])
@pytest.mark.parametrize("plan", PLANS)
def test_rows_that_are_updated_to_better_places(plan: Rank, batch: int) -> None:
    plan = replace(plan, strategy="UpdateFastStrategy")
    chance = random.Random(7)
    counts: dict[tuple[int, int], int] = {}
    changes: list[tuple[int, tuple[Any, ...]]] = []
    for _ in range(200):
        key = chance.randint(0, 2), chance.randint(0, 20)
        counts[key] = counts.get(key, 0) + chance.randint(1, 3)
        changes.append((2 if counts[key] > 3 else 0, (*key, counts[key])))
    changes = [(2, row) for _, row in changes]
    check(plan, changes, drive(UpdatableTopN, plan, changes, batch), batch)


def test_a_change_writes_only_the_rows_near_it() -> None:
    store = DictStore()
    function = RetractableTopN(replace(PLAN, number=NUMBER), True)
    rows = [(0, (1, k, k)) for k in range(20_000)]

    def process(some: list[tuple[int, tuple[Any, ...]]]) -> dict[Any, Any]:
        columns = [pa.array(list(each), pa.int32()) for each in zip(*(row for _, row in some), strict=True)]
        kinds = np.asarray([change for change, _ in some], dtype=np.int8)
        changes = Changes(pa.RecordBatch.from_arrays(columns, names=list(INPUT.names)), kinds)
        ((_, keyed),) = pickle.loads(pickle.dumps(PartitionByKey((0,))(changes, 128, 1)))
        backend = KeyedStateBackend("rank", store)
        before = dict(backend.select(keyed.keys[0]))
        function.process(0, keyed, RowsContext(None, backend, 0))  # type: ignore[arg-type]
        after = dict(backend.select(keyed.keys[0]))
        backend.flush()
        return {slot: value for slot, value in after.items() if before.get(slot) is not value}

    assert len(process(rows)) > 50
    changed = process([(0, (1, 0, 10_000))])
    assert len(changed) == 2  # the bucket of the row, and the index
    assert sum(len(value) for value in changed.values() if isinstance(value, bytes)) < 20_000
