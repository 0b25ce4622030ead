"""Which modules of a program are sent to the workers of a cluster."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scurry.errors import DependencyError
from scurry.graph.dependencies import program
from scurry.graph.dependencies.program import is_installed, program_directory, program_modules


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a program, which `__main__` is."""
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = str(tmp_path / "prog.py"), None
    monkeypatch.setitem(sys.modules, "__main__", main)
    (tmp_path / "prog.py").touch()
    return tmp_path


def below(directory: Path) -> set[str]:
    return {name for name, path in program_modules([]).items() if path.is_relative_to(directory)}


def test_modules_and_whole_packages_next_to_the_program_are_sent_also_before_they_are_imported(
    directory: Path,
) -> None:
    for name in ("helper.py", "pkg/__init__.py", "pkg/rules.json", "pkg/sub/code.py"):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    assert below(directory) == {"prog.py", "helper.py", "pkg/__init__.py", "pkg/rules.json", "pkg/sub/code.py"}


def test_a_directory_that_cannot_be_listed_is_not_left_out(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pkg/__init__.py", "pkg/sub/code.py"):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    listed = os.scandir

    def refused(path: Any) -> Any:
        if str(path).endswith("/sub"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(DependencyError, match="pkg/sub cannot be listed.*Permission denied"):
        program_modules([])


def test_data_hidden_files_byte_code_and_other_directories_are_not(directory: Path) -> None:
    for name in ("data.csv", ".venv/lib/module.py", "data/part.csv", "__pycache__/prog.pyc", ".secret.py",
                 "pkg/__init__.py", "pkg/__pycache__/x.pyc", "pkg/.git/config"):  # fmt: skip
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    assert below(directory) == {"prog.py", "pkg/__init__.py"}


def test_what_was_imported_from_another_directory_that_is_not_installed_is_sent(
    directory: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("library")
    (other / "a_library_of_ours.py").touch()
    (other / "never_imported.py").touch()
    monkeypatch.syspath_prepend(other)
    importlib.import_module("a_library_of_ours")
    assert below(other) == {"a_library_of_ours.py"}
    del sys.modules["a_library_of_ours"]


def test_installed_packages_and_scurry_are_not_sent(directory: Path) -> None:
    assert not {"scurry", "pytest", "json"} & {name.partition("/")[0].partition(".")[0] for name in program_modules([])}


def test_the_program_of_a_package_is_imported_from_the_parent_of_the_package(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = sys.modules["__main__"]
    main.__file__, main.__spec__ = str(directory / "pkg" / "sub" / "prog.py"), ModuleSpec("pkg.sub.prog", None)
    assert program_directory() == directory


def test_without_a_file_the_program_is_in_the_working_directory(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del sys.modules["__main__"].__file__
    monkeypatch.chdir(directory)
    assert program_directory() == directory


def test_an_installed_script_has_no_directory_of_its_own(directory: Path) -> None:
    sys.modules["__main__"].__file__ = str(Path(sys.prefix) / "bin" / "pytest")
    assert program_directory() is None


def test_site_packages_are_installed_wherever_they_are() -> None:
    assert is_installed(Path("/other/venv/lib/python3.11/site-packages/pandas"))


@pytest.mark.parametrize(("limit", "value"), [("MAX_BYTES", 10 << 20), ("MAX_FILES", 2)])
def test_too_much_is_refused_with_the_limit_and_the_largest(
    directory: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(program, limit, value)
    (directory / "model").mkdir()
    (directory / "model" / "__init__.py").touch()
    (directory / "model" / "weights.bin").write_bytes(bytes(20 << 20))
    with pytest.raises(DependencyError) as caught:
        program_modules([])
    assert "the largest model (20 MiB)" in str(caught.value)
    assert f"at most {program.MAX_BYTES >> 20} MiB in {program.MAX_FILES} files" in str(caught.value)
