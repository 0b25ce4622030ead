"""Large runs of state as files of the checkpoint: what a kill, a rollback or damage leaves of them."""

from __future__ import annotations

import io
import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scurry.errors import CheckpointStorageFullError, DamagedRunError
from scurry.runtime.checkpoint.storage import LocalStorage
from scurry.runtime.savepoint.saving import stored
from scurry.runtime.state.backend import KeyedStateBackend, stored_entries, take_over
from scurry.runtime.state.store import RunInfo, StoreKey
from scurry.spark.workers import local_runs, map_store, run_files
from scurry.spark.workers.local_runs import LocalRuns
from scurry.spark.workers.map_store import MapStore
from scurry.spark.workers.run_files import RunFiles, is_reference, name_in
from support.state.runs import run_of

Entries = dict[StoreKey, bytes]
KEY = ("op", "page", 7 << 32 | 5)
GROUPS = 2
RETAINED, ROLLED_BACK = 5, 2
NO_LIMIT = 1 << 30


class Store(MapStore):
    """Spark's map in memory."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self._map: Any = entries
        self._superseded = {}
        self._bytes_read = self._hits = self._misses = 0
        self._client: Any = SimpleNamespace(sockfile=io.BytesIO())

    def _get(self, keys: Any) -> list[bytes | None]:
        return [self.entries.get(key) for key in keys]

    def put(self, key: StoreKey, blob: bytes) -> None:
        self.entries[key] = blob

    def remove(self, key: StoreKey) -> None:
        self.entries.pop(key, None)


class Killed(BaseException):
    """The process has ended."""


class Checkpoint:
    """The state of a job whose process may be killed, beside a model of it.

    Attributes:
        versions: After each committed batch: the entries of the store, and the value of each key.
        depth: The number of batches that it can be rolled back.
        oldest: The oldest version that it can be rolled back to.
    """

    def __init__(self, root: Path, limit: int = NO_LIMIT) -> None:
        self.root = root
        self.files = RunFiles(str(root / "checkpoint" / "runs"), retained=RETAINED, limit=limit)
        self.depth = RETAINED if limit == NO_LIMIT else ROLLED_BACK
        self.versions: list[tuple[Entries, dict[int, int]]] = []
        self.starts = self.oldest = 0
        self.start()

    def start(self) -> None:
        """Start the job: what was not committed is removed."""
        LocalStorage(str(self.root / "checkpoint")).sweep()
        self.files.delete_after(len(self.versions) - 1)
        self.starts += 1
        self.local = LocalRuns(str(self.root / f"local-{self.starts}"), [str(self.root / f"local-{self.starts - 1}")])

    def batch(self, chance: random.Random) -> None:
        """Process a batch, and commit it."""
        before, values = self.versions[-1] if self.versions else (Entries(), dict[int, int]())
        store, values = Store(dict(before)), dict(values)
        store.begin(self.local, self.files, len(self.versions))
        for _ in range(chance.choice([1, 1, 2])):  # parts of the batch
            backend = KeyedStateBackend("op", store, GROUPS, page_bytes=100)
            for key in chance.sample(range(200), chance.choice([1, 20, 100])):
                entry = backend.select(f"i{key}")
                if chance.random() < 0.2:
                    entry.clear()
                    values.pop(key, None)
                else:
                    entry["value"] = values[key] = chance.randrange(4)
            backend.flush()
        store.flush()
        self.versions.append((store.entries, values))
        self.oldest = max(self.oldest, len(self.versions) - 1 - self.depth)

    def roll_back(self, version: int) -> None:
        del self.versions[version + 1 :]
        self.start()

    def values(self, version: int, local: LocalRuns) -> dict[int, int]:
        """The value of each key in a version, read as a job or a savepoint reads it."""
        store = Store(dict(self.versions[version][0]))
        store.begin(local, self.files)
        found = stored_entries("op", dict(stored(store)))
        return {int(key[1:]): entry["value"] for key, entry in found.items() if "value" in entry}

    def check(self) -> None:
        """Require that each version can be read that a job can be rolled back to, on any machine."""
        elsewhere = LocalRuns(str(self.root / "elsewhere"))
        for version in range(self.oldest, len(self.versions)):
            assert self.values(version, elsewhere) == self.versions[version][1]
        if self.versions:
            assert self.values(-1, self.local) == self.versions[-1][1]
        shutil.rmtree(self.root / "elsewhere", ignore_errors=True)

    def names(self, first: int = 0) -> set[str]:
        """The files that versions name, as content or to be deleted."""
        found: set[str] = set()
        for entries, _ in self.versions[first:]:
            noted = [blob for (_, kind, number), blob in entries.items() if kind == map_store.FILES_KIND and number]
            found |= _named(entries).union(*map(pickle.loads, noted))
        return found

    def there(self) -> set[str]:
        return set(os.listdir(self.files.directory)) if os.path.isdir(self.files.directory) else set()

    def size(self, names: set[str]) -> int:
        """How many bytes files have."""
        return sum(os.path.getsize(self.files.path(name)) for name in names)


def _named(entries: Entries) -> set[str]:
    """The files that the entries of a store name as content."""
    return {name_in(blob) for blob in entries.values() if is_reference(blob)}


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes runs of any size files."""
    monkeypatch.setattr(map_store, "LARGE_RUN", 1)
    monkeypatch.setattr(local_runs, "_SMALL", 1)
    monkeypatch.setattr(run_files, "_LATE", 0)
    monkeypatch.setattr(run_files, "_ROLLED_BACK", ROLLED_BACK)


