"""What a worker does before it loads a job's functions."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.errors import DependencyError
from scurry.graph.dependencies import JobDependencies, WorkerSetup, setup
from scurry.graph.dependencies.archives import pack


@pytest.fixture(autouse=True)
def a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each test change what this process imports from."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(setup, "_active", None)
    directory = os.getcwd()
    yield
    os.chdir(directory)


def no_downloads() -> str:
    raise AssertionError("nothing was sent")


def test_a_bundle_is_unpacked_once_and_searched_first(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text("NAME = 1")
    bundle = pack({"program/module_of_a_bundle.py": tmp_path / "source.py"}, tmp_path)
    worker = WorkerSetup(digest="d", path=("program",), bundle=bundle.name)
    worker.activate(lambda: str(tmp_path))
    assert sys.path[0] == str(tmp_path / bundle.stem / "program")
    setup._active = None
    worker.activate(lambda: str(tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["source.py", bundle.name, bundle.stem])


def test_equal_bundles_are_equal_files(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text("NAME = 1")
    first = pack({"a.py": tmp_path / "source.py"}, tmp_path).read_bytes()
    os.utime(tmp_path / "source.py", (1, 1))
    assert pack({"a.py": tmp_path / "source.py"}, tmp_path).read_bytes() == first


def test_a_process_never_works_for_two_jobs_with_different_files() -> None:
    WorkerSetup(digest="a").activate(no_downloads)
    WorkerSetup().activate(no_downloads)
    with pytest.raises(DependencyError, match="two jobs of one Spark session"):
        WorkerSetup(digest="b").activate(no_downloads)


def test_local_workers_import_from_where_the_program_does(tmp_path: Path) -> None:
    sys.path.insert(0, str(tmp_path))
    assert JobDependencies({}).local_setup.path[0] == str(tmp_path)


def test_the_working_directory_of_local_workers_has_the_archives(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "words.zip", "w") as archive:
        archive.writestr("words.txt", "words")
    dependencies = JobDependencies({"python.archives": f"{tmp_path / 'words.zip'}#data"})
    dependencies.local_setup.activate(no_downloads)
    assert Path("data/words.txt").read_text() == "words"


def test_dependencies_change_with_the_content_of_their_files(tmp_path: Path) -> None:
    def digest() -> str:
        return JobDependencies({"python.files": str(tmp_path / "a.py")}).local_setup.digest

    (tmp_path / "a.py").write_text("1")
    first = digest()
    assert digest() == first != ""
    (tmp_path / "a.py").write_text("2")
    assert digest() != first
