"""Groups of rows that are only added: groups in columns give the changes that groups by key give, and a naive model."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from scurry.runtime.clock import ProcessingClock
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state import row_groups, writing
from scurry.runtime.state.backend import PAGE_BYTES, Index, KeyedStateBackend, stored_entries
from scurry.runtime.state.runs import stored_content
from scurry.runtime.state.store import DictStore
from scurry.sql.connectors.contract import Changes
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.aggregation.segments import segments_of
from scurry.sql.operators.groups.aggregate import GroupAggregate
from scurry.sql.operators.groups.row_changes import ColumnarGroupAggregate, keeps_columns
from scurry.sql.operators.joins.rows import batch_from, rows_of
from scurry.sql.operators.partitioning import PartitionByHash, PartitionByKey
from scurry.sql.plan.expressions import AggregateCall, InputReference
from scurry.sql.plan.nodes import Aggregate, Values
from scurry.sql.plan.schema import Schema
from scurry.sql.types import (
    BigIntType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    IntType,
    TimestampType,
    VarCharType,
)
from scurry.sql.types.arithmetic import average_type, sum_type
from support.cases import cases

Row = tuple[Any, ...]
NAMES = ("+I", "-U", "+U", "-D")
VALUES: dict[str, tuple[DataType, Callable[[random.Random], Any]]] = {
    "int": (IntType(), lambda chance: chance.choice([None, 2**31 - 1, -5, 0, 7])),
    "double": (DoubleType(), lambda chance: chance.choice([None, 0.1, -0.0, 0.0, 1e300, float("nan"), 3.5])),
    "decimal": (DecimalType(38, 2), lambda chance: chance.choice([None, Decimal("9" * 36 + ".99"), Decimal("-0.01")])),
    "text": (VarCharType(9), lambda chance: chance.choice([None, "", "a", "é", "zz"])),
    "time": (TimestampType(3), lambda chance: chance.choice([None, 0, 1_700_000_000_000, -1])),
}


def calls_of(kind: DataType, numeric: bool) -> tuple[AggregateCall, ...]:
    value, passes = (InputReference(2, kind),), InputReference(3, BooleanType())
    calls = [AggregateCall("COUNT", (), BigIntType(False)), AggregateCall("COUNT", value, BigIntType(False))]
    calls += [AggregateCall(name, value, kind) for name in ("MIN", "MAX", "FIRST_VALUE", "LAST_VALUE")]
    calls.append(AggregateCall("MAX", value, kind, filter=passes))
    if numeric:
        calls += [AggregateCall("SUM", value, sum_type(kind)), AggregateCall("AVG", value, average_type(kind))]
    if isinstance(kind, IntType | DoubleType):
        calls.append(AggregateCall("VAR_POP", value, kind))
    return tuple(calls)


def plan_of(kind: str) -> Aggregate:
    schema = Schema.of(["k", "l", "v", "f"], [IntType(), VarCharType(5), VALUES[kind][0], BooleanType()])
    calls = calls_of(VALUES[kind][0], kind in ("int", "double", "decimal"))
    names = tuple(f"a{place}" for place in range(len(calls)))
    return Aggregate(Values(schema, ()), (1, 0), calls, names, ((0, 1),))


class Groups:
    """An aggregate with its state, which is written and read again after each micro-batch."""

    def __init__(self, plan: Aggregate, function: Callable[[], Any], partition: Any) -> None:
        self._plan, self._function, self._partition = plan, function, partition
        self.store, self.page_bytes = DictStore(), PAGE_BYTES

    def batch(self, *inputs: list[Row]) -> list[tuple[str, str]]:
        function, backend = self._function(), KeyedStateBackend("groups", self.store, page_bytes=self.page_bytes)
        function.open(MagicMock())
        context = RowsContext(TaskInfo(0, 1, 128, clock=ProcessingClock(lambda: 0)), backend, 0)
        found: list[tuple[str, str]] = []
        for rows in inputs:
            changes = Changes(batch_from(rows, self._plan.input.schema))
            ((_, keyed),) = pickle.loads(pickle.dumps(self._partition(changes, 128, 1)))
            for each in function.process(0, keyed, context):
                kinds = [0] * each.batch.num_rows if each.kinds is None else each.kinds.tolist()
                found += [(NAMES[kind], repr(row)) for kind, row in zip(kinds, rows_of(each.batch), strict=True)]
        function.write_back(context)
        backend.flush()
        return found


def drawn(kind: str, chance: random.Random, keys: int = 3) -> Row:
    return (
        chance.choice([None, *range(keys)]),
        chance.choice([None, "", "a"]),
        VALUES[kind][1](chance),
        chance.choice([None, True, False]),
    )


def groups_of(plan: Aggregate, before: bool = True) -> tuple[Groups, Groups]:
    """Return the groups in columns, and those by key."""
    never, session = [False] * len(plan.calls), EvaluationContext()
    return (
        Groups(plan, lambda: ColumnarGroupAggregate(plan, before, session), PartitionByHash([1, 0], by_key=True)),
        Groups(plan, lambda: GroupAggregate(plan, False, never, before, 0, False, session), PartitionByKey([1, 0])),
    )


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("small", [0, 16384])
@pytest.mark.parametrize("kind", VALUES)
def test_changes_are_those_of_groups_by_key(
    kind: str, small: int, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_groups, "SMALL", small)
    plan, chance = plan_of(kind), random.Random(small)
    assert keeps_columns(plan, EvaluationContext())
    columnar, by_key = groups_of(plan, before)
    counts: dict[Row, int] = {}
    for _ in range(cases(25)):
        inputs = [[drawn(kind, chance) for _ in range(chance.randint(1, 15))] for _ in range(chance.randint(1, 3))]
        assert columnar.batch(*inputs) == by_key.batch(*inputs)
        for row in (row for rows in inputs for row in rows):
            counts[row[1], row[0]] = counts.get((row[1], row[0]), 0) + 1
        kept = [row for entry in stored_entries("groups", columnar.store).values() for row in entry["row"]]
        assert {row[:2]: row[2] for row in kept} == counts


def test_distinct_values_are_kept_by_key() -> None:
    plan = plan_of("int")
    call = AggregateCall("COUNT", (InputReference(2, IntType()),), BigIntType(False), distinct=True)
    distinct = Aggregate(plan.input, plan.keys, (call,), ("n",), plan.grouping_sets)
    assert not keeps_columns(distinct, EvaluationContext())


@pytest.mark.parametrize("run_pages", [1, 2, 8])
@pytest.mark.parametrize("kind", VALUES)
def test_groups_that_were_kept_by_key_are_taken_over(
    kind: str, run_pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "RUN_PAGES", run_pages)
    chance = random.Random(run_pages)
    columnar, by_key = groups_of(plan_of(kind))
    by_key.page_bytes = 200
    for _ in range(3):
        by_key.batch([drawn(kind, chance, 500) for _ in range(900)])
    columnar.store.update(by_key.store)
    assert any(isinstance(stored_content(blob), Index) for key, blob in by_key.store.items() if key[1] == "page")
    for _ in range(cases(6)):
        rows = [drawn(kind, chance, 500) for _ in range(250)]
        assert columnar.batch(rows) == by_key.batch(rows)


def test_no_rows_have_no_segments() -> None:
    none = segments_of(np.zeros(0, np.int64), None, None)
    assert (none.starts.tolist(), none.stops.tolist(), none.rows, none.places) == ([], [], 0, 0)
