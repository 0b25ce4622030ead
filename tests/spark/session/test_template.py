"""Python processes of Spark are forks of one template: the same as if they had been started on their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.spark.workers import template
from scurry.spark.workers.interpreter import worker_python
from scurry.spark.workers.template import ADDRESS, end_template, fits, start_template

PROGRAM = """
import json, os, sys
print(json.dumps({
    "pandas": "pandas" in sys.modules, "arguments": sys.argv[1:], "directory": os.getcwd(), "first": sys.path[0],
    "secret": os.environ.get("SPARK_SECRET"), "hash": hash("a"), "name": __name__, "parent": os.getppid(),
}))
sys.exit(int(sys.stdin.read()))
"""


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """What Spark's JVM passes to its Python processes."""
    end_template()  # that of other tests
    start_template()
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    yield {**kept, "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"), "OMP_NUM_THREADS": "1"}
    end_template()


def run(directory: Path, environment: dict[str, str]) -> tuple[dict[str, object], int]:
    """Run the program with Spark's way to start Python; return what it says, and its status."""
    import json

    (directory / "program.py").write_text(PROGRAM)
    command = [worker_python(), "-m", "program", "an argument"]
    done = subprocess.run(
        command, input="7", capture_output=True, text=True, cwd=directory, env=environment, timeout=60
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done.returncode


def test_a_fork_has_the_callers_files_arguments_environment_directory_and_status(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    said, status = run(tmp_path, {**environment, "SPARK_SECRET": "x"})
    assert said.pop("parent") == template._started[0].process.pid
    assert said.pop("pandas") is True
    own = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"], capture_output=True, text=True, check=True, env=environment
    )
    assert said == {
        "arguments": ["an argument"],
        "directory": str(tmp_path),
        "first": str(tmp_path),
        "secret": "x",
        "hash": int(own.stdout),
        "name": "__main__",
    }
    assert status == 7


@pytest.mark.parametrize(
    "other", [{"PYTHONHASHSEED": "1"}, {"LD_PRELOAD": ""}, {"ANYTHING": "else"}, {ADDRESS: "/nowhere"}]
)
def test_where_a_fork_would_differ_python_starts_as_usual(
    tmp_path: Path, environment: dict[str, str], other: dict[str, str]
) -> None:
    said, status = run(tmp_path, {**environment, **other})
    assert said["parent"] != template._started[0].process.pid
    assert (said["pandas"], said["arguments"], status) == (False, ["an argument"], 7)


def test_a_template_that_has_ended_does_not_matter(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "stale").touch()
    said, status = run(tmp_path, {**environment, ADDRESS: str(tmp_path / "stale")})
    assert (said["pandas"], status) == (False, 7)


def test_a_template_starts_again_when_the_environment_of_processes_has_changed(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # which differs from that of the fixture
    start_template()
    first = template._started[0].process
    start_template()
    assert template._started[0].process is first
    with monkeypatch.context() as changed:
        changed.setenv("OF_THE_PROGRAM", "x")
        start_template()
        assert first.poll() is not None
        assert template._started[0].environment["OF_THE_PROGRAM"] == "x"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"HOME": "/"}, True),
        ({"HOME": "/", "SPARK_HOME": "/spark", "PYTHON_WORKER_FACTORY_SECRET": "x", "PYTHONUNBUFFERED": "YES"}, True),
        ({"HOME": "/root"}, False),
        ({}, False),
        ({"HOME": "/", "PYTHONDEVMODE": "1"}, False),
        (
            {
                "HOME": "/",
                "PYTHONPATH": "/spark/pyspark.zip:/spark/py4j-0.10-src.zip:/spark/jars/spark-core_2.13-4.3.0.jar:",
            },
            True,
        ),
        ({"HOME": "/", "PYTHONPATH": "/spark/pyspark.zip:/mine"}, False),
    ],
)
def test_what_processes_read_when_they_start_must_be_the_same(other: dict[str, str], same: bool) -> None:
    assert fits({"HOME": "/"}, other) is same
