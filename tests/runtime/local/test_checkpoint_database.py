"""The database of an in-process job's checkpoints: whatever happens to the process, it is one checkpoint whole."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.errors import CheckpointCorruptedError, CheckpointError, CheckpointStorageFullError
from scurry.runtime.local.database import CheckpointDatabase, Stores
from scurry.runtime.state.store import UndoStore

#: what a checkpoint is: job, batch, positions, state, output
Checkpoint = tuple[bytes, int, bytes, dict[Any, bytes], dict[str, list[tuple[int, bytes]]]]


class Job:
    """A job whose state changes by chance; the same seed makes the same batches."""

    def __init__(self, seed: object) -> None:
        self.chance = random.Random(str(seed))
        self.stores: Stores = {(level, subtask): UndoStore() for level in (1, 2) for subtask in (0, 1)}

    def save_next(self, database: CheckpointDatabase) -> None:
        chance, batch = self.chance, database.batch + 1
        for store in self.stores.values():
            for _ in range(chance.randrange(4)):
                key = (f"operator-{chance.randrange(2)}", chance.choice(["page", "meta"]), chance.randrange(6))
                if chance.random() < 0.3:
                    store.remove(key)
                else:
                    store.put(key, chance.randbytes(chance.choice([0, 10, 9000])))
        output = [("sink", n, chance.randbytes(50)) for n in range(chance.randrange(3))]
        database.save(b"job", batch, b"positions %d" % batch, self.stores, output)
        for store in self.stores.values():
            store.keep()


def content(database: CheckpointDatabase) -> Checkpoint:
    state = {(*place, *key): blob for place, store in database.load().items() for key, blob in store.items()}
    return database.job, database.batch, database.positions, state, database.output()


def opened(path: Path) -> Checkpoint:
    database = CheckpointDatabase(path)
    try:
        return content(database)
    finally:
        database.close()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[CheckpointDatabase]:
    database = CheckpointDatabase(tmp_path / "checkpoint.db")
    database.replace(b"job")
    yield database
    database.close()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(), batches=st.integers(0, 8))
def test_the_last_of_many_checkpoints_is_read_back(
    seed: int, batches: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("checkpoints") / "checkpoint.db"
    database, job = CheckpointDatabase(path), Job(seed)
    database.replace(b"job")
    for _ in range(batches):
        job.save_next(database)
    model = {(*place, *key): blob for place, store in job.stores.items() for key, blob in store.items()}
    there = content(database)
    database.close()
    assert opened(path) == there
    assert there[1] == batches - 1 and there[3] == model


def test_a_crash_at_any_statement_leaves_the_checkpoint_before(database: CheckpointDatabase, tmp_path: Path) -> None:
    job = Job("statements")
    for _ in range(5):
        job.save_next(database)
    before, images = content(database), list[Path]()

    def copy_files(statement: str) -> None:
        images.append(tmp_path / f"image-{len(images)}")
        images[-1].mkdir()
        for file in tmp_path.glob("checkpoint.db*"):
            shutil.copy(file, images[-1])

    database._connection.execute("PRAGMA cache_size = 2")  # pages are written long before the end
    database._connection.set_trace_callback(copy_files)
    job.save_next(database)
    database._connection.set_trace_callback(None)
    assert len(images) > 5
    assert all(opened(image / "checkpoint.db") == before for image in images)


KILLED = """
import sys
from pathlib import Path
from test_checkpoint_database import CheckpointDatabase, Job
database, job = CheckpointDatabase(Path(sys.argv[1])), Job(sys.argv[2])
database.replace(b"job")
while True:
    job.save_next(database)
    print(database.batch, flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_process_leaves_a_checkpoint_no_older_than_the_last_one_it_has_seen_saved(
    seed: int, tmp_path: Path
) -> None:
    path, chance = tmp_path / "checkpoint.db", random.Random(seed)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), str(seed)],
        stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": ":".join([str(Path(__file__).parent), *sys.path])},
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(chance.randrange(1, 60)):
        seen = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    seen = max([seen, *map(int, process.stdout.read().split())])
    process.wait()
    process.stdout.close()

    there = opened(path)
    assert there[1] in (seen, seen + 1)
    again, job = CheckpointDatabase(tmp_path / "again.db"), Job(seed)
    again.replace(b"job")
    for _ in range(there[1] + 1):
        job.save_next(again)
    assert there == content(again)
    again.close()


