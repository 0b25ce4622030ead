"""upsert-kafka with `sink.buffer-flush.*`: only the last change of each key is written."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from scurry.common.types import RowKind
from scurry.connectors.sink import SinkWriter
from scurry.sql.connectors import reducing
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.reducing import ReducingSink, ReducingWriter
from support.cases import cases


class Collected(SinkWriter):
    """Keep what is written, as (kind, key, value), one list per `Changes`."""

    def __init__(self) -> None:
        self.writes: list[list[tuple[str, int, str]]] = []
        self.calls = 0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self.calls += 1
        for changes in values:
            kinds = [str(RowKind(kind)) for kind in changes.kinds]
            self.writes.append(list(zip(kinds, *(column.to_pylist() for column in changes.batch.columns), strict=True)))

    def prepare_commit(self) -> list[Any]:
        return ["committable"]


class Clock:
    """A clock that a test moves."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def changes(*rows: tuple[str, int, str]) -> Changes:
    kinds, keys, values = zip(*rows, strict=True)
    by_text = {str(kind): kind.value for kind in RowKind}
    batch = pa.RecordBatch.from_arrays([pa.array(keys, pa.int32()), pa.array(values)], names=["k", "v"])
    return Changes(batch, [by_text[kind] for kind in kinds])


def writer_of(max_rows: int, clock: Clock | None = None) -> tuple[ReducingWriter, Collected]:
    messages: Any = None
    below = Collected()
    return ReducingWriter(ReducingSink(messages, (0,), max_rows, 1000), below, clock or Clock()), below


def test_the_last_change_of_each_key_is_written_with_the_commit() -> None:
    writer, below = writer_of(10)
    writer.write([changes(("+I", 1, "a"), ("+I", 2, "b")), changes(("-U", 1, "a"), ("+U", 1, "c"), ("-D", 2, "b"))])
    assert below.writes == []
    assert writer.prepare_commit() == ["committable"]
    assert below.writes == [[("+U", 1, "c"), ("-D", 2, "b")]]


def test_as_many_keys_as_may_wait_are_written_at_once() -> None:
    writer, below = writer_of(2)
    writer.write([changes(("+I", 1, "a"), ("+U", 1, "b"), ("+I", 2, "c"), ("+I", 3, "d"))])
    assert below.writes == [[("+U", 1, "b"), ("+U", 2, "c")]]
    writer.prepare_commit()
    assert below.writes[1:] == [[("+U", 3, "d")]]


def test_rows_wait_no_longer_than_the_interval() -> None:
    clock = Clock()
    writer, below = writer_of(10, clock)
    writer.write([changes(("+I", 1, "a"))])
    clock.seconds = 1.0
    writer.write([changes(("+I", 2, "b"))])
    assert below.writes == [[("+U", 1, "a"), ("+U", 2, "b")]]


def test_a_batch_that_fills_the_buffer_often_is_passed_on_at_once() -> None:
    writer, below = writer_of(2)
    writer.write([changes(*(("+I", number, "a") for number in range(9)))])
    assert (below.calls, len(below.writes)) == (1, 4)


def by_definition(rows: list[tuple[str, int, str]], max_rows: int) -> list[list[tuple[str, int, str]]]:
    """Return what is written: whenever as many keys wait as may, and at the end, the last change of each."""
    written, waiting = [], dict[int, tuple[str, int, str]]()
    for kind, key, value in rows:
        waiting[key] = ("-D" if kind in ("-U", "-D") else "+U", key, value)
        if len(waiting) == max_rows:
            written.append(list(waiting.values()))
            waiting = {}
    return [*written, list(waiting.values())] if waiting else written


@pytest.mark.parametrize("seed", range(cases(90)))
def test_batches_of_any_size_are_written_as_their_rows_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reducing, "HELD_ROWS", 8)
    chosen = random.Random(seed)
    rows = [(chosen.choice(["+I", "-U", "+U", "-D"]), chosen.randrange(6), str(number)) for number in range(60)]
    max_rows = chosen.randrange(7)
    writer, below = writer_of(max_rows)
    start = 0
    while start < len(rows):
        sizes = [chosen.randint(1, 20) for _ in range(chosen.randint(1, 3))]
        ends = [start + sum(sizes[: number + 1]) for number in range(len(sizes))]
        parts = [rows[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        writer.write([changes(*part) for part in parts if part])
        start = ends[-1]
    writer.prepare_commit()
    assert below.writes == by_definition(rows, max_rows)


def test_rows_that_are_not_the_last_of_their_key_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reducing, "HELD_ROWS", 4)
    writer, below = writer_of(0)
    for number in range(9):
        writer.write([changes(("+I", 1, f"a{number}"), ("+I", number % 3, f"b{number}"))])
        assert sum(batch.num_rows for batch in writer._batches) <= 4 + 2 * 3
    writer.prepare_commit()
    assert sorted(below.writes[0]) == [("+U", 0, "b6"), ("+U", 1, "a8"), ("+U", 2, "b8")]


@pytest.mark.parametrize(
    ("values", "kind", "count"),
    [
        (["None", None, "None"], pa.string(), 2),
        ([1, 1, 2], pa.int64(), 2),
        ([0.0, -0.0, 0.0, float("nan"), float("nan")], pa.float64(), 3),
        ([[1], [1], [2]], pa.list_(pa.int64()), 2),
    ],
)
def test_keys_of_all_types_are_told_apart(values: list[Any], kind: Any, count: int) -> None:
    assert len(set(reducing._identities([pa.array(values, kind)]))) == count
    twice = reducing._identities([pa.array(values, kind), pa.array(["x"] * len(values))])
    assert len(set(twice)) == count
