"""`scurry new` makes projects whose tests pass as generated, without being installed."""

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

KINDS = ["connector", "job"]


def run(*arguments: str, kind: str = "connector") -> tuple[int, str]:
    result = CliRunner().invoke(app, ["new", kind, *arguments])
    return result.exit_code, result.output


def python(project: Path, *arguments: str) -> str:
    """Return the output of Python in a project, which is not installed."""
    environment = {"PATH": "", "PYTHONPATH": str(Path(scurry.__file__).parents[1]), "XDG_RUNTIME_DIR": str(project)}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("kind", "tests"), [("connector", 8), ("job", 2)])
def test_the_tests_of_a_new_project_pass(kind: str, tests: int, tmp_path: Path) -> None:
    project = tmp_path / "project"
    status, printed = run("my-queue2", "--directory", str(project), kind=kind)
    assert status == 0 and printed.endswith(f"cd {project} && python -m pytest\n")
    assert f"{tests} passed" in python(project, "pytest", "-q", "-p", "no:cacheprovider")


def test_a_new_job_runs(tmp_path: Path) -> None:
    write_project("job", tmp_path, {"name": "my-orders", "package": "my_orders", "prefix": "MyOrders"})
    printed = python(tmp_path, "scurry", "run", "--runner", "local", "-pyfs", "src", "-pym", "my_orders.job")
    assert sorted(line.partition("> ")[2] for line in printed.splitlines()) == [
        "('ann', 0, 700)", "('ann', 60000, 900)", "('bob', 0, 250)",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_project_is_formatted(kind: str, tmp_path: Path) -> None:
    write_project(kind, tmp_path, {"name": "my-post", "package": "my_post", "prefix": "MyPost"})
    for command in (["check"], ["format", "--check"]):
        python(tmp_path, "ruff", *command, "--isolated", "--line-length", "120", ".")


def test_the_entry_point_is_the_factory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project("connector", tmp_path, {"name": "my-post", "package": "my_post", "prefix": "MyPost"})
    declared = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    (point,) = declared["project"]["entry-points"]["scurry.table_connectors"].items()
    monkeypatch.syspath_prepend(tmp_path / "src")
    module, _, name = point[1].partition(":")
    assert point[0] == getattr(importlib.import_module(module), name).identifier == "my-post"


@pytest.mark.parametrize("name", ["My-Queue", "9", "a--b", "class", "../up"])
def test_names_that_make_no_package_are_refused(name: str, tmp_path: Path) -> None:
    for kind in KINDS:
        status, printed = run(name, "--directory", str(tmp_path / "project"), kind=kind)
        assert status == 2 and "lower-case words with dashes" in printed


def test_names_of_connectors_that_there_are_are_refused(tmp_path: Path) -> None:
    status, printed = run("kafka", "--directory", str(tmp_path / "project"))
    assert status == 2 and "choose another name" in printed


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    status, printed = run("queue", "--directory", str(tmp_path))
    assert status == 2 and "exists already" in printed
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
