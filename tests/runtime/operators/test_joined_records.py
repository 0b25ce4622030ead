"""Records of a join in parts against a list of all of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scurry.runtime.operators.joined_records import DividedRecords
from scurry.runtime.state.backend import KeyedStateBackend
from scurry.runtime.state.slots import PARTS
from scurry.runtime.state.store import DictStore
from support.runtime.divided_state import dividing_early


@pytest.mark.parametrize("seed", range(60))
def test_records_in_parts_are_those_of_a_list(seed: int) -> None:
    chance = random.Random(seed)
    backend = KeyedStateBackend("uid", DictStore(), 4)
    expected: list[Any] = sorted((chance.randrange(100), -number) for number in range(30, 0, -1))
    entry = backend.select("key")
    entry["side"] = list(expected)
    over = 0
    with dividing_early(per_part=4):
        records = DividedRecords.of(backend, "key", entry, "side")
        while PARTS in entry:
            time = over + chance.randrange(40)
            kind = chance.randrange(4)
            if kind == 0:
                over += chance.randrange(8)
                expected = [each for each in expected if each[0] > over]
                assert records.remove(over) == min((each[0] for each in expected), default=None)
            elif kind == 1:
                last = time + chance.randrange(30)
                assert sorted(records.between(time, last)) == sorted(x for x in expected if time <= x[0] <= last)
            elif time > over and len(expected) < 200 - over:
                record = time, chance.randrange(1000)
                assert records.add(time, record) == (time < min(each[0] for each in expected))
                expected.append(record)
    assert sorted(entry.get("side", [])) == sorted(expected)
