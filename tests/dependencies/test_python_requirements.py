"""requirements.txt: checked in process, installed for workers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scurry.errors import ConfigError, DependencyError
from scurry.graph.dependencies.requirements import (
    environment,
    read_requirements,
    refuse_loaded,
    require_here,
    unsatisfied,
)
from support.dependencies.projects import make_wheel


def write(directory: Path, text: str) -> Path:
    path = directory / "requirements.txt"
    path.write_text(text)
    return path


def test_comments_options_of_indexes_hashes_and_other_platforms_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path, "--index-url https://host/simple\n# no\nattrs>=1 # why\nsix==1.0 --hash=sha256:ab\n"
                           "pywin32; sys_platform == 'win32'\n")  # fmt: skip
    assert [str(requirement) for requirement in read_requirements(path)] == ["attrs>=1", "six==1.0"]


@pytest.mark.parametrize("line", ["-r more.txt", "-e .", "./local.whl", "git+https://host/x"])
def test_lines_that_name_other_files_are_refused_with_their_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="requirements.txt:2: "):
        read_requirements(write(tmp_path, f"attrs\n{line}\n"))


def test_unsatisfied_requirements_are_told_with_what_there_is() -> None:
    wanted = [Requirement("pytest>=1"), Requirement("no-such-package"), Requirement("pytest<1")]
    missing, old = unsatisfied(wanted)
    assert missing == "no-such-package"
    assert old.startswith("pytest<1 (there is ")


def test_in_process_the_error_says_what_to_install(tmp_path: Path) -> None:
    path = write(tmp_path, "no-such-package==1\n")
    with pytest.raises(DependencyError) as caught:
        require_here(path)
    assert f"lacks no-such-package==1: {sys.executable} -m pip install -r {path}" in str(caught.value)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of packages, and a cache directory of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    directory = tmp_path / "packages"
    directory.mkdir()
    make_wheel(directory, "tiny", "1.0")
    return directory


@pytest.mark.slow
def test_an_environment_is_built_once_for_its_requirements(tmp_path: Path, packages: Path) -> None:
    path = write(tmp_path, "tiny\n")
    installed = environment(path, packages, "digest")
    made = (installed / "tiny.py").stat().st_ctime_ns
    assert environment(path, packages, "digest") == installed
    assert (installed / "tiny.py").stat().st_ctime_ns == made
    assert environment(path, packages, "other digest") != installed


@pytest.mark.slow
def test_packages_that_the_interpreter_has_are_not_installed_again(tmp_path: Path, packages: Path) -> None:
    installed = environment(write(tmp_path, "tiny\npyarrow\n"), packages, "digest")
    assert (installed / "tiny.py").exists()
    assert not (installed / "pyarrow").exists()


@pytest.mark.slow
def test_a_package_that_is_nowhere_is_named(tmp_path: Path, packages: Path) -> None:
    with pytest.raises(DependencyError, match=r"cannot install requirements.txt from packages: .*nowhere"):
        environment(write(tmp_path, "nowhere==3\n"), packages, "digest")
    with pytest.raises(DependencyError, match="nowhere"):  # nothing half-made is taken for an environment
        environment(write(tmp_path, "nowhere==3\n"), packages, "digest")


@pytest.mark.slow
def test_another_version_of_what_a_worker_has_loaded_is_refused(tmp_path: Path, packages: Path) -> None:
    import cloudpickle

    make_wheel(packages, "cloudpickle", "99.0")
    installed = environment(write(tmp_path, "cloudpickle==99.0\n"), packages, "digest")
    with pytest.raises(DependencyError) as caught:
        refuse_loaded(installed)
    loaded = f"workers have loaded cloudpickle {cloudpickle.__version__}"
    assert f"asks for cloudpickle 99.0, but {loaded}" in str(caught.value)
