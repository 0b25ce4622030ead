"""What python.* settings may name; everything else is refused before a job starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scurry.errors import ConfigError, InterpreterError
from scurry.graph.dependencies import JobDependencies
from scurry.graph.dependencies.declared import Declared


def test_files_are_searched_in_the_order_of_the_setting(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "lib").mkdir()
    declared = Declared.of({"python.files": f"{tmp_path / 'lib'}, {tmp_path / 'a.py'}"})
    assert declared.files == (tmp_path / "lib", tmp_path / "a.py")


def test_a_file_may_be_a_url(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    assert Declared.of({"python.files": f"file://{tmp_path / 'a.py'}"}).files == (tmp_path / "a.py",)


def test_an_archive_without_a_target_is_unpacked_under_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "data.zip").touch()
    (archive,) = Declared.of({"python.archives": str(tmp_path / "data.zip")}).archives
    assert archive.target == "data.zip"


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("python.files", "/nowhere/a.py", "python.files: /nowhere/a.py does not exist"),
        ("python.files", "hdfs://host/a.py", "python.files: hdfs://host/a.py is not on this machine"),
        ("python.files", "{}/data.csv", "is nothing to import from"),
        ("python.archives", "{}/data.csv", "is no archive that can be unpacked"),
        ("python.archives", "{}", "is no archive that can be unpacked"),
        ("python.archives", "{}/a.zip#../up", "the target '../up' of {}/a.zip must be the name of a directory"),
        ("python.archives", "{}/a.zip#x,{}/b.zip#x", "{}/a.zip and {}/b.zip have the same target 'x'"),
        ("python.requirements", "/nowhere/requirements.txt", "/nowhere/requirements.txt does not exist"),
        ("python.requirements", "{}/requirements.txt#{}/a.zip", "{}/a.zip is no directory"),
        ("python.requirements", "{}/requirements.txt", "{}/requirements.txt:2: '-r other.txt' is no requirement"),
        ("python.client.executable", "/nowhere/python", "the program runs on " + sys.executable),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, key: str, value: str, complaint: str) -> None:
    for name in ("data.csv", "a.zip", "b.zip"):
        (tmp_path / name).touch()
    (tmp_path / "requirements.txt").write_text("# comment\n-r other.txt\n")
    with pytest.raises(ConfigError) as caught:
        JobDependencies({key: value.replace("{}", str(tmp_path))})
    assert complaint.replace("{}", str(tmp_path)) in str(caught.value)


def test_a_local_worker_may_not_run_on_what_is_no_python(tmp_path: Path) -> None:
    with pytest.raises(InterpreterError, match="is no program on this machine"):
        JobDependencies({"python.executable": str(tmp_path / "python")}).executable_here()


def test_an_archive_that_names_files_outside_of_it_is_refused(tmp_path: Path) -> None:
    import io
    import tarfile

    from scurry.errors import DependencyError
    from scurry.graph.dependencies.archives import unpack

    with tarfile.open(tmp_path / "bad.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../escaped"), io.BytesIO())
    with pytest.raises(DependencyError, match="cannot be unpacked"):
        unpack(tmp_path / "bad.tar", tmp_path / "target")
    assert not (tmp_path / "escaped").exists()
