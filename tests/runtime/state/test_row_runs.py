"""Runs of rows: whatever batches change, a subtask has the rows that a dict of lists has."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.errors import CheckpointCorruptedError
from scurry.runtime.savepoint.contents import keys_in
from scurry.runtime.savepoint.entries import entries_of
from scurry.runtime.state import row_groups
from scurry.runtime.state.backend import KeyedStateBackend, stored_entries
from scurry.runtime.state.layout import GROUP_SHIFT, has_rows
from scurry.runtime.state.row_runs import RowRun
from scurry.runtime.state.store import DictStore
from scurry.sql.operators.hashed_rows.hashing import row_hashes
from scurry.sql.operators.hashed_rows.rows import HashedRows
from scurry.sql.operators.hashed_rows.tables import Table

GROUPS = 4
SCHEMA = pa.schema(
    [("key", pa.int64()), ("text", pa.string()), ("list", pa.list_(pa.int32())), ("amount", pa.decimal128(5, 2))]
)
Row = tuple[int | None, str | None, list[int] | None, Any]


def hashes_of(keys: Sequence[int | None]) -> Any:
    return row_hashes([pa.array(keys, pa.int64())], len(keys), GROUPS)


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    return pa.RecordBatch.from_arrays(
        [pa.array(list(column), field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def rows_of(batch: pa.RecordBatch) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


class Kept:
    """Two tables; of the first the rows of a key are replaced, to both rows are added."""

    def __init__(self, store: DictStore | None = None, appends_only: bool = False) -> None:
        self.store = DictStore() if store is None else store
        self._appends_only = appends_only

    def batch(self, changes: Sequence[tuple[int, int | None, list[Row]]]) -> None:
        """Give keys other rows (or more rows, if rows are only added) in one micro-batch: table, key, rows."""
        rows = self._rows()
        for place, key, new in changes:
            hashes, table = hashes_of([key]), rows.tables[place]
            rows.load(hashes, own=place)
            if not self._appends_only:
                _, numbers = table.find(hashes)
                table.remove(numbers, np.repeat(hashes, len(numbers)))
            table.add(batch_of(new), hashes_of([key] * len(new)))
        rows.write_back()
        self._backend.flush()
        assert self._backend.meta.size == sum(len(blob) for (_, kind, _), blob in self.store.items() if kind == "page")

    def read(self, place: int, keys: Sequence[int | None]) -> list[list[Row]]:
        rows, hashes = self._rows(), hashes_of(keys)
        rows.load(hashes)
        group_ids, numbers = rows.tables[place].find(hashes)
        found: list[list[Row]] = [[] for _ in keys]
        for group_id, row in zip(group_ids.tolist(), rows_of(rows.tables[place].rows(numbers)), strict=True):
            found[group_id].append(row)
        return found

    def _rows(self) -> HashedRows:
        self._backend = KeyedStateBackend("op", self.store, GROUPS)
        return HashedRows([Table("one", SCHEMA, [0]), Table("two", SCHEMA, [0])], self._backend, self._appends_only)


KEYS = [None, *range(12)]
texts = st.sampled_from([None, "", "a", "é", "x" * 300])
lists = st.sampled_from([None, [], [1, None]])
drawn_rows = st.lists(st.tuples(texts, lists), max_size=3)
steps = st.lists(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(KEYS), drawn_rows), min_size=1, max_size=5), max_size=25
)


@pytest.mark.parametrize("appends_only", [False, True])
@settings(max_examples=40, deadline=None)
@given(steps=steps, small=st.sampled_from([0, 1500, 16384]), moves=st.sets(st.integers(0, 24)))
def test_rows_are_those_of_a_dict_of_lists(appends_only: bool, steps: Any, small: int, moves: set[int]) -> None:
    expected: tuple[dict[Any, list[Row]], ...] = ({}, {})
    kept = Kept(appends_only=appends_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_groups, "SMALL", small)
        for number, step in enumerate(steps):
            changes = []
            for place, key, some in step:
                rows: list[Row] = [(key, text, elements, None) for text, elements in some]
                changes.append((place, key, rows))
                expected[place][key] = [*(expected[place].get(key, []) if appends_only else []), *rows]
            kept.batch(changes)
            if number in moves:
                kept = Kept(rescaled(kept.store), appends_only)
            for place in (0, 1):
                assert kept.read(place, KEYS) == [expected[place].get(key, []) for key in KEYS]
    seen = dict(keys_in(entry for entry in entries_of(kept.store, 0) if entry.kind == "page"))
    assert seen == stored_entries("op", kept.store)
    for place, name in enumerate(("one", "two")):
        found = {entry[name][0][0]: [row[:2] for row in entry[name]] for entry in seen.values() if name in entry}
        assert found == {key: [row[:2] for row in rows] for key, rows in expected[place].items() if rows}


def rescaled(store: DictStore) -> DictStore:
    """Distribute the entries over two subtasks by key group, as a restore does, and put them together again."""
    parts = DictStore(), DictStore()
    for (uid, kind, place), blob in store.items():
        if kind == "page":
            parts[(place >> GROUP_SHIFT) % 2][uid, kind, place] = blob
    whole = DictStore({**parts[1], **parts[0]})
    whole["op", "meta", 0] = store["op", "meta", 0]
    return whole


def filled(count: int = 5000) -> Kept:
    kept = Kept()
    kept.batch([(0, None, [])])
    rows, hashes = kept._rows(), hashes_of(range(count))
    rows.load(hashes)
    rows.tables[0].add(batch_of([(key, "x" * 20, None, None) for key in range(count)]), hashes)
    rows.write_back()
    kept._backend.flush()
    return kept


def written(kept: Kept, before: dict[Any, bytes]) -> int:
    return sum(len(blob) for key, blob in kept.store.items() if key[1] == "page" and before.get(key) != blob)


def test_a_batch_writes_what_it_has_changed() -> None:
    kept = filled()
    before = dict(kept.store)
    kept.batch([(0, 7, [(7, "y", None, None)])])
    assert written(kept, before) < 2500
    assert kept.read(0, [7, 8, -1]) == [[(7, "y", None, None)], [(8, "x" * 20, None, None)], []]


def test_a_small_group_is_one_entry() -> None:
    kept = Kept()
    kept.batch([(0, key, [(key, "a", None, None)]) for key in range(20)])
    kept.batch([(1, key, [(key, "b", None, None)]) for key in range(20)])
    assert len([key for key in kept.store if key[1] == "page"]) == GROUPS


def test_rows_that_are_replaced_take_at_most_twice_their_space() -> None:
    kept, chance = filled(), random.Random(1)
    least = sum(map(len, kept.store.values()))
    for batch in range(60):
        kept.batch([(0, key, [(key, f"{batch:020}", None, None)]) for key in chance.sample(range(5000), 100)])
        assert sum(map(len, kept.store.values())) < 2.5 * least


class ReleasingStore(DictStore):
    """Count how often memory of runs may be given back."""

    released = 0

    def release(self) -> None:
        self.released += 1


def test_memory_of_runs_is_given_back_while_rows_are_read() -> None:
    store = ReleasingStore(filled().store)
    Kept(store).read(0, range(100))
    assert store.released >= GROUPS


def test_runs_that_were_merged_are_not_held() -> None:
    kept, keys = filled(), range(5000)
    rows = kept._rows()
    rows.load(hashes_of(keys))
    rows.tables[0].add(batch_of([(key, "x" * 100, None, None) for key in keys]), hashes_of(keys))
    rows.write_back()
    groups = rows._groups
    assert groups._indexes and groups._runs.keys() <= {
        info.digest for index in groups._indexes.values() for info in index.runs
    }


def test_a_group_whose_rows_are_all_removed_leaves_nothing() -> None:
    kept = filled()
    kept.batch([(0, key, []) for key in range(5000)])
    assert [kind for _, kind, _ in kept.store] == ["meta"]


def test_a_repeated_batch_writes_the_same() -> None:
    one, other = filled(), filled()
    for kept in (one, other):
        kept.batch([(0, key, [(key, "z", [1], None)]) for key in range(0, 5000, 7)])
    assert one.store == other.store


def test_rows_that_are_replaced_by_the_same_are_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "SMALL", 0)
    kept = Kept()
    for _ in range(10):
        kept.batch([(0, 1, [(1, "a", None, None)])])
        assert kept.read(0, [1]) == [[(1, "a", None, None)]]


@pytest.mark.parametrize("small", [0, 16384])
def test_rows_come_with_other_names_of_columns(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "SMALL", small)
    kept = Kept()
    for number in range(6):
        rows, keys = kept._rows(), [2 * number, 2 * number + 1]
        rows.load(hashes_of(keys))
        batch = batch_of([(key, str(number), [1], None) for key in keys])
        named = pa.RecordBatch.from_arrays(batch.columns, names=[f"n{number}{place}" for place in range(4)])
        rows.tables[0].add(named, hashes_of(keys))
        rows.write_back()
        kept._backend.flush()
    assert [found[0][1] for found in kept.read(0, range(12))] == list("001122334455")


@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_a_damaged_run_is_reported(damage: str) -> None:
    kept = filled()
    some, other = [key for key, blob in kept.store.items() if has_rows(blob)][:2]
    if damage == "missing":
        del kept.store[some]
    else:
        kept.store[some] = kept.store[some][:30] if damage == "cut" else kept.store[other]
    with pytest.raises(CheckpointCorruptedError, match="state of a key group is damaged"):
        kept.read(0, list(range(5000)))


def test_a_cut_run_is_damaged_wherever_it_is_cut() -> None:
    blob = next(blob for blob in filled(100).store.values() if has_rows(blob))
    end = len(blob) - len(RowRun(blob).description)
    for length in range(0, end, 13):
        with pytest.raises(CheckpointCorruptedError):
            RowRun(blob[:length])
