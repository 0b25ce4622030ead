"""A checkpoint directory when a job starts on it: whose it is, and what killed jobs have left in it."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.common._process.directories import cache_directory, socket_directory
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import CheckpointCorruptedError, CheckpointLockedError, JobError
from scurry.runtime.checkpoint.directory import locked
from scurry.runtime.checkpoint.storage import DamagedFileError, LocalStorage
from scurry.spark.checkpoint.generations import VERSION, CheckpointDirectory
from scurry.spark.checkpoint.storage import HadoopStorage
from scurry.spark.session.session import _builder

OTHER_USER = 12345


def files(root: Path) -> set[str]:
    """All files and empty directories below a directory."""
    return {str(p.relative_to(root)) for p in root.rglob("*") if p.is_symlink() or p.is_file() or not any(p.iterdir())}


# ------------------------------------------------------------------ whose it is


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def session_for(plan: object) -> None:
        raise RuntimeError("Spark would start now")

    monkeypatch.setattr("scurry.spark.streaming.runner.session_for", session_for)


def start(directory: Path) -> None:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", str(directory))
    configuration.set_string("restart-strategy.type", "none")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_collection([1]).print()
    env.execute()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "checkpoints"
    made.mkdir(mode=0o755)
    return made


def test_a_directory_others_can_write_to_is_refused_before_anything_is_written(directory: Path) -> None:
    directory.chmod(0o777)
    with pytest.raises(JobError, match=r"SavepointTrustError: checkpoint .*others can write to it"):
        start(directory)
    assert files(directory) == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_directory_of_another_user_is_refused_before_anything_is_written(directory: Path, mode: int) -> None:
    os.chown(directory, OTHER_USER, OTHER_USER)
    directory.chmod(mode)
    with pytest.raises(JobError, match=rf"SavepointTrustError: checkpoint .*belongs to user {OTHER_USER}"):
        start(directory)
    assert files(directory) == set()


def test_a_new_directory_below_one_others_can_write_to_is_refused(directory: Path) -> None:
    directory.chmod(0o777)
    with pytest.raises(JobError, match=r"SavepointTrustError: checkpoint .*others can put another directory in its"):
        start(directory / "new")
    assert files(directory) == set()


def test_a_directory_made_with_a_umask_that_lets_others_write_can_be_used_again(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0)
    try:
        for _ in range(2):
            with pytest.raises(JobError, match="Spark would start now"):
                start(tmp_path / "new")
            (tmp_path / "new" / "generation-1" / "spark").mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(before)


def test_a_directory_others_can_only_write_to_is_refused_before_anything_is_written(directory: Path) -> None:
    directory.chmod(0o722)
    with pytest.raises(JobError, match=r"SavepointTrustError: checkpoint .*others can write to it"):
        start(directory)
    assert files(directory) == set()


# ------------------------------------------------------------------ the lock


def lock(directory: Path) -> None:
    with locked(str(directory), LocalStorage(str(directory)), lambda what: None):
        pass


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_the_lock_follows_no_link(directory: Path, tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    link(victim, directory / ".lock")
    with pytest.raises(CheckpointLockedError, match=r"\.lock .*delete it"):
        lock(directory)
    assert victim.read_text() == "precious"


def test_a_link_to_nothing_is_no_lock(directory: Path, tmp_path: Path) -> None:
    (directory / ".lock").symlink_to(tmp_path / "new")
    with pytest.raises(CheckpointLockedError, match="is a link"):
        lock(directory)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_no_lock(directory: Path, make: Callable[[Path], None]) -> None:
    make(directory / ".lock")
    with pytest.raises(CheckpointLockedError, match="is no file|is a link or a directory"):
        lock(directory)


def test_a_file_of_somebody_elses_is_not_overwritten(directory: Path) -> None:
    (directory / ".lock").write_text("pid of another program")
    with pytest.raises(CheckpointLockedError, match="holds something else"):
        lock(directory)
    assert (directory / ".lock").read_text() == "pid of another program"


@pytest.mark.parametrize("left", ["", '{"host": "h", "pi'])
def test_a_lock_whose_holder_was_killed_while_writing_it_is_free(directory: Path, left: str) -> None:
    (directory / ".lock").write_text(left)
    lock(directory)


# ------------------------------------------------------------------ files of ours


def test_a_link_is_not_read(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "scurry.json").write_text("{}")
    (directory / "scurry.json").symlink_to(tmp_path / "scurry.json")
    with pytest.raises(DamagedFileError, match="is a link"):
        LocalStorage(str(directory)).read("scurry.json")
    with pytest.raises(CheckpointCorruptedError, match="scurry.json"):
        CheckpointDirectory(str(directory), LocalStorage(str(directory)))


def test_a_link_in_the_place_of_a_staged_file_is_not_followed(directory: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (directory / f".scurry.json.{os.getpid()}.tmp").symlink_to(victim)
    LocalStorage(str(directory)).write("scurry.json", b"{}")
    assert victim.read_text() == "precious"
    assert files(directory) == {"scurry.json"} and not (directory / "scurry.json").is_symlink()


def test_deleting_a_link_leaves_what_it_leads_to(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (directory / "generation-1").symlink_to(tmp_path / "precious")
    LocalStorage(str(directory)).delete("generation-1")
    assert files(directory) == set() and (tmp_path / "precious").is_dir()


# ------------------------------------------------------------------ what killed jobs have left

#: What a directory in use holds.
KEPT = {
    ".lock",
    "scurry.json",
    "frames/3/_complete",
    "frames/3/000000.arrow",
    "origin-2/metadata.json",
    "generation-1/spark/commits/0",
    "generation-2/assignments/000000000000",
    "generation-2/spark/metadata",
    "generation-2/spark/.metadata.crc",
    "generation-2/spark/offsets/0",
    "generation-2/spark/offsets/.0.crc",
    "generation-2/spark/state/0/0/1.changelog",
    "generation-2/spark/state/0/0/.1.changelog.crc",
    "generation-2/spark/state/0/0/SSTs/000008-dbfced64-0ad8-4c73-a3ca-999b397b2cf3.sst",
    "generation-2/spark/state/0/_stateSchema/default/0_4b3ff0b1-0fa9-46b2-b95b-cfc4edba4d5c",
}

UUID = "da85abc8-6aa6-4db2-98aa-c3ba2d422753"
#: What is there when a job is killed while it writes something; recorded from jobs (support/faults/crash_images.py).
LEFT = [
    ".scurry.json.1234",
    ".scurry.json.1234.tmp",
    "generation-2/.finished.1234.tmp",
    "generation-2/assignments/.000000000012.1234",
    "generation-2/assignments/.replays.1234.tmp",
    "generation-2/.savepoint-abc/state/0/0/1.changelog",
    "generation-2/runs/.7-4757e22c0c2a028f5.1234.tmp",
    f"generation-2/spark/.metadata.{UUID}.tmp",
    f"generation-2/spark/offsets/.0.{UUID}.tmp",
    f"generation-2/spark/offsets/..0.{UUID}.tmp.crc",
    f"generation-2/spark/commits/.0.{UUID}.tmp",
    f"generation-2/spark/state/0/_metadata/v2/.0.{UUID}.tmp",
    f"generation-2/spark/state/0/_stateSchema/default/..0_{UUID}.{UUID}.tmp.crc",
    f"generation-2/spark/state/0/0/.1.changelog.{UUID}.TID39.tmp",
    f"generation-2/spark/state/0/0/..1.zip.{UUID}.TID39.tmp.crc",
    "generation-3/assignments/000000000000",
    "origin-3/entries/kind=page/part-0.parquet",
]


def fill(directory: Path, names: set[str] | list[str]) -> None:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("")


def in_use(directory: Path) -> CheckpointDirectory:
    fill(directory, KEPT)
    content = f'{{"version": {VERSION}, "generation": 2, "first_batch": 0, "origin": null}}'
    (directory / "scurry.json").write_text(content)
    return CheckpointDirectory(str(directory), LocalStorage(str(directory)))


@pytest.mark.parametrize("left", LEFT)
def test_what_a_killed_job_was_writing_is_deleted(directory: Path, left: str) -> None:
    checkpoints = in_use(directory)
    fill(directory, [left])
    checkpoints.clear_leftovers()
    assert {name for name in files(directory) if (directory / name).is_file()} == KEPT


def test_a_directory_of_layout_3_has_layout_4_from_the_start_on(directory: Path) -> None:
    (directory / "scurry.json").write_text('{"version": 3, "generation": 2, "first_batch": 7, "origin": null}')
    CheckpointDirectory(str(directory), LocalStorage(str(directory))).clear_leftovers()
    found = CheckpointDirectory(str(directory), LocalStorage(str(directory))).content
    assert found == {"version": 4, "generation": 2, "first_batch": 7, "origin": None}


@pytest.mark.spark
def test_what_a_killed_job_was_writing_is_deleted_on_any_file_system(spark: Any, directory: Path) -> None:
    in_use(directory)
    fill(
        directory,
        [f"generation-2/{place}.0.{UUID}.tmp" for place in ("", "spark/", "spark/offsets/", "spark/commits/")],
    )
    HadoopStorage(spark, f"file:{directory}/generation-2").sweep()
    assert {name for name in files(directory) if (directory / name).is_file()} == KEPT


def test_a_directory_in_use_is_left_alone(directory: Path) -> None:
    in_use(directory).clear_leftovers()
    assert files(directory) == KEPT


def test_rows_of_a_job_that_was_killed_before_it_had_the_directory_are_deleted(directory: Path) -> None:
    fill(directory, ["frames/3/_complete", "mine"])
    CheckpointDirectory(str(directory), LocalStorage(str(directory))).clear_leftovers()
    assert files(directory) == {"mine"}


def test_batches_without_the_file_that_says_whose_they_are_are_not_begun_anew(directory: Path) -> None:
    in_use(directory)
    (directory / "scurry.json").unlink()
    before = files(directory)
    with pytest.raises(CheckpointCorruptedError, match="has committed batches in generation-1, but scurry.json is m"):
        CheckpointDirectory(str(directory), LocalStorage(str(directory))).clear_leftovers()
    assert files(directory) == before


# ------------------------------------------------------------------ directories of scurry's own


def test_a_cache_others_can_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_directory() == tmp_path / "scurry"
    (tmp_path / "scurry").chmod(0o777)
    assert cache_directory() == tmp_path / f"scurry-{os.getuid()}"
    (tmp_path / f"scurry-{os.getuid()}").chmod(0o777)
    with pytest.raises(PermissionError, match="others can write"):
        cache_directory()


def test_sockets_of_workers_are_where_others_cannot_connect_to_them() -> None:
    directory = socket_directory()
    assert directory == socket_directory()
    assert directory.stat().st_mode & 0o777 == 0o700
    options: Any = _builder("test", "local[1]", {}, bounded=True)._options
    assert options["spark.python.unix.domain.socket.dir"] == str(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_cache_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    os.chown(cache_directory(), OTHER_USER, OTHER_USER)
    assert cache_directory() == tmp_path / f"scurry-{os.getuid()}"


def test_a_temporary_directory_that_is_a_link_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / f"scurry-{os.getuid()}").symlink_to(tmp_path / "mine")
    with pytest.raises(PermissionError, match="belongs to another user"):
        cache_directory()


def test_the_sockets_of_workers_have_short_addresses_below_a_long_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 80)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    directory = socket_directory.__wrapped__()
    try:
        assert len(f"{directory}/.{uuid.uuid4()}.sock") < 108
        assert directory.stat().st_mode & 0o777 == 0o700
    finally:
        directory.rmdir()
