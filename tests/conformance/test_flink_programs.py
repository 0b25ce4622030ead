"""Programs recorded from real Flink print the same here. Skipped where the recordings are not at hand.

They run in this process, as `scurry run` does in its own; a process for each costs minutes. Some are started by
`scurry run`, all of them nightly.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from support.cases import sample
from support.modules import load_module

RECORDINGS = Path(os.environ.get("SCURRY_CONFORMANCE", "")).resolve()
PROGRAMS = sorted((RECORDINGS / "public").glob("*/*.py")) if os.environ.get("SCURRY_CONFORMANCE") else []
# `SCURRY_RUNNER=spark` compares on Spark: minutes instead of seconds.
RUNNER = os.environ.get("SCURRY_RUNNER", "local")

pytestmark = pytest.mark.conformance


def name_of(program: Path) -> str:
    return f"{program.parent.name}/{program.stem}"


@pytest.fixture(scope="module")
def recordings() -> ModuleType:
    """The module beside the recordings that compares outputs."""
    return load_module(RECORDINGS / "runner.py", "conformance_runner")


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_program_prints_what_flink_prints(
    program: Path,
    parallelism: int,
    recordings: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    directives = recordings.directives(str(program))
    if directives["parallelism"] not in (None, parallelism):
        pytest.skip(f"is recorded at parallelism {directives['parallelism']}")
    monkeypatch.setenv("CONFORMANCE_PARALLELISM", str(parallelism))
    monkeypatch.chdir(tmp_path)
    status = run_program(program, [], LaunchOptions(runner=RUNNER, parallelism=parallelism), debug=False)
    printed, errors = capfd.readouterr()
    assert status == 0, errors
    expected = program.with_suffix(".expected").read_text(encoding="utf-8")
    if not recordings.same(expected, printed, directives):
        assert recordings.norm_lines(printed) == recordings.norm_lines(expected)


@pytest.mark.parametrize("program", sample(PROGRAMS, 15), ids=name_of)
def test_the_command_line_prints_it(program: Path) -> None:
    scurry = f"{sys.executable} -m scurry run --runner {RUNNER} --parallelism {{parallelism}} {{file}}"
    options = ["--only", name_of(program), "--parallelism", "1,2", "-v", "--cmd", scurry]
    command = [sys.executable, "compare.py", "public", *options]
    compared = subprocess.run(command, cwd=RECORDINGS, capture_output=True, text=True, timeout=600)
    assert compared.returncode == 0, compared.stdout + compared.stderr
