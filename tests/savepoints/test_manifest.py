"""What the manifest says, who writes it, and what is read without one."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.connectors.files.filesystem import LocalFileSystem
from scurry.errors import SavepointFormatError, SavepointNotFoundError, StorageConnectionError
from scurry.runtime.savepoint import manifest, reading
from scurry.runtime.savepoint.entries import EntryWriter, write_entries
from scurry.runtime.savepoint.format import Entry, SavepointMetadata
from scurry.runtime.savepoint.manifest import CheckedInput, digest
from scurry.runtime.savepoint.reading import complete_savepoint, open_savepoint
from scurry.state import OperatorTransformation, SavepointReader, SavepointWriter
from support.buckets import buckets, directory
from support.savepoints.sensor_jobs import Job
from support.savepoints.sensor_program import only_running

METADATA = SavepointMetadata(1, "test", "0" * 32, "test", 128, 7)
V1 = Path(__file__).parents[1] / "fixtures" / "savepoint-v1"


def written(path: Path, blobs: int = 3, size: int = 10) -> Path:
    write_entries(str(path), (Entry("op", "page", 0, (n << 32) + 1, bytes([n]) * size) for n in range(blobs)))
    complete_savepoint(str(path), METADATA)
    return path


# ---------------------------------------------------------------- what it says


def test_it_lists_files_and_counts_state_by_operator_and_key_group(tmp_path: Path) -> None:
    write_entries(
        str(tmp_path / "s"),
        [
            Entry("one", "page", 0, (7 << 32) + 2, b"12"),
            Entry("one", "page", 1, (7 << 32) + 3, b"123"),
            Entry("one", "page", 0, (9 << 32) + 1, b"1"),
            Entry("one", "meta", 0, 0, b"1234"),
            Entry("two", "broadcast", 0, 0, b"12345"),
        ],
    )
    complete_savepoint(str(tmp_path / "s"), METADATA)
    content = json.loads((tmp_path / "s" / "manifest.json").read_text())["content"]
    assert content["operators"] == {
        "one": {"bytes": 10, "entries": {"page": 3, "meta": 1}, "key_groups": {"7": 2, "9": 1}},
        "two": {"bytes": 5, "entries": {"broadcast": 1}, "key_groups": {}},
    }
    files = {f.relative_to(tmp_path / "s").as_posix(): f.stat().st_size for f in (tmp_path / "s").rglob("*.*")}
    del files["manifest.json"]
    assert {name: file["bytes"] for name, file in content["files"].items()} == files


def test_all_that_the_manifest_names_is_on_the_disk_before_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, forced, before = tmp_path / "s", set[str](), set[str]()
    fsync, rename = os.fsync, LocalFileSystem.rename

    def forcing(descriptor: int) -> None:
        forced.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    def renaming(self: LocalFileSystem, source: str, target: str) -> None:
        if target.endswith("manifest.json"):
            before.update(forced)
            forced.clear()
        rename(self, source, target)

    monkeypatch.setattr(os, "fsync", forcing)
    monkeypatch.setattr(LocalFileSystem, "rename", renaming)
    written(path)
    there = {str(each) for each in path.rglob("*") if each.name != "manifest.json"}
    assert there | {str(path), str(path / ".manifest.json.tmp")} <= before
    assert {str(path), str(tmp_path)} == forced


def test_a_large_file_has_a_digest_for_every_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "CHUNK_BYTES", 1000)
    path = written(tmp_path / "s", 200, 50)
    (file,) = open_savepoint(str(path)).files
    assert len(file.digest.sha256) == -(-file.digest.bytes // 1000) > 3
    assert [entry.blob for entry in file.read()] == [bytes([n]) * 50 for n in range(200)]
    (page,) = path.glob("entries/*/*.parquet")
    content = bytearray(page.read_bytes())
    content[2500] ^= 1
    page.write_bytes(content)
    with pytest.raises(SavepointFormatError, match="part-0.parquet: bytes 2,000 to 3,000 are not what was written"):
        open_savepoint(str(path))


@pytest.mark.parametrize("reads", [[3, 5, 100], [-1], [10, 10, 10], [0, 30]])
def test_a_checked_file_reads_as_any_other(reads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "CHUNK_BYTES", 4)
    content = bytes(range(30))
    checked, plain = CheckedInput(io.BytesIO(content), "file", digest(io.BytesIO(content))), io.BytesIO(content)
    for begin, whence in ((0, 0), (7, 0), (-9, 2), (-3, 1)):
        assert checked.seek(begin, whence) == plain.seek(begin, whence)
        assert [checked.read(size) for size in reads] == [plain.read(size) for size in reads]
        assert checked.tell() == plain.tell()


def test_many_damaged_files_are_counted_and_some_named(tmp_path: Path) -> None:
    for number in range(9):
        write_entries(str(tmp_path / "s"), [Entry("op", "page", number, 1, b"x")], f"part-{number}")
    complete_savepoint(str(tmp_path / "s"), METADATA)
    shutil.rmtree(tmp_path / "s" / "entries")
    with pytest.raises(SavepointFormatError, match=r"9 of its 10 files .*part-0.parquet: missing; .*; and 4 more\. No"):
        open_savepoint(str(tmp_path / "s"))


# ---------------------------------------------------------------- who writes it


def test_a_savepoint_that_was_interrupted_is_said_to_be_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*args: Any) -> Any:
        raise Killed

    for step in ("describe", "Manifest"):
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(reading, step, kill)
            written(tmp_path / step)
        with pytest.raises(SavepointNotFoundError, match="never completed.* manifest.json"):
            open_savepoint(str(tmp_path / step))
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(EntryWriter, "close", kill)
        written(tmp_path / "entries")
    (tmp_path / "entries" / "entries").mkdir(parents=True, exist_ok=True)
    with pytest.raises(SavepointNotFoundError, match="never completed.* metadata.json"):
        open_savepoint(str(tmp_path / "entries"))


def test_removing_the_manifest_does_not_make_it_a_savepoint_of_before(tmp_path: Path) -> None:
    path = written(tmp_path / "s")
    (path / "manifest.json").unlink()
    with pytest.raises(SavepointNotFoundError, match="never completed.*or the file was removed"):
        open_savepoint(str(path))


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Any:
        raise OSError("disk on fire")

    monkeypatch.setattr(reading, "Manifest", fail)
    writer = SavepointWriter.new_savepoint().with_operator("op", OperatorTransformation.keyed_state([("a", {"n": 1})]))
    with pytest.raises(OSError, match="disk on fire"):
        writer.write(str(tmp_path / "s"))
    assert not list((tmp_path / "s").rglob("*"))


# ---------------------------------------------------------------- other places, other releases


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[str]:
    with buckets(directory(tmp_path)):
        yield "s3://bucket"


def test_remote_savepoints_are_written_checked_and_read(bucket: str, tmp_path: Path) -> None:
    state = OperatorTransformation.keyed_state([("ann", {"count": 1})])
    path = SavepointWriter.new_savepoint().with_operator("op", state).write(f"{bucket}/s")
    path = SavepointWriter.from_existing_savepoint(path).change_operator_uid("op", "renamed").write(f"{bucket}/t")
    assert dict(SavepointReader.read(path).keyed_state("renamed")) == {"ann": {"count": 1}}
    (page,) = (tmp_path / "bucket" / "t").glob("entries/kind=page/*.parquet")
    page.write_bytes(page.read_bytes()[:-1])
    with pytest.raises(SavepointFormatError, match=r"kept-\d.parquet: .* bytes long instead of"):
        SavepointReader.read(path)
    page.unlink()
    with pytest.raises(SavepointFormatError, match=r"kept-\d.parquet: missing"):
        SavepointReader.read(path)


def test_a_store_that_does_not_answer_is_no_damage(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scurry.connectors.files.filesystem import ArrowFileSystem

    def silent(self: Any, path: str) -> Any:
        raise StorageConnectionError("nobody answers")

    written(tmp_path / "bucket" / "s")
    monkeypatch.setattr(ArrowFileSystem, "open_input", silent)
    with pytest.raises(StorageConnectionError):
        open_savepoint(f"{bucket}/s")


def test_a_job_that_starts_from_a_savepoint_without_a_manifest_warns(local: Job) -> None:
    path = Path(local.stop(local.start(only_running)))
    (path / "manifest.json").unlink()
    metadata = path / "metadata.json"
    metadata.write_text(metadata.read_text().replace('"version": 3', '"version": 1'))
    client: Any = local.start(only_running, savepoint=str(path))
    local.finish(client)
    assert any("have no manifest.json" in note for note in client.execution.log.notes)


def test_a_savepoint_without_a_manifest_is_written_anew_with_one(tmp_path: Path) -> None:
    shutil.copytree(V1, tmp_path / "v1", copy_function=shutil.copyfile)
    for each in (tmp_path / "v1", *(tmp_path / "v1").rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    with pytest.warns(UserWarning, match="no manifest.json.*makes one that can"):
        writer = SavepointWriter.from_existing_savepoint(str(tmp_path / "v1"))
    anew = SavepointReader.read(writer.write(str(tmp_path / "v2"))).metadata
    assert (anew.version, anew.max_parallelism) == (3, 128) and anew.sources


def test_a_damaged_file_of_a_savepoint_without_a_manifest_is_refused(tmp_path: Path) -> None:
    shutil.copytree(V1, tmp_path / "v1", copy_function=shutil.copyfile)
    (page,) = (tmp_path / "v1").glob("entries/kind=page/*.parquet")
    page.write_bytes(page.read_bytes()[:100])
    with pytest.raises(SavepointFormatError, match="kind=page/part-0.parquet is damaged"):
        open_savepoint(str(tmp_path / "v1"), allow_untrusted=True)
