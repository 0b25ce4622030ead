"""Tables that VECTOR_SEARCH reads whole: when they are read, and what a process keeps of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest

from scurry.sql.connectors import vectors
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.vectors import VectorSearchSource, vector_search_of
from scurry.sql.types import ArrayType, BigIntType, DoubleType


class Counted(TableSource):
    """A table whose only row has the number of its reading."""

    reads = 0

    def splits(self) -> list[Any]:
        return [0]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        Counted.reads += 1
        batch = pa.record_batch({"n": pa.array([Counted.reads]), "v": pa.array([[1.0]], pa.list_(pa.float64()))})
        yield Changes(batch.select(list(columns)))


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    Counted.reads = 0
    monkeypatch.setattr(vectors, "_TABLES", vectors._Tables(lambda: now[0]))
    return now


def search(**options: str) -> VectorSearchSource:
    given = {f"vector-search.{key.replace('_', '-')}": value for key, value in options.items()}
    columns = [("n", BigIntType()), ("v", ArrayType(DoubleType()))]
    return vector_search_of(Counted(), "t", given, "v", columns)


def found(source: VectorSearchSource) -> list[int]:
    rows = source.search(pa.array([[2.0], None], pa.list_(pa.float64())), 1).rows
    return list(rows.column("n").to_pylist())


def test_a_table_is_read_once_for_all_tasks_of_a_process(clock: list[float]) -> None:
    source = search()
    tasks = [source, pickle.loads(pickle.dumps(source))]
    for each in tasks:
        each.open()
    assert [found(each) for each in tasks] == [[1], [1]]
    clock[0] = 1e6
    assert found(source) == [1]


def test_a_table_is_read_again_after_its_interval(clock: list[float]) -> None:
    source = search(reload_interval="10 s")
    source.open()
    assert found(source) == [1]
    clock[0] = 9.9
    assert found(source) == [1]
    clock[0] = 10.0
    assert found(source) == [2]


def test_a_process_keeps_a_few_tables_whose_searches_have_ended() -> None:
    sources = [search() for _ in range(4)]
    for each in sources:
        each.open()
        found(each)
    for each in sources:
        each.close()
    reads = Counted.reads
    sources[3].open()
    found(sources[3])
    assert Counted.reads == reads
    sources[0].open()
    found(sources[0])
    assert Counted.reads == reads + 1
