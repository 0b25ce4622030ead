"""Copies of runs on a machine's disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from scurry.runtime.state.store import DictStore, RunInfo, StoreKey
from scurry.spark.workers import local_runs
from scurry.spark.workers.local_runs import LocalRuns
from scurry.spark.workers.map_store import MapStore
from scurry.spark.workers.memory import resident_files
from support.state.runs import merged_rows, rows_of, run_of

LARGE = b"x" * 100_000


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "runs")


def test_workers_of_a_machine_share_large_runs(directory: str) -> None:
    LocalRuns(directory).put(1, LARGE)
    assert bytes(LocalRuns(directory).get(1, len(LARGE))) == LARGE


def test_small_runs_stay_in_the_worker(directory: str) -> None:
    runs = LocalRuns(directory)
    runs.put(1, b"small")
    assert runs.get(1, 5) == b"small"
    assert LocalRuns(directory).get(1, 5) is None
    assert not os.path.exists(directory)


def test_memory_for_small_runs_is_limited(directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_runs, "_SMALL_BYTES", 30)
    runs = LocalRuns(directory)
    for digest in range(10):
        runs.put(digest, b"0123456789")
    assert [digest for digest in range(10) if runs.get(digest, 10)] == [7, 8, 9]


def test_a_file_that_is_missing_or_cut_off_is_not_there(directory: str) -> None:
    LocalRuns(directory).put(1, LARGE)
    path = Path(directory, f"{1:016x}")
    path.write_bytes(LARGE[:-1])
    assert LocalRuns(directory).get(1, len(LARGE)) is None
    path.unlink()
    assert LocalRuns(directory).get(1, len(LARGE)) is None


def test_a_worker_unmaps_what_another_has_removed(directory: str) -> None:
    worker, other = LocalRuns(directory), LocalRuns(directory)
    for digest in range(700):
        worker.put(digest, LARGE)
        other.get(digest, len(LARGE))
    for digest in range(0, 700, 2):
        worker.remove(digest)
    for _ in range(2):  # 512 are looked for at once
        other.unmap_removed()
    deleted = [
        line for line in Path("/proc/self/maps").read_text().splitlines() if directory in line and "deleted" in line
    ]
    assert deleted == []
    assert bytes(other.get(1, len(LARGE))) == LARGE


def test_a_run_that_is_removed_leaves_no_file(directory: str) -> None:
    runs = LocalRuns(directory)
    runs.put(1, LARGE)
    runs.get(1, len(LARGE))
    runs.remove(1)
    assert runs.get(1, len(LARGE)) is None
    assert os.listdir(directory) == []


def test_a_full_disk_costs_requests_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    runs = LocalRuns(str(tmp_path / "file" / "runs"))
    runs.put(1, LARGE)
    assert runs.get(1, len(LARGE)) is None


def test_runs_of_an_earlier_start_are_used_again(directory: str, tmp_path: Path) -> None:
    digest, blob = run_of(1)
    LocalRuns(directory).put(digest, blob)
    now = str(tmp_path / "now")
    found = LocalRuns(now, [str(tmp_path / "none"), directory]).get(digest, len(blob))
    assert bytes(found) == blob
    assert os.listdir(directory) == []
    assert bytes(LocalRuns(now).get(digest, len(blob))) == blob  # other workers need not check it again


KINDS = {"entries": lambda: run_of(1), "rows": lambda: rows_of(1), "merged rows": merged_rows}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 8, 16, 24, -40_000, -1])
def test_a_run_of_an_earlier_start_that_has_changed_is_removed(
    kind: str, place: int, directory: str, tmp_path: Path
) -> None:
    digest, blob = KINDS[kind]()
    changed = bytearray(blob)
    changed[place] ^= 1
    LocalRuns(directory).put(digest, bytes(changed))
    assert LocalRuns(str(tmp_path / "now"), [directory]).get(digest, len(blob)) is None
    assert os.listdir(directory) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_an_earlier_start_that_is_intact_is_used(kind: str, directory: str, tmp_path: Path) -> None:
    digest, blob = KINDS[kind]()
    LocalRuns(directory).put(digest, blob)
    assert bytes(LocalRuns(str(tmp_path / "now"), [directory]).get(digest, len(blob))) == blob


@pytest.mark.skipif(resident_files() is None, reason="the system does not tell what is in memory")
def test_memory_of_mapped_runs_is_given_back_as_soon_as_it_is_much(
    directory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, runs = 32 << 20, LocalRuns(directory)
    runs.put(1, bytes(size))
    before = resident_files() or 0
    for limit, given_back in ((before + 2 * size, False), (before + size // 2, True)):
        monkeypatch.setattr(local_runs, "_RESIDENT_BYTES", limit)
        monkeypatch.setattr(runs, "_mapped_bytes", limit)
        assert runs.get(1, size).find(b"x") == -1  # reads all of it
        runs.release()
        assert ((resident_files() or 0) < before + size // 2) == given_back


def test_a_run_that_was_converted_at_a_restore_is_not_used_by_another_start(directory: str, tmp_path: Path) -> None:
    (digest, _), (_, converted) = run_of(1), run_of(2)
    LocalRuns(directory).put(digest, converted)
    assert LocalRuns(str(tmp_path / "now"), [directory]).get(digest, len(converted)) is None


def test_files_of_others_and_links_are_not_read(
    directory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (digest, blob), path = run_of(1), Path(directory)
    LocalRuns(directory).put(digest, blob)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        assert LocalRuns(directory).get(digest, len(blob)) is None
    (path / f"{digest:016x}").rename(tmp_path / "elsewhere")
    (path / f"{digest:016x}").symlink_to(tmp_path / "elsewhere")
    assert LocalRuns(directory).get(digest, len(blob)) is None


class Requests(DictStore):
    """A store on a machine, and what is asked of Spark's."""

    _hits = _misses = 0

    def __init__(self, local: LocalRuns) -> None:
        super().__init__()
        self.local, self.asked = local, 0

    def get_runs(self, runs: Any) -> list[Any]:
        return MapStore.get_runs(cast(Any, self), runs)

    def get_many(self, keys: Any) -> list[bytes | None]:
        self.asked += len(keys)
        return super().get_many(keys)


def test_the_store_is_asked_only_for_runs_that_are_new_to_the_machine(directory: str) -> None:
    store = Requests(LocalRuns(directory))
    wanted: list[tuple[StoreKey, RunInfo]] = []
    for number in range(3):
        key = ("op", "page", number)
        store[key] = bytes([number]) * 100_000
        wanted.append((key, RunInfo(number, number, 1, 100_000)))
    for asked in (3, 3):
        assert [bytes(blob) for blob in store.get_runs(wanted)] == list(store.values())
        assert store.asked == asked
    assert (store._hits, store._misses) == (3, 3)
    del store["op", "page", 2]
    store.local.remove(2)
    assert store.get_runs(wanted)[2] is None
