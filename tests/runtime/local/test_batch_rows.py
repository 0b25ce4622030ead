"""Rows of BATCH jobs in this process: sorted, with little memory."""

from __future__ import annotations

import random

import pytest

from scurry.runtime.exchange.wire import BatchRow
from scurry.runtime.local import batch_rows
from scurry.runtime.local.batch_rows import BatchRows
from scurry.runtime.tasks.batch_task import sort_key


@pytest.fixture(params=[1 << 30, 100_000, 0], ids=["in memory", "in some files", "in many files"])
def held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_rows, "_HELD_BYTES", request.param)


def rows(count: int) -> list[BatchRow]:
    chosen = random.Random(7)
    key = [str(number % 50).encode() for number in range(count)]
    chosen.shuffle(key)
    return [BatchRow(0, 1, 0, 2, number, b"x" * number, 3, each, number % 7) for number, each in enumerate(key)]


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("is_sorted", [True, False])
def test_rows_come_in_the_order_of_the_next_level_or_as_they_were_added(is_sorted: bool) -> None:
    added = rows(2_000)
    found = BatchRows(is_sorted)
    for start in range(0, 2_000, 100):
        found.add(iter(added[start : start + 100]))
    assert list(found) == (sorted(added, key=sort_key) if is_sorted else added)
    assert list(found) == []


@pytest.mark.usefixtures("held")
def test_no_row_is_no_row() -> None:
    assert list(BatchRows(is_sorted=True)) == []
