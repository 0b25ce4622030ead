"""Savepoints of many keys, of other parallelisms and with runs of large state: each key is read once."""

from __future__ import annotations

import json
import pickle
import random
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from scurry.common.typeinfo import Types
from scurry.connectors.source import Assignment, BatchLimits
from scurry.datastream.state import ValueStateDescriptor
from scurry.runtime.savepoint.entries import write_entries
from scurry.runtime.savepoint.format import Entry, OperatorState, SavepointMetadata
from scurry.runtime.savepoint.reading import complete_savepoint
from scurry.runtime.state.layout import FIRST_RUN, GROUP_SHIFT, encoded
from scurry.runtime.state.runs import built
from scurry.sql.savepoints import source as module
from scurry.sql.savepoints.columns import StateColumn
from scurry.sql.savepoints.source import SavepointSource
from scurry.sql.types import BigIntType, VarBinaryType
from scurry.state import OperatorTransformation, SavepointReader, SavepointWriter
from scurry.testing import TestHarness
from support.state.harness_savepoints import save, start_from
from support.statements.tables import environment, rows

NUMBER = StateColumn("n", BigIntType(), "n")
KEY = StateColumn("k", BigIntType(False))


def source_of(path: str, *columns: StateColumn, uid: str = "visits", groups: int = 128) -> SavepointSource:
    return SavepointSource(path, uid, columns, {}, 0, groups)


def keys_read(source: SavepointSource) -> Counter[int]:
    found: Counter[int] = Counter()
    for split in source.splits():
        for changes in source.read(split, ["k"]):
            found.update(changes.batch.column(0).to_pylist())
    return found


@pytest.mark.slow
def test_a_hundred_thousand_keys_are_read_in_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count, draw = 100_000, random.Random(7)
    values = ((key, {"n": key, "b": draw.randbytes(600)}) for key in range(count))
    descriptors = [
        ValueStateDescriptor("n", Types.LONG()),
        ValueStateDescriptor("b", Types.PRIMITIVE_ARRAY(Types.BYTE())),
    ]
    state = OperatorTransformation.keyed_state(values, descriptors)
    path = SavepointWriter.new_savepoint().with_operator("visits", state).write(str(tmp_path / "s"))
    assert SavepointReader.read(path)._savepoint.operators["visits"].bytes > 60_000_000
    monkeypatch.setattr(module, "SPLIT_BYTES", 4 << 20)
    source = source_of(path, KEY, NUMBER, StateColumn("b", VarBinaryType(1000), "b"))
    splits = source.splits()
    assert len(splits) > 4
    total, columns = 0, pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        for split in splits:
            for changes in source.read(split, ["n", "b"]):
                total += sum(changes.batch.column(0).to_pylist())
                assert pa.total_allocated_bytes() - columns < 40_000_000
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()
    assert total == count * (count - 1) // 2


