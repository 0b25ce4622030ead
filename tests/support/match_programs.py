"""Recorded programs with MATCH_RECOGNIZE, run with a runner of choice; Flink's words for what it refuses."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment
from support.conformance import CONFORMANCE

PROGRAMS = sorted((CONFORMANCE / "cep" / "match_recognize" / "public").glob("*.py"))

JAVA_CLASS = re.compile(r"^rejected: (?:[\w$]+\.)+\w+: ")

#: Programs whose job fails: they print the first line of the error, whose cause is further down.
FAILING = {"skip_to_first_row_fails"}

#: Programs that do something else in BATCH: other words, and a table that is not updated there.
OF_STREAMING = {"order_by_desc", "skip_to_first_row_fails", "updating_input"}


def run(program: Path, runner: str, parallelism: str, monkeypatch: pytest.MonkeyPatch, batch: bool = False) -> None:
    """Run a program; with `batch`, its statements are executed in BATCH."""
    create = TableEnvironment.create

    def on_runner(settings: Any) -> TableEnvironment:
        env = create(EnvironmentSettings.in_batch_mode() if batch else settings)
        env.get_config().set("scurry.runner", runner).set("parallelism.default", parallelism)
        return env

    monkeypatch.setattr(TableEnvironment, "create", staticmethod(on_runner))
    runpy.run_path(str(program), run_name="__main__")


def check(program: Path, printed: str) -> None:
    """Check what a program has printed: of a refusal, which Flink prints with the name of a Java class, the words."""
    expected = program.with_suffix(".expected").read_text()
    if program.stem in FAILING:
        assert printed.startswith("rejected: Job ")
    elif expected.startswith("rejected: "):
        assert JAVA_CLASS.sub("", expected).strip() in printed
    else:
        assert sorted(printed.splitlines()) == sorted(expected.splitlines())


def check_rows(program: Path, printed: str) -> None:
    """Check the rows that a program has printed in BATCH, where no row has a kind of change."""
    expected = program.with_suffix(".expected").read_text()
    if expected.startswith("rejected: "):
        check(program, printed)
    else:
        assert sorted(_rows(printed)) == sorted(row[1:] for row in _rows(expected))


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
