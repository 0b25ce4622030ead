"""Tasks write their stores into a savepoint, and read what they take from one."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from scurry.common import Configuration, Types
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import CheckpointCorruptedError, SavepointError
from scurry.graph.plan import JobPlan
from scurry.graph.shipping import ship
from scurry.runtime.driver.requests import SaveState
from scurry.runtime.keys import subtask_of
from scurry.runtime.local.streaming import Levels
from scurry.runtime.savepoint import entries
from scurry.runtime.savepoint.format import SavepointMetadata
from scurry.runtime.savepoint.reading import Savepoint, complete_savepoint, open_savepoint
from scurry.runtime.savepoint.restore import StateDistributor
from scurry.runtime.savepoint.saving import copy_linked, link_store, save_store, stored
from scurry.runtime.savepoint.shares import RestoreShare
from scurry.runtime.state.backend import KeyedStateBackend, stored_entries, take_over
from scurry.runtime.state.layout import GROUP_SHIFT, is_run
from scurry.runtime.state.runs import content_digest, digest_of
from scurry.runtime.state.store import DictStore, RunInfo, StoreKey
from scurry.testing import job_plan_of

GROUPS = 16


class CountingStore(DictStore):
    """Counts what is read of it, apart from runs."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[StoreKey] = []

    def get_many(self, keys: Sequence[StoreKey]) -> list[bytes | None]:
        self.read += keys
        return super().get_many(keys)

    def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
        return [self.get(key) for key, _ in runs]


def filled(keys: int, value_bytes: int = 400, batches: int = 3, uids: Sequence[str] = ("op",)) -> CountingStore:
    store, some = CountingStore(), random.Random(7)
    for uid in uids:
        for _ in range(batches):
            backend = KeyedStateBackend(uid, store, GROUPS)
            for key in range(keys):
                if some.random() < 0.6:
                    backend.select(key)["v"] = some.randbytes(value_bytes)
            backend.flush()
    store["op", "broadcast", 0] = b"broadcast"
    return store


@pytest.mark.parametrize("keys", [0, 3, 40, 2000])
def test_all_entries_of_a_store_are_found_once_in_order(keys: int) -> None:
    store = filled(keys, uids=("op", "other"))
    found = [(key, bytes(blob)) for key, blob in stored(store)]
    assert dict(found) == store
    assert [key for key, _ in found] == sorted(store)
    assert any(is_run(blob) for _, blob in found) == (keys == 2000)


def test_runs_are_not_asked_of_the_store() -> None:
    store = filled(2000)
    store.read.clear()
    list(stored(store))
    assert not [key for key in store.read if is_run(store[key])]


def test_a_missing_run_is_damage() -> None:
    store = filled(2000)

    class Damaged(CountingStore):
        def get_runs(self, runs: Sequence[tuple[StoreKey, RunInfo]]) -> list[Any]:
            return [None for _ in runs]

    damaged = Damaged()
    damaged.update(store)
    with pytest.raises(CheckpointCorruptedError, match="a run of its index is missing"):
        list(stored(damaged))


def test_a_savepoint_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SavepointError, match="the state cannot be written"):
        save_store(filled(10), str(tmp_path / "file" / "savepoint"), "part", 0)


def saved(path: Path, parallelism: int, keys: int = 1500) -> tuple[Savepoint, dict[Any, Any]]:
    """A savepoint of an operator at some parallelism, and what it has of each key."""
    stores = [DictStore() for _ in range(parallelism)]
    everything = filled(keys)
    for (uid, kind, number), blob in everything.items():
        if kind == "page":
            stores[subtask_of(number >> GROUP_SHIFT, GROUPS, parallelism)][uid, kind, number] = blob
    for subtask, store in enumerate(stores):
        save_store(store, str(path), f"level-1-{subtask}", subtask)
    complete_savepoint(str(path), SavepointMetadata(1, "test", "0" * 32, "test", GROUPS, 7))
    return open_savepoint(str(path)), dict(stored_entries("op", everything))


@pytest.mark.parametrize("before", [1, 2, 3])
@pytest.mark.parametrize("after", [1, 2, 5, 16])
def test_each_subtask_reads_its_key_groups(
    tmp_path: Path, before: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "ROW_GROUP_BYTES", 20_000)
    savepoint, expected = saved(tmp_path / "savepoint", before)
    distributor = StateDistributor({"op": (5, after)}, GROUPS)
    stores = [DictStore() for _ in range(after)]
    for file in savepoint.files_of("page"):
        assert len(file.digest.spans) == len(file.row_groups) > 3
        for number, span in enumerate(file.digest.spans):
            readers = distributor.readers(span)
            assert len(readers) <= 2 or after == 16
            for _, subtask in readers:
                share = RestoreShare(distributor, (5, subtask), file, (number,))
                take_over("op", share.entries(), stores[subtask])
    found: dict[Any, Any] = {}
    for subtask, store in enumerate(stores):
        groups = {number >> GROUP_SHIFT for _, kind, number in store if kind == "page"}
        assert all(subtask_of(group, GROUPS, after) == subtask for group in groups)
        found.update(stored_entries("op", store))
    assert found == expected


def test_operators_that_the_job_does_not_have_are_read_by_nobody(tmp_path: Path) -> None:
    savepoint, _ = saved(tmp_path / "savepoint", 1)
    distributor = StateDistributor({"another": (5, 2)}, GROUPS)
    assert [distributor.readers(span) for file in savepoint.files_of("page") for span in file.digest.spans] == [[]] * 1


