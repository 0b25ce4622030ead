"""The join of rows that are only inserted: its results are the pairs of all rows, however many there are."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scurry.runtime.clock import ProcessingClock
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state import row_groups
from scurry.runtime.state.backend import Index, KeyedStateBackend, stored_entries
from scurry.runtime.state.layout import PageContent
from scurry.runtime.state.runs import stored_content
from scurry.runtime.state.store import DictStore
from scurry.sql.connectors.contract import Changes
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.hashed_rows.hashing import groups_of
from scurry.sql.operators.joins.append_only import AppendOnlyJoin
from scurry.sql.operators.joins.rows import batch_from, rows_of
from scurry.sql.operators.partitioning import PartitionByHash
from scurry.sql.plan.calls import call
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Values
from scurry.sql.plan.physical.joins import JoinKey, RegularJoin
from scurry.sql.plan.schema import Schema
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    IntType,
    TimestampType,
    VarCharType,
)
from support.cases import cases

FIXTURES = Path(__file__).parents[2] / "fixtures"
Row = tuple[Any, ...]
LEFT, RIGHT = 0, 1


def schema_of(key: DataType) -> Schema:
    return Schema.of(["id", "k", "v", "more"], [IntType(), key, IntType(), ArrayType(VarCharType(10))])


class Joined:
    """A join of two tables of the same columns, with its state, which is written and read again after each batch."""

    def __init__(
        self, left: DataType, right: DataType | None = None, compared: bool = False, nulls: bool = False, **of: Any
    ) -> None:
        self.schemas = (schema_of(left), schema_of(right or left))
        one, other = (Values(schema, ()) for schema in self.schemas)
        greater = call(">", [InputReference(2, IntType()), InputReference(6, IntType())], EvaluationContext())
        keys = of.get("keys", (JoinKey(1, 1, nulls),))
        unique = of.get("unique")
        self._plan = RegularJoin(one, other, "INNER", keys, greater if compared else None, unique, unique)
        self._partitions = [PartitionByHash([key.left for key in keys]), PartitionByHash([key.right for key in keys])]
        self.store = DictStore()
        self._max_parallelism = of.get("max_parallelism", 128)

    def batch(self, *inputs: tuple[int, list[Row]]) -> list[Row]:
        """Process some inputs in one micro-batch, and return the results."""
        function, backend = (
            AppendOnlyJoin(self._plan, EvaluationContext()),
            KeyedStateBackend("join", self.store, self._max_parallelism),
        )
        function.open(None)
        context = RowsContext(TaskInfo(0, 1, self._max_parallelism, clock=ProcessingClock(lambda: 0)), backend, 0)
        found: list[Row] = []
        for side, rows in inputs:
            changes = Changes(batch_from(rows, self.schemas[side]))
            ((_, hashed),) = pickle.loads(pickle.dumps(self._partitions[side](changes, self._max_parallelism, 1)))
            for each in function.process(side, hashed, context):
                assert each.kinds is None
                found += rows_of(each.batch)
        function.write_back(context)
        backend.flush()
        assert backend.meta.size == sum(len(blob) for (_, kind, _), blob in self.store.items() if kind == "page")
        return found


def pairs(left: list[Row], right: list[Row], compared: bool = False, nulls: bool = False) -> Counter[str]:
    same = [(one, other) for one in left for other in right if one[1] == other[1] and (nulls or one[1] is not None)]
    return counted(one + other for one, other in same if not compared or one[2] > other[2])


def counted(rows: Any) -> Counter[str]:
    return Counter(map(repr, rows))  # arrays are lists, which have no hash


KEYS: dict[str, tuple[DataType, Any]] = {
    "int": (BigIntType(), lambda chance: chance.randrange(-30, 30)),
    "text": (VarCharType(20), lambda chance: chance.choice(["", "a", "b", "é", "a long text of 20", None])),
    "boolean": (BooleanType(), lambda chance: chance.choice([True, False, None])),
    "decimal": (DecimalType(10, 2), lambda chance: chance.choice([None, Decimal("0.00"), Decimal("-1.25")])),
    "double": (DoubleType(), lambda chance: chance.choice([None, 0.5, 1e300, -2.0])),
    "timestamp": (TimestampType(3), lambda chance: chance.choice([None, 0, 1, 1_700_000_000_000])),
    "array": (ArrayType(IntType()), lambda chance: chance.choice([None, [], [1], [1, None]])),
}


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("small", [0, 2000, 16384])
def test_results_are_the_pairs_of_all_rows(
    kind: str, nulls: bool, compared: bool, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_groups, "SMALL", small)
    chance = random.Random(small)
    key, draw = KEYS[kind]
    join = Joined(key, compared=compared, nulls=nulls)
    present: tuple[list[Row], list[Row]] = ([], [])
    found: Counter[str] = Counter()
    for step in range(cases(18)):
        inputs = []
        for number in range(chance.randint(1, 4)):
            more = chance.choice([None, [], ["x", None], ["y"]])
            rows = [
                (step * 100 + number, draw(chance), chance.randint(0, 2), more) for _ in range(chance.randint(0, 9))
            ]
            side = chance.randrange(2)
            inputs.append((side, rows))
            present[side].extend(rows)
        found += counted(join.batch(*inputs))
        assert found == pairs(*present, compared=compared, nulls=nulls)


def test_ints_of_different_width_are_equal() -> None:
    join = Joined(IntType(), BigIntType())
    left, right = [(1, key, 0, None) for key in (1, -1, 7)], [(2, key, 0, None) for key in (-1, 7, 8)]
    assert counted(join.batch((LEFT, left), (RIGHT, right))) == pairs(left, right)


def test_without_a_key_all_rows_are_pairs() -> None:
    join = Joined(BigIntType(), keys=())
    rows = [(number, number, 0, None) for number in range(3)]
    assert not join.batch((LEFT, rows))
    assert len(join.batch((RIGHT, rows))) == 9


def test_results_are_in_the_order_of_the_new_rows_and_then_of_the_kept_ones() -> None:
    join = Joined(BigIntType())
    join.batch((LEFT, [(number, number % 2, 0, None) for number in range(4)]))
    join.batch((LEFT, [(9, 0, 0, None)]))
    found = join.batch((RIGHT, [(5, 1, 0, None), (6, 0, 0, None)]))
    assert [(row[0], row[4]) for row in found] == [(1, 5), (3, 5), (0, 6), (2, 6), (9, 6)]


def test_of_rows_with_the_same_unique_columns_the_last_one_is_joined() -> None:
    join = Joined(BigIntType(), unique=(0,))
    join.batch((LEFT, [(1, 5, 0, None), (2, 5, 0, None)]))
    join.batch((LEFT, [(1, 5, 1, None)]))
    assert sorted(row[:3] for row in join.batch((RIGHT, [(7, 5, 0, None)]))) == [(1, 5, 1), (2, 5, 0)]


def test_rows_that_are_read_late_come_before_those_of_the_batch() -> None:
    join = Joined(BigIntType(), unique=(0,))
    join.batch((LEFT, [(number, 7, 0, None) for number in range(3000)]))
    found = join.batch((LEFT, [(1, 7, 1, None), (5000, 7, 1, None)]), (RIGHT, [(9, 7, 0, None)]))
    assert [row[0] for row in found] == [0, *range(2, 3000), 1, 5000]
    assert all(row[2] == 1 for row in found[-2:])


def test_runs_are_merged_so_that_there_are_few() -> None:
    join, count = Joined(BigIntType()), 0
    for size in [6000, *[50] * 60]:
        join.batch((LEFT, [(count + number, 7, 0, None) for number in range(size)]))
        count += size
    pages = [page for page in join.store if page[1] == "page"]
    assert len(pages) <= 12
    found = join.batch((RIGHT, [(1, 7, 0, None)]))
    assert [row[0] for row in found] == list(range(count))


def test_a_group_of_one_key_to_which_others_come_has_all() -> None:
    join = Joined(BigIntType(), max_parallelism=1)
    rows = [(number, 7, 0, None) for number in range(6000)]
    join.batch((LEFT, rows))
    assert not join.batch((LEFT, [(1, key, 0, None) for key in range(20) if key != 7]))
    join.batch((LEFT, rows[:5]))
    found = join.batch((RIGHT, [(2, key, 0, None) for key in range(20)]))
    assert Counter(row[1] for row in found) == {key: 6005 if key == 7 else 1 for key in range(20)}
    assert sum(len(entry["join-left"]) for entry in stored_entries("join", join.store).values()) == 6024


def test_a_batch_writes_its_rows_whatever_there_is() -> None:
    join = Joined(BigIntType())
    join.batch((LEFT, [(number, number, 0, None) for number in range(100_000)]))
    before = dict(join.store)
    assert any(isinstance(stored_content(blob), Index) for (_, kind, _), blob in before.items() if kind == "page")
    assert len(join.batch((RIGHT, [(1, 7, 0, None), (2, 19_999, 0, None)]))) == 2
    changed = [blob for page, blob in join.store.items() if page[1] == "page" and before.get(page) != blob]
    assert len(changed) == 4  # two runs and the indexes of their groups
    assert sum(map(len, changed)) < 5000


def test_tools_see_the_rows_of_each_key() -> None:
    join = Joined(VarCharType(5))
    join.batch((LEFT, [(1, "a", 2, ["x"])]), (RIGHT, [(3, "a", 4, None), (5, "b", 6, None)]))
    assert stored_entries("join", join.store) == {
        "a": {"join-left": [(1, "a", 2, ["x"])], "join-right": [(3, "a", 4, None)]},
        "b": {"join-right": [(5, "b", 6, None)]},
    }


def test_subtasks_have_the_rows_of_their_key_groups() -> None:
    rows = Changes(batch_from([(1, number, 0, None) for number in range(1000)], schema_of(BigIntType())))
    parts = dict(PartitionByHash([1])(rows, 128, 4))
    assert sorted(parts) == [0, 1, 2, 3]
    for subtask, part in parts.items():
        assert (groups_of(part.hashes) * 4 // 128 == subtask).all()
    assert sum(part.changes.batch.num_rows for part in parts.values()) == 1000


def test_state_of_an_earlier_version_becomes_runs_as_it_is_touched() -> None:
    join = Joined(VarCharType(20), max_parallelism=2)
    earlier = pickle.loads((FIXTURES / "rows-in-pages" / "join.pickle").read_bytes())
    join.store.update(earlier)
    seen = stored_entries("join", join.store)
    left = [
        (step * 1000 + n, f"key {n % 150}", n, ["x", None] if n % 3 else None) for step in range(3) for n in range(300)
    ]
    right = [(step * 1000 + n, f"key {n % 40}", -n, None) for step in range(3) for n in range(40)]
    more = [(5000 + n, f"key {n}", 0, None) for n in range(150)]
    found = join.batch((RIGHT, more))
    assert counted(found) == pairs(left, more)
    assert [row[0] for row in found if row[4] == 5007] == [row[0] for row in left if row[1] == "key 7"]
    assert counted(join.batch((LEFT, more))) == pairs(more, [*right, *more])
    assert not any(
        isinstance(stored_content(blob), PageContent) for key, blob in join.store.items() if key[1] == "page"
    )
    after = stored_entries("join", join.store)
    assert all(after[key]["join-left"][: len(entry["join-left"])] == entry["join-left"] for key, entry in seen.items())