@pytest.fixture
def kill(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Lets the process end at the n-th operation on files from now on, before or after it."""
    left: list[int | None] = [None]

    def counted(call: Any) -> Any:
        def operation(*args: Any, **options: Any) -> Any:
            if left[0] is not None:
                left[0] -= 1
                if left[0] == 0:
                    raise Killed
            done = call(*args, **options)
            if left[0] is not None:
                left[0] -= 1
                if left[0] == 0:
                    raise Killed
            return done

        return operation

    for name in ("makedirs", "replace", "link"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr(run_files, "open", counted(open), raising=False)

    def at(number: int | None) -> None:
        left[0] = number

    return at


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("limit", [NO_LIMIT, 20_000, 0])
@pytest.mark.parametrize("seed", range(4))
def test_every_version_that_is_retained_can_be_read(
    seed: int, limit: int, kill: Callable[[int | None], None], tmp_path: Path
) -> None:
    chance, checkpoint, kills = random.Random(f"{seed} {limit}"), Checkpoint(tmp_path, limit), 0
    for _ in range(25):
        what = chance.random()
        if what < 0.15 and len(checkpoint.versions) > 1:
            checkpoint.roll_back(chance.randrange(checkpoint.oldest, len(checkpoint.versions)))
        elif what < 0.25:
            shutil.rmtree(tmp_path / f"local-{checkpoint.starts}", ignore_errors=True)  # on another machine
            checkpoint.start()
        else:
            kill(chance.randint(1, 60) if what < 0.6 else None)
            try:
                checkpoint.batch(chance)
            except Killed:
                kills += 1
                kill(None)
                checkpoint.start()
            kill(None)
        checkpoint.check()
    assert kills and checkpoint.there() <= checkpoint.names()


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("limit", [NO_LIMIT, 0])
def test_a_repeated_batch_that_is_killed_at_any_operation_leaves_what_one_that_is_not_leaves(
    limit: int, kill: Callable[[int | None], None], tmp_path: Path
) -> None:
    checkpoint, number = Checkpoint(tmp_path, limit), 0
    for seed in range(6):
        checkpoint.batch(random.Random(seed))
    while True:
        number += 1
        kill(number)
        try:
            checkpoint.batch(random.Random(6))
        except Killed:
            kill(None)
            checkpoint.start()
            checkpoint.check()
            continue
        kill(None)
        break
    checkpoint.check()
    assert number > 20
    assert checkpoint.there() <= checkpoint.names()


@pytest.mark.usefixtures("all_large")
def test_files_that_no_retained_version_names_are_deleted(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    for seed in range(40):
        checkpoint.batch(random.Random(seed))
        checkpoint.check()
    last = len(checkpoint.versions) - 1
    assert checkpoint.there() <= checkpoint.names(last - RETAINED - 3)


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("limit", [20_000, 0])
def test_superseded_files_take_up_no_more_than_the_limit_and_those_of_the_last_batches(
    limit: int, tmp_path: Path
) -> None:
    checkpoint, ages = Checkpoint(tmp_path, limit), set()
    for seed in range(30):
        checkpoint.batch(random.Random(seed))
        entries = checkpoint.versions[-1][0]
        noted = pickle.loads(entries.get(map_store._SUPERSEDING, pickle.dumps([])))
        superseded = checkpoint.size(checkpoint.there() - _named(entries))
        assert superseded == sum(size for _, size in noted)
        assert superseded <= limit or noted[0][0] >= noted[-1][0] - ROLLED_BACK
        ages |= {noted[-1][0] - batch for batch, _ in noted}
    assert max(ages) > ROLLED_BACK if limit else max(ages) == ROLLED_BACK


@pytest.mark.usefixtures("all_large")
def test_a_copy_of_the_state_needs_no_files(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    for seed in range(6):
        checkpoint.batch(random.Random(seed))
    store = Store(checkpoint.versions[-1][0])
    store.begin(checkpoint.local, checkpoint.files)
    copied = [(kind, number, bytes(blob)) for (_, kind, number), blob in stored(store)]
    assert not any(is_reference(blob) for _, _, blob in copied)
    shutil.rmtree(checkpoint.files.directory)
    restored = Checkpoint(tmp_path / "restored")
    store = Store({})
    store.begin(restored.local, restored.files, 0)
    take_over("op", copied, store)
    restored.versions.append((store.entries, checkpoint.versions[-1][1]))
    restored.check()
    assert restored.names() == restored.there()


# ------------------------------------------------------------------ one file


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(str(tmp_path / "runs"))


@pytest.fixture
def local(tmp_path: Path) -> LocalRuns:
    return LocalRuns(str(tmp_path / "local"))


def put(store: Store, local: LocalRuns, files: RunFiles | None, batch: int) -> tuple[RunInfo, bytes]:
    digest, blob = run_of(1)
    store.begin(local, files, batch)
    store.put_run(KEY, digest, blob)
    return RunInfo(5, digest, 1, len(blob)), blob


def test_only_a_reference_of_a_large_run_is_in_the_store(files: RunFiles, local: LocalRuns) -> None:
    store = Store({})
    put(store, local, files, 3)
    assert len(store.entries[KEY]) < 100
    store.put_run(("op", "page", 6), 6, b"small")
    assert store.entries["op", "page", 6] == b"small"


def test_a_machine_links_to_the_file(files: RunFiles, local: LocalRuns) -> None:
    info, blob = put(Store({}), local, files, 3)
    (name,) = os.listdir(files.directory)
    assert os.stat(files.path(name)).st_nlink == 2
    assert bytes(local.get(info.digest, info.size)) == blob


def test_a_machine_on_another_disk_has_a_copy(
    files: RunFiles, local: LocalRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_disk(*args: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", another_disk)
    info, blob = put(Store({}), local, files, 3)
    assert bytes(local.get(info.digest, info.size)) == blob


def test_content_that_comes_back_is_not_deleted_with_what_was_before(files: RunFiles, local: LocalRuns) -> None:
    store = Store({})
    info, blob = put(store, local, files, 1)
    for batch in range(2, 300):
        store.begin(local, files, batch)
        store.remove_run(KEY, info)
        store.put_run(KEY, info.digest, blob)
        store.remove_run(KEY, info)
        store.put_run(KEY, info.digest, blob)  # in a later part of the batch
        store.flush()
        assert files.read(store.entries[KEY]) == blob
    assert len(os.listdir(files.directory)) == files.retained + run_files._LATE + 2


def test_runs_in_the_store_of_an_earlier_release_are_read_and_removed(files: RunFiles, local: LocalRuns) -> None:
    store = Store({})
    info, blob = put(store, local, None, 1)
    assert store.entries[KEY] == blob
    local.remove(info.digest)
    store.begin(local, files, 2)
    assert [bytes(each) for each in store.get_runs([(KEY, info)])] == [blob]
    store.remove_run(KEY, info)
    store.flush()
    assert store.entries == {}


def test_what_the_store_keeps_of_files_is_no_state(files: RunFiles, local: LocalRuns) -> None:
    store = Store({})
    info, _ = put(store, local, files, 1)
    store.remove_run(KEY, info)
    store.flush()
    assert store.entries and store.stored_keys() == []


def _by_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


DAMAGES = [
    pytest.param(lambda path: path.unlink(), "it is missing", id="missing"),
    pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1]), "it has 1000[0-9]+ of", id="short"),
    pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"), "its content is not", id="wrong"),
    pytest.param(_by_a_link, "symbolic links", id="link"),
]


@pytest.mark.parametrize(("damage", "why"), DAMAGES)
def test_a_damaged_file_is_named(damage: Callable[[Path], Any], why: str, files: RunFiles, tmp_path: Path) -> None:
    store = Store({})
    info, _ = put(store, LocalRuns(str(tmp_path / "local")), files, 3)
    (name,) = os.listdir(files.directory)
    shutil.rmtree(tmp_path / "local")
    damage(Path(files.path(name)))
    store.begin(LocalRuns(str(tmp_path / "local")), files, 4)
    with pytest.raises(DamagedRunError, match=rf"{name}.*{why}"):
        store.get_runs([(KEY, info)])


def test_a_full_disk_is_reported(files: RunFiles, local: LocalRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CheckpointStorageFullError, match="no space left in the checkpoint directory"):
        put(Store({}), local, files, 1)
    assert os.listdir(files.directory) == []


def test_only_files_of_batches_that_were_not_committed_are_deleted_at_a_start(files: RunFiles) -> None:
    digest, blob = run_of(1)
    for batch in (1, 2, 10):
        files.write(batch, KEY, digest, blob)
    files.delete_after(2)
    assert sorted(name.partition("-")[0] for name in os.listdir(files.directory)) == ["1", "2"]
