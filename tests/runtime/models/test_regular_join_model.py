"""The regular join of changes: its results add up to the join of the rows that are left, in Flink's changes."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from scurry.common.types import RowKind
from scurry.runtime.clock import ProcessingClock
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.rows import RowsContext
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.store import DictStore
from scurry.sql.connectors.contract import Changes
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.operators.joins import regular
from scurry.sql.operators.joins.rows import batch_from, rows_of
from scurry.sql.operators.partitioning import PartitionByKey
from scurry.sql.plan.calls import call
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Values
from scurry.sql.plan.physical.joins import JoinKey, RegularJoin
from scurry.sql.plan.schema import Schema
from scurry.sql.types import IntType, VarCharType
from support.cases import cases

Row = tuple[Any, ...]
Change = tuple[str, Row]

SCHEMA = Schema.of(["id", "k", "v"], [IntType(), VarCharType(10), IntType()])
KEYED, UNKEYED = (JoinKey(1, 1, False),), ()
KINDS = ["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
SHORT = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER, "-D": RowKind.DELETE}
NAMES = {kind.value: name for name, kind in SHORT.items()}
NULLS = (None, None, None)


class Joined:
    """A join with its state, which is written and read again after each batch."""

    def __init__(self, kind: str, keys: tuple[JoinKey, ...], compared: bool, unique: tuple[int, ...] | None) -> None:
        side = Values(SCHEMA, ())
        greater = call(">", [InputReference(2, IntType()), InputReference(5, IntType())], EvaluationContext())
        self._plan = RegularJoin(side, side, kind, keys, greater if compared else None, unique, unique)
        self._function = regular.RegularJoin(self._plan, (0, 0), EvaluationContext())
        self._function.open(None)
        self._partition = PartitionByKey([key.left for key in keys])
        self._info = TaskInfo(0, 1, 128, clock=ProcessingClock(lambda: 0))
        self.store = DictStore()

    def __call__(self, side: int, *changes: Change) -> list[Change]:
        kinds = np.asarray([SHORT[kind].value for kind, _ in changes], dtype=np.int8)
        rows = Changes(batch_from([row for _, row in changes], SCHEMA), kinds)
        ((_, keyed),) = pickle.loads(pickle.dumps(self._partition(rows, 128, 1)))
        backend = KeyedStateBackend("join", self.store)
        context = RowsContext(self._info, backend, 0)
        results = self._function.process(side, keyed, context)
        self._function.write_back(context)
        backend.flush()
        found: list[Change] = []
        for each in results:
            shown = [0] * each.batch.num_rows if each.kinds is None else each.kinds.tolist()
            found += zip(map(NAMES.__getitem__, shown), rows_of(each.batch), strict=True)
        return found


def expected(kind: str, keyed: bool, compared: bool, left: Iterable[Row], right: Iterable[Row]) -> Counter[Row]:
    def match(one: Row, other: Row) -> bool:
        same = not keyed or (one[1] is not None and one[1] == other[1])
        return same and (not compared or one[2] > other[2])

    left, right = list(left), list(right)
    pairs = [(one, other) for one in left for other in right if match(one, other)]
    if kind in ("SEMI", "ANTI"):
        return Counter(one for one in left if any(match(one, other) for other in right) == (kind == "SEMI"))
    found = [one + other for one, other in pairs]
    if kind in ("LEFT", "FULL"):
        found += [one + NULLS for one in left if not any(match(one, other) for other in right)]
    if kind in ("RIGHT", "FULL"):
        found += [NULLS + other for other in right if not any(match(one, other) for one in left)]
    return Counter(found)


@pytest.mark.parametrize("unique", [None, (0,)])
@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize("keys", [KEYED, UNKEYED])
@pytest.mark.parametrize("kind", KINDS)
def test_changes_add_up_to_the_join_of_the_rows_that_are_left(
    kind: str, keys: tuple[JoinKey, ...], compared: bool, unique: tuple[int, ...] | None
) -> None:
    for seed in range(cases(3)):
        chance = random.Random(seed)
        join = Joined(kind, keys, compared, unique)
        present: tuple[list[Row], list[Row]] = ([], [])
        found: Counter[Row] = Counter()
        for step in range(40):
            side = chance.randrange(2)
            changes: list[Change] = []
            for number in range(chance.randint(1, 4)):
                rows = present[side]
                id = chance.randint(0, 1) if unique is None else 10 * step + number
                row = (id, chance.choice(["a", "b", None]), chance.randint(0, 2))
                drawn = chance.random()
                if not rows or drawn < 0.5:
                    rows.append(row)
                    changes.append(("+I", row))
                else:
                    old = rows.pop(chance.randrange(len(rows)))
                    if drawn < 0.75:
                        changes.append(("-D", old))
                    else:
                        new = (old[0], row[1], row[2])
                        rows.append(new)
                        changes += [("-U", old), ("+U", new)]
            for name, each in join(side, *changes):
                found[each] += 1 if name in ("+I", "+U") else -1
                assert found[each] >= 0
            assert +found == expected(kind, bool(keys), compared, *present)
        for side, rows in enumerate(present):
            if rows:
                join(side, *(("-D", row) for row in rows))
        assert not any(regular_rows for regular_rows in entries(join))


def entries(join: Joined) -> list[Any]:
    """Return what is kept of all keys."""
    from scurry.runtime.state.backend import stored_entries

    return [entry for entry in stored_entries("join", join.store).values() if entry]


A, B = (1, "a", 5), (2, "a", 1)


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        (
            "LEFT",
            [
                (0, "+I", A, [("+I", A + NULLS)]),
                (1, "+I", B, [("-D", A + NULLS), ("+I", A + B)]),
                (1, "+I", B, [("+I", A + B)]),
                (1, "-D", B, [("-D", A + B)]),
                (1, "-U", B, [("-U", A + B), ("+I", A + NULLS)]),
                (0, "-U", A, [("-D", A + NULLS)]),
            ],
        ),
        ("INNER", [(0, "+I", A, []), (1, "+U", B, [("+U", A + B)]), (0, "-U", A, [("-U", A + B)])]),
        (
            "FULL",
            [
                (1, "+I", B, [("+I", NULLS + B)]),
                (0, "+U", A, [("-D", NULLS + B), ("+I", A + B)]),
                (0, "-U", A, [("-D", A + B), ("+I", NULLS + B)]),
            ],
        ),
        (
            "SEMI",
            [
                (0, "+I", A, []),
                (1, "+U", B, [("+U", A)]),
                (1, "+I", B, []),
                (1, "-D", B, []),
                (1, "-U", B, [("-U", A)]),
            ],
        ),
        (
            "ANTI",
            [
                (0, "+I", A, [("+I", A)]),
                (1, "+U", B, [("-D", A)]),
                (1, "-U", B, [("+I", A)]),
                (0, "-D", A, [("-D", A)]),
            ],
        ),
    ],
)
def test_each_change_makes_the_changes_that_flink_makes(
    kind: str, steps: list[tuple[int, str, Row, list[Change]]]
) -> None:
    join = Joined(kind, KEYED, False, None)
    for side, name, row, results in steps:
        assert join(side, (name, row)) == results


@pytest.mark.parametrize("seed", range(20))
def test_the_rows_of_a_key_that_come_in_many_batches_are_all_kept(seed: int) -> None:
    """They are appended as pieces, which become one when they are many."""
    chance, joined, sent = random.Random(seed), Joined("INNER", KEYED, False, None), 0
    for _ in range(chance.randint(1, 60)):
        size = chance.randint(1, 12)
        assert joined(0, *[("+I", (sent + place, "a", 0)) for place in range(size)]) == []
        sent += size
    found = sorted(row[0] for _, row in joined(1, ("+I", (-1, "a", 0))))
    assert found == list(range(sent))
