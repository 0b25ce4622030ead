from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import scurry

PROGRAM = Path(__file__).parents[2] / "examples" / "shapes.py"
SHAPES = runpy.run_path(str(PROGRAM))


class Pair(NamedTuple):
    color: str
    first: str
    second: str
    rule: str


def shapes(*options: str, rate: int) -> list[str]:
    command = [sys.executable, "-m", "scurry", "run", "--runner", "local", *options, str(PROGRAM), "--rate", str(rate)]
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def pair_of(line: str) -> tuple[tuple[int, int], Pair]:
    """The numbers of the items of a pair, and what the line says of them."""
    match = re.fullmatch(r"(\w+): (\w+) (\d+), (\w+) (\d+) \((\w+)\)", line)
    assert match is not None, line
    color, first, start, second, end, rule = match.groups()
    return (int(start), int(end)), Pair(color, first, second, rule)


RULES = [
    "rule growing: triangle, then square",
    "rule twins: circle, then circle",
    "rule growing: square, then circle",
    "rule twins: withdrawn",
]


def expected_of_last_rules() -> dict[tuple[int, int], Pair]:
    """Every square with the next circle of its colour."""
    items = [SHAPES["item"](number) for number in range(SHAPES["ITEMS"])]
    return {
        (square.number, circle.number): Pair(square.color, "square", "circle", "growing")
        for square in items
        if square.shape == "square"
        for circle in [c for c in items[square.number :] if (c.shape, c.color) == ("circle", square.color)][:1]
    }


@pytest.mark.parametrize("parallelism", ["1", "2"])
def test_a_batch_job_knows_its_last_rules_from_the_start(parallelism: str) -> None:
    lines = shapes("--mode", "batch", "--parallelism", parallelism, rate=400)
    assert [line for line in lines if line.startswith("rule ")] == RULES
    pairs = dict(pair_of(line) for line in lines if not line.startswith("rule "))
    assert pairs == expected_of_last_rules()
    assert len(pairs) > 20


def test_a_stream_follows_the_rules_as_they_change() -> None:
    lines = shapes(rate=40)
    assert [line for line in lines if line.startswith("rule ")] == RULES
    in_force: dict[str, tuple[str, str]] = {}
    used = set()
    for line in lines:
        if line.startswith("rule "):
            name, _, shapes_of_rule = line.removeprefix("rule ").partition(": ")
            first, _, second = shapes_of_rule.partition(", then ")
            in_force[name] = (first, second)
        else:
            (start, end), pair = pair_of(line)
            assert (pair.first, pair.second) == in_force[pair.rule]
            for number, shape in ((start, pair.first), (end, pair.second)):
                assert SHAPES["item"](number) == (number, shape, pair.color)
            used.add((pair.rule, pair.first))
    assert used == {("growing", "triangle"), ("twins", "circle"), ("growing", "square")}
