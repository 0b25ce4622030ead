"""`scurry new connector` makes a project whose tests pass as generated, without being installed."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import scurry
from scurry.cli.commands import app
from scurry.cli.new import write_project


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["new", "connector", *arguments])
    return result.exit_code, result.output


def test_the_tests_of_a_new_project_pass(tmp_path: Path) -> None:
    project = tmp_path / "project"
    status, printed = run("my-queue2", "--directory", str(project))
    assert status == 0 and printed.endswith(f"cd {project} && python -m pytest\n")
    environment = {"PATH": "", "PYTHONPATH": str(Path(scurry.__file__).parents[1])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tests = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert "8 passed" in tests.stdout


def test_the_project_is_formatted_and_its_entry_point_is_the_factory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project("connector", tmp_path, {"name": "my-post", "package": "my_post", "prefix": "MyPost"})
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--isolated", "--line-length", "120", "."]
        checked = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    declared = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    (point,) = declared["project"]["entry-points"]["scurry.table_connectors"].items()
    monkeypatch.syspath_prepend(tmp_path / "src")
    module, _, name = point[1].partition(":")
    assert point[0] == getattr(importlib.import_module(module), name).identifier == "my-post"


@pytest.mark.parametrize("name", ["My-Queue", "9", "a--b", "class", "../up"])
def test_names_that_make_no_package_are_refused(name: str, tmp_path: Path) -> None:
    status, printed = run(name, "--directory", str(tmp_path / "project"))
    assert status == 2 and "lower-case words with dashes" in printed


def test_names_of_connectors_that_there_are_are_refused(tmp_path: Path) -> None:
    status, printed = run("kafka", "--directory", str(tmp_path / "project"))
    assert status == 2 and "choose another name" in printed


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    status, printed = run("queue", "--directory", str(tmp_path))
    assert status == 2 and "exists already" in printed
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
