"""Programs with MATCH_RECOGNIZE print what they do with real Flink. Skipped where the recordings are not at hand.

They run in this process; `SCURRY_RUNNER=spark` runs them on Spark. Flink prints a refusal with the name of a Java
class in front of its words, which alone count here.
"""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.table import TableEnvironment
from support.conformance import CONFORMANCE

PROGRAMS = sorted((CONFORMANCE / "cep" / "match_recognize" / "public").glob("*.py"))
RUNNER = os.environ.get("SCURRY_RUNNER", "local")

JAVA_CLASS = re.compile(r"^rejected: (?:[\w$]+\.)+\w+: ")


#: Programs whose job fails: they print the first line of the error, whose cause is further down.
FAILING = {"skip_to_first_row_fails"}


@pytest.mark.skipif(not PROGRAMS, reason="the recordings are not at hand")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
@pytest.mark.parametrize("parallelism", ["1", "2"])
def test_program_prints_what_flink_prints(
    program: Path, parallelism: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create = TableEnvironment.create

    def on_runner(settings: Any) -> TableEnvironment:
        env = create(settings)
        env.get_config().set("scurry.runner", RUNNER).set("parallelism.default", parallelism)
        return env

    monkeypatch.setattr(TableEnvironment, "create", staticmethod(on_runner))
    runpy.run_path(str(program), run_name="__main__")
    printed, expected = capsys.readouterr().out, program.with_suffix(".expected").read_text()
    if program.stem in FAILING:
        assert printed.startswith("rejected: Job ")
    elif expected.startswith("rejected: "):
        words = JAVA_CLASS.sub("", expected).strip()
        assert words in printed
    else:
        assert sorted(printed.splitlines()) == sorted(expected.splitlines())
