"""Each scenario and each recipe prints what its docstring says, in this process."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.launch import LaunchOptions

PROJECT = Path(__file__).parents[2]
SCENARIOS = PROJECT / "examples" / "scenarios"
RECIPES = PROJECT / "examples" / "recipes"
LADDER = SCENARIOS / "latency_ladder.py"


def run(scenario: Path, *arguments: str) -> int:
    return run_program(scenario, arguments, LaunchOptions(runner="local", parallelism=1), debug=False)


@pytest.mark.parametrize(
    "scenario", sorted({*SCENARIOS.glob("*.py"), *RECIPES.glob("*.py")} - {LADDER}), ids=lambda path: path.stem
)
def test_a_program_prints_what_it_says(scenario: Path, capfd: pytest.CaptureFixture[str]) -> None:
    described = ast.get_docstring(ast.parse(scenario.read_text(encoding="utf-8"))) or ""
    _, _, expected = described.partition("Prints:\n\n")
    status = run(scenario)
    printed = capfd.readouterr()
    assert status == 0, printed.err
    assert printed.out == textwrap.dedent(expected) + "\n"


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