@pytest.mark.parametrize("limit", [1, 1 << 10, 1 << 30])
def test_every_key_is_in_one_split(limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups overlap: a key group begins in one and ends in the next, and operators are mixed."""
    monkeypatch.setattr(module, "SPLIT_BYTES", limit)
    monkeypatch.setattr("scurry.runtime.savepoint.entries.ROW_GROUP_BYTES", 2_000)
    path = str(tmp_path / "s")
    pages = [
        Entry(uid, "page", 0, group << GROUP_SHIFT | number, _page(range(first, first + 20)))
        for group in range(16)
        for uid in ("visits", "others")
        for number in range(5)
        for first in [group * 1000 + number * 20]
    ]
    random.Random(limit).shuffle(pages)
    write_entries(path, sorted(pages[:100], key=lambda entry: entry.id), "part-0")
    write_entries(path, pages[100:], "part-1")
    state = {"n": {"kind": "value", "type": "LONG"}}
    operators = {
        uid: OperatorState(uid, place, "KeyedProcess", 2, state) for place, uid in enumerate(("visits", "others"))
    }
    complete_savepoint(path, SavepointMetadata(0, "test", "0" * 32, "test", 16, 1, operators=operators))
    expected = Counter(group * 1000 + key for group in range(16) for key in range(100))
    source = source_of(path, KEY, NUMBER, groups=16)
    assert keys_read(source) == expected
    assert (len(source.splits()) > 2) == (limit < 1 << 30)


def test_a_streaming_job_goes_on_with_the_key_groups_that_it_has_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SPLIT_BYTES", 1)
    monkeypatch.setattr("scurry.runtime.savepoint.entries.ROW_GROUP_BYTES", 2_000)
    state = OperatorTransformation.keyed_state(
        [(key, {"n": key}) for key in range(500)], [ValueStateDescriptor("n", Types.LONG())]
    )
    path = SavepointWriter.new_savepoint(16).with_operator("visits", state).write(str(tmp_path / "s"))
    source = source_of(path, KEY, NUMBER, groups=16)
    begun = source.create_enumerator(2, BatchLimits())
    found = keys_of(source, begun.next_batch())
    assert 0 < len(found) < 500
    restored = source.create_enumerator(3, BatchLimits())
    restored.restore(json.loads(json.dumps(begun.position())))
    final: set[int] = set()
    while len(final) < 3:
        assignments = restored.next_batch()
        final |= {each.channel for each in assignments if each.final}
        found += keys_of(source, assignments)
    assert sorted(found) == list(range(500))


def keys_of(source: SavepointSource, assignments: list[Assignment]) -> list[int]:
    splits = [split for each in assignments if each.work is not None for split in source.pieces(each.work)]
    return [key for split in splits for changes in source.read(split, ["k"]) for key in changes.batch[0].to_pylist()]


def _page(keys: range) -> bytes:
    return pickle.dumps({key: {"n": key} for key in keys})


def test_the_newest_entry_of_a_key_in_runs_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "s")

    def run(number: int, entries: dict[int, dict[str, int]]) -> Entry:
        hashes = list(entries)
        blob = built(hashes, [b"i%d" % key for key in entries], encoded(list(entries.values())))
        return Entry("visits", "page", 0, 3 << GROUP_SHIFT | FIRST_RUN + number, blob)

    older = {key: {"n": key} for key in range(10)}
    write_entries(path, [run(0, older), run(1, {3: {"n": 30}, 4: {}})])
    operators = {"visits": OperatorState("visits", 0, "KeyedProcess", 1, {"n": {"kind": "value", "type": "LONG"}})}
    complete_savepoint(path, SavepointMetadata(0, "test", "0" * 32, "test", 16, 1, operators=operators))
    env = environment(False)
    env.execute_sql(
        "CREATE TABLE s (k BIGINT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'savepoint', "
        f"'state.path' = '{path}', 'operator.uid' = 'visits')"
    )
    assert rows(env, "SELECT * FROM s") == [(key, 30 if key == 3 else key) for key in range(10) if key != 4]


def totals(pairs: Any) -> Any:
    return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("totals")


def test_rescaled_savepoints_have_the_same_rows(tmp_path: Path) -> None:
    """A savepoint of two subtasks, and that of a job of three which began from it."""
    with TestHarness.of(totals, parallelism=2) as harness:
        for key in range(50):
            harness.process((f"k{key}", key))
        first = save(harness, tmp_path / "two")
    with start_from(first, totals, parallelism=3) as harness:
        harness.process(("k7", 100))
        second = save(harness, tmp_path / "three")
    env = environment(False)
    for name, path in (("two", first), ("three", second)):
        env.execute_sql(
            f"CREATE TABLE {name} (k STRING, total ROW<k STRING, n INT>, PRIMARY KEY (k) NOT ENFORCED) WITH "
            f"('connector' = 'savepoint', 'state.path' = '{path}', 'operator.uid' = 'totals', "
            "'fields.total.state-name' = 'reduce')"
        )
    assert rows(env, "SELECT k FROM two EXCEPT SELECT k FROM three") == []
    changed = rows(
        env, "SELECT a.k, a.total.n, b.total.n FROM two a JOIN three b ON a.k = b.k WHERE a.total <> b.total"
    )
    assert changed == [("k7", 7, 107)]
    assert rows(env, "SELECT COUNT(*), SUM(total.n) FROM three") == [(50, 49 * 25 + 100)]
