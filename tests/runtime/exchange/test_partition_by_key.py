"""Rows are split by key, and arrive as they were sent."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from scurry.sql.connectors.contract import Changes
from scurry.sql.operators.partitioning import KeyedChanges, PartitionByKey, keys_of

TEXTS = st.sampled_from(["a", "b", "", "é", None])
ROWS = st.lists(st.tuples(TEXTS, st.integers(0, 2) | st.none(), st.integers(0, 9)), min_size=1, max_size=60)


def received(rows: KeyedChanges) -> KeyedChanges:
    """Return rows as the subtask gets them."""
    arrived = pickle.loads(pickle.dumps(rows))
    assert isinstance(arrived, KeyedChanges)
    return arrived


@given(rows=ROWS, columns=st.sampled_from([(0,), (0, 1), (1,), ()]), by_group=st.booleans(), has_kinds=st.booleans())
def test_each_row_arrives_once_with_its_key(
    rows: list[tuple[str | None, int | None, int]], columns: tuple[int, ...], by_group: bool, has_kinds: bool
) -> None:
    texts, numbers, values = map(list, zip(*rows, strict=True))
    arrays = [pa.array(texts, pa.string()), pa.array(numbers, pa.int32()), pa.array(values)]
    batch = pa.RecordBatch.from_arrays(arrays, names=["s", "i", "v"])
    kinds = np.arange(len(rows), dtype=np.int8) % 4 if has_kinds else None
    parts = [received(part) for _, part in PartitionByKey(columns, by_group)(Changes(batch, kinds), 128, 3)]
    arrived = []
    for part in parts:
        assert part.changes.batch.schema == batch.schema
        found = part.changes.kinds
        of_rows = [None] * len(part.group_ids) if found is None else found.tolist()
        arrived += list(zip(*(each.to_pylist() for each in part.changes.batch.columns), of_rows, strict=True))
        if not by_group:
            own, group_ids = keys_of(part.changes.batch, columns)
            assert [part.keys[group_id] for group_id in part.group_ids] == [own[group_id] for group_id in group_ids]
    sent = [(*row, None if kinds is None else int(kinds[place])) for place, row in enumerate(rows)]
    assert sorted(map(repr, arrived)) == sorted(map(repr, sent))


def test_the_texts_of_a_key_with_many_rows_are_sent_once() -> None:
    text = "a text of some length" * 100
    batch = pa.RecordBatch.from_arrays([pa.array([text] * 1000)], names=["s"])
    ((_, rows),) = PartitionByKey((0,))(Changes(batch), 128, 1)
    assert len(pickle.dumps(rows)) < 20_000
    assert received(rows).changes.batch.equals(batch)
