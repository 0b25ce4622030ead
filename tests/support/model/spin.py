"""Spin: compile a model of `models/`, and explore it within bounds."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support import TESTS
from support.servers.debian import Unavailable, program

MODELS = TESTS.parent / "models"
#: Deeper runs, and more megabytes, are no answer. Ends of runs are looked at by the models (`-E`).
_DEPTH, _MEGABYTES = 200_000, 4000


@dataclass(frozen=True)
class Answer:
    """What Spin has found.

    Attributes:
        refuted: The assertion that does not hold in some run; None if all hold.
        states: How many states there are, or were seen until then.
        depth: Steps of the longest run.
    """

    refuted: str | None
    states: int
    depth: int


@dataclass(frozen=True)
class Verifier:
    """A compiled model."""

    name: str
    path: Path

    @classmethod
    def of(cls, name: str, directory: Path, *defined: str) -> Verifier:
        """Compile a model.

        Args:
            name: That of its file, without `.pml`.
            directory: Where the verifier is made.
            defined: What the model's preprocessor is told.

        Raises:
            Unavailable: Spin or a compiler is not installed, and cannot be.
        """
        spin, compiler = program("spin", "spin"), program("gcc", "gcc")
        if not Path("/usr/include/stdlib.h").exists():
            program("c89", "libc6-dev")  # a compiler alone has no headers
        directory.mkdir(parents=True, exist_ok=True)
        options = [f"-D{each}" for each in defined]
        _run([spin, "-a", *options, MODELS / f"{name}.pml"], directory)
        own = ["-DSAFETY", "-DCOLLAPSE", f"-DMEMLIM={_MEGABYTES}", "-DVECTORSZ=16384", f"-I{Path(__file__).parent}"]
        _run([compiler, "-O1", "-w", *own, "-o", "pan", "pan.c"], directory)
        return cls(name, directory / "pan")

    def explore(self, bounds: Mapping[str, object], directory: Path, table: int = 24) -> Answer:
        """Explore all runs within bounds, until one is refuted.

        Args:
            bounds: The bytes that `models/common.pml` reads from the environment.
            directory: Where the counterexample is written.
            table: The places of the table of states, as a power of two: a large one takes longer than a few states.
        """
        directory.mkdir(parents=True, exist_ok=True)
        settings = {name: str(value) for name, value in bounds.items()}
        run = subprocess.run(
            [self.path, f"-m{_DEPTH}", f"-w{table}", "-n", "-E"],
            cwd=directory,
            env=os.environ | settings,
            capture_output=True,
            text=True,
        )
        found = re.search(r"depth reached (\d+), errors: (\d+)\n\s*(\d+) states, stored", run.stdout)
        assert found and "max search depth too small" not in run.stdout, run.stdout + run.stderr
        assert found[2] != "0" or "Search not completed" not in run.stdout, run.stdout
        assertion = re.search(r"pan:\d+: (.*) \(at depth", run.stdout)
        assert bool(assertion) == (found[2] != "0"), run.stdout
        return Answer(assertion and assertion[1], int(found[3]), int(found[1]))


def _run(command: list[str | Path], directory: Path) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if done.returncode or "rror" in done.stdout:
        raise AssertionError(f"{command[0]}: {done.stdout}{done.stderr}")


def mutants(name: str) -> dict[str, int]:
    """Return the numbers of a model's mutants: its definitions of small numbers, before the model begins."""
    text = (MODELS / f"{name}.pml").read_text().partition("#include")[0]
    return {found[1]: int(found[2]) for found in re.finditer(r"^#define ([A-Z_]+) (\d+)$", text, re.MULTILINE)}


__all__ = ["MODELS", "Answer", "Unavailable", "Verifier", "mutants"]
