"""Programs recorded from real Flink print the same here. Skipped where the recordings are not at hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RECORDINGS = Path(os.environ.get("SCURRY_CONFORMANCE", "")).resolve()
PROGRAMS = sorted((RECORDINGS / "public").glob("*/*.py")) if os.environ.get("SCURRY_CONFORMANCE") else []
# `SCURRY_RUNNER=spark` compares on Spark: minutes instead of seconds.
RUNNER = os.environ.get("SCURRY_RUNNER", "local")


pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: f"{program.parent.name}/{program.stem}")
def test_program_prints_what_flink_prints(program: Path) -> None:
    name = f"{program.parent.name}/{program.stem}"
    scurry = f"{sys.executable} -m scurry run --runner {RUNNER} --parallelism {{parallelism}} {{file}}"
    command = [sys.executable, "compare.py", "public", "--only", name, "--parallelism", "1,2", "-v", "--cmd", scurry]
    compared = subprocess.run(command, cwd=RECORDINGS, capture_output=True, text=True, timeout=600)
    assert compared.returncode == 0, compared.stdout + compared.stderr