def test_changed_bytes_are_noticed(database: CheckpointDatabase, tmp_path: Path) -> None:
    job, chance = Job("damage"), random.Random(1)
    for _ in range(12):
        job.save_next(database)
    there = content(database)
    database.close()
    whole, noticed = (tmp_path / "checkpoint.db").read_bytes(), 0
    for number in range(150):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path = tmp_path / f"damaged-{number}"
        path.write_bytes(damaged)
        try:
            found = opened(path)
        except CheckpointError:
            noticed += 1
        else:
            assert found == there  # what has changed is not in use
    assert noticed > 50


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9])
def test_a_file_that_is_cut_is_noticed(share: float, database: CheckpointDatabase, tmp_path: Path) -> None:
    job = Job("cut")
    for _ in range(12):
        job.save_next(database)
    database.close()
    whole = (tmp_path / "checkpoint.db").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(len(whole) * share)])
    if share:
        with pytest.raises(CheckpointCorruptedError, match="cut is damaged: "):
            opened(tmp_path / "cut")
    else:  # as a new one; `committed` in the directory tells
        assert opened(tmp_path / "cut")[1] == -1


def test_a_damaged_end_of_the_log_is_an_earlier_checkpoint(database: CheckpointDatabase, tmp_path: Path) -> None:
    job, there = Job("log"), [content(database)]
    for _ in range(6):
        job.save_next(database)
        there.append(content(database))
    log = (tmp_path / "checkpoint.db-wal").read_bytes()
    for share in (0.0, 0.3, 0.6, 0.9):
        image = tmp_path / f"image-{share}"
        image.mkdir()
        shutil.copy(tmp_path / "checkpoint.db", image)
        (image / "checkpoint.db-wal").write_bytes(log[: int(len(log) * share)])
        assert opened(image / "checkpoint.db") in [(b"", -1, b"", {}, {}), *there]


def test_something_else_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.db").write_text("some notes" * 1000)
    with pytest.raises(CheckpointCorruptedError, match="checkpoint.db is damaged: file is not a database"):
        CheckpointDatabase(tmp_path / "checkpoint.db")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "checkpoint.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointCorruptedError, match="it is a link"):
        CheckpointDatabase(tmp_path / "checkpoint.db")


def test_a_full_disk_leaves_the_checkpoint_before(database: CheckpointDatabase) -> None:
    job = Job("full")
    job.save_next(database)
    there = content(database)
    database._connection.execute("PRAGMA max_page_count = 40")
    job.stores[1, 0].put(("operator-0", "page", 1), bytes(1 << 20))
    with pytest.raises(CheckpointStorageFullError, match="Nothing is lost: free some space"):
        job.save_next(database)
    assert content(database) == there
    database._connection.execute("PRAGMA max_page_count = 100000")
    job.save_next(database)
    assert database.batch == 1


def test_a_checkpoint_writes_what_has_changed_however_much_state_there_is(database: CheckpointDatabase) -> None:
    stores: Stores = {(1, 0): UndoStore()}
    for number in range(2000):
        stores[1, 0].put(("operator", "page", number), b"x" * 100)
    database.save(b"job", 0, b"", stores, [])
    stores[1, 0].keep()
    written = database._connection.total_changes
    stores[1, 0].put(("operator", "page", 7), b"y")
    stores[1, 0].put(("operator", "page", 8), b"x" * 100)  # the same
    database.save(b"job", 1, b"", stores, [])
    assert database._connection.total_changes - written <= 1 + 2  # the entry, and the row of the checkpoint


def test_the_file_does_not_grow_with_the_number_of_checkpoints(database: CheckpointDatabase, tmp_path: Path) -> None:
    job = Job("growth")
    for _ in range(20):
        job.save_next(database)
    database._connection.execute("PRAGMA wal_checkpoint")
    size = (tmp_path / "checkpoint.db").stat().st_size
    for _ in range(60):
        job.save_next(database)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["checkpoint.db", "checkpoint.db-wal"]
    database.close()
    assert (tmp_path / "checkpoint.db").stat().st_size < 2 * size