def test_restored_runs_are_kept_by_their_digests() -> None:
    kept: list[int] = []

    class Keeping(DictStore):
        def put_run(self, key: StoreKey, digest: int, blob: bytes) -> None:
            kept.append(digest)
            super().put_run(key, digest, blob)

    source, store = filled(2000), Keeping()
    take_over("op", [(kind, number, blob) for (_, kind, number), blob in source.items()], store)
    assert len(kept) == len(set(kept)) == sum(is_run(blob) for blob in source.values())


# ---------------------------------------------------------------- by the tasks of a job


def plan_of_two_levels() -> JobPlan:
    configuration = Configuration.from_dict({"parallelism.default": "2", "pipeline.max-parallelism": str(GROUPS)})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    numbers = env.from_collection([1], Types.INT()).uid("numbers")
    for uid in ("first", "second"):
        numbers = numbers.key_by(lambda number: number, key_type=Types.INT()).reduce(max).uid(uid)
    numbers.print()
    return job_plan_of(env, "job")


def saved_by_tasks(path: Path, request: SaveState) -> dict[StoreKey, bytes]:
    """What the tasks of a job write that is asked for a savepoint, without the key's subtask."""
    plan = plan_of_two_levels()
    plan.settings = replace(plan.settings, start="this one")
    levels = Levels(plan, lambda: pickle.loads(ship(plan)))
    for level, uid in ((1, "first"), (2, "second")):
        for subtask in plan.subtask_ids:
            levels.store(level, subtask)[uid, "page", subtask << GROUP_SHIFT | 1] = uid.encode()
    assert levels.process(request.rows(plan), 7) == []
    found = sorted(path.rglob("*.parquet"))
    rows = [row for file in found for row in pq.read_table(file).to_pylist()]
    return {(row["uid"], "page", row["id"]): row["blob"] for row in rows}


def test_the_tasks_of_all_levels_save_their_stores(tmp_path: Path) -> None:
    plan = plan_of_two_levels()
    found = saved_by_tasks(tmp_path, SaveState(str(tmp_path), "this one"))
    pages = [subtask << GROUP_SHIFT | 1 for subtask in plan.subtask_ids]
    assert found == {(uid, "page", page): uid.encode() for uid in ("first", "second") for page in pages}


def test_a_batch_that_is_repeated_by_another_start_saves_nothing(tmp_path: Path) -> None:
    assert saved_by_tasks(tmp_path, SaveState(str(tmp_path), "an earlier one")) == {}


# ---------------------------------------------------------------- beside a job that goes on


class LinkedStore(CountingStore):
    """Has a file of every other run."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory

    def link_run(self, info: RunInfo, path: str) -> bool:
        if info.digest % 2:
            return False
        blob = next(blob for blob in self.values() if is_run(blob) and digest_of(blob) == info.digest)
        file = self.directory / str(info.digest)
        if not file.exists():
            file.write_bytes(blob)
        try:
            os.link(file, path)
        except FileExistsError:
            return False
        return True


def test_runs_are_copied_after_the_task_has_linked_to_them(tmp_path: Path) -> None:
    store = LinkedStore(tmp_path / "files")
    store.update(filled(2000))
    expected = dict(store)
    for name in ("files", "links"):
        (tmp_path / name).mkdir()
    path = str(tmp_path / "savepoint")
    link_store(store, path, "level-1-00000", 3, str(tmp_path / "links"))
    update = KeyedStateBackend("op", store, GROUPS)  # the job goes on
    for key in range(2000):
        update.select(key)["v"] = b"another"
    update.flush()
    shutil.rmtree(tmp_path / "files")
    copy_linked(str(tmp_path / "links"), path)
    complete_savepoint(path, SavepointMetadata(1, "test", "0" * 32, "test", GROUPS, 7))
    entries = list(open_savepoint(path).entries())
    assert {(entry.uid, entry.kind, entry.id): entry.blob for entry in entries} == expected
    assert {entry.subtask for entry in entries} == {3}
    assert len(entries) == len(expected)


def test_a_task_that_saves_again_leaves_the_files_of_runs_as_they_are(tmp_path: Path) -> None:
    store = LinkedStore(tmp_path / "files")
    store.update(filled(2000))
    for name in ("files", "links"):
        (tmp_path / name).mkdir()
    links = str(tmp_path / "links")
    link_store(store, str(tmp_path / "savepoint"), "level-1-00000", 0, links)
    update = KeyedStateBackend("op", store, GROUPS)
    for key in range(2000):
        update.select(key)["v"] = bytes(700)
    update.flush()
    link_store(store, str(tmp_path / "savepoint"), "level-1-00000", 0, links)
    for file in (tmp_path / "files").iterdir():
        assert digest_of(file.read_bytes()) == content_digest(file.read_bytes()) == int(file.name)


def test_all_runs_of_a_key_group_are_in_one_file(tmp_path: Path) -> None:
    store = LinkedStore(tmp_path)
    store.update(filled(2000))
    (tmp_path / "links").mkdir()
    path = str(tmp_path / "savepoint")
    link_store(store, path, "level-1-00000", 0, str(tmp_path / "links"))
    copy_linked(str(tmp_path / "links"), path)
    complete_savepoint(path, SavepointMetadata(1, "test", "0" * 32, "test", GROUPS, 7))
    with_runs = [file for file in open_savepoint(path).files_of("page") if any(is_run(e.blob) for e in file.read())]
    assert [Path(file.path).name for file in with_runs] == ["level-1-00000-runs.parquet"]
