"""Each scenario and each recipe prints what its docstring says: in this process, or on Spark if it needs that."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions

PROJECT = Path(__file__).parents[2]
SCENARIOS = PROJECT / "examples" / "scenarios"
RECIPES = PROJECT / "examples" / "recipes"
LADDER = SCENARIOS / "latency_ladder.py"
WITH_SPARK = RECIPES / "spark_ml.py"
SHARED = SCENARIOS / "live_files.py"


def run(scenario: Path, *arguments: str) -> int:
    return run_program(scenario, arguments, LaunchOptions(runner="local", parallelism=1), debug=False)


def expected_of(program: Path) -> str:
    """Return what a program prints, as its docstring says."""
    described = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    return textwrap.dedent(described.partition("Prints:\n\n")[2]) + "\n"


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.in_turn] * (path.stem == "page_rank"))
        for path in sorted({*SCENARIOS.glob("*.py"), *RECIPES.glob("*.py")} - {LADDER, WITH_SPARK, SHARED})
    ],
)
def test_a_program_prints_what_it_says(scenario: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = run(scenario)
    printed = capfd.readouterr()
    assert status == 0, printed.err
    assert printed.out == expected_of(scenario)


@pytest.mark.spark
@pytest.mark.in_turn
def test_a_model_of_spark_is_trained_and_served() -> None:
    command = [sys.executable, "-m", "scurry", "run", "--parallelism", "1", str(WITH_SPARK)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == expected_of(WITH_SPARK)


@pytest.mark.parametrize("folder", [SCENARIOS, RECIPES], ids=lambda folder: folder.name)
def test_the_page_names_each_program_of_its_folder(folder: Path) -> None:
    page = (PROJECT / "docs" / f"{folder.name}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+\.py)`", page))
    assert named == {program.name for program in folder.glob("*.py")}


def test_the_ladder_prints_a_line_per_rate_with_all_its_records(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(LADDER, "--rates", "50", "100", "--seconds", "0.5") == 0
    printed = capfd.readouterr().out
    measured = re.findall(r"^ *(\d+)/s  (\d+) records  median \d+ ms  99 % \d+ ms$", printed, re.MULTILINE)
    assert measured == [("50", "25"), ("100", "50")]
