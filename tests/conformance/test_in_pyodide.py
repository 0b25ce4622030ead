"""Programs recorded from real Flink print the same in Pyodide, which has no threads, no sockets and 32 bits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from support.conformance import CONFORMANCE
from support.docs.pyodide import InPyodide, collected, run_in_pyodide
from support.match_programs import PROGRAMS as MATCH_RECOGNIZE
from support.match_programs import check
from support.modules import load_module

pytestmark = pytest.mark.conformance

PROGRAMS = sorted((CONFORMANCE / "public").glob("*/*.py")) if os.environ.get("SCURRY_CONFORMANCE") else []
#: Programs that cannot print the same there, with the reason.
OTHERS = {
    "broadcast_nonkeyed_rules": "its main stream sleeps until the rules are there, and sources are read one by one",
}


def recordings() -> Any:
    """Return the module beside the recordings that compares outputs."""
    return load_module(CONFORMANCE / "runner.py", "conformance_runner")


@pytest.mark.skipif(not PROGRAMS, reason="the recordings are not at hand")
def test_programs_print_in_pyodide_what_flink_prints(tmp_path: Path) -> None:
    """In one process, as a reader may run one after the other."""
    compared = recordings()
    programs = []
    for program in PROGRAMS:
        only = compared.directives(str(program))["parallelism"]
        programs += [InPyodide(program, each) for each in (1, 2) if only in (None, each)]
    matching = [InPyodide(program) for program in MATCH_RECOGNIZE]
    assert len(programs) + len(matching) >= 200
    answers = run_in_pyodide(collected(tmp_path), [*programs, *matching], CONFORMANCE)
    wrong = {}
    for each, answer in zip(programs, answers, strict=False):
        expected = each.program.with_suffix(".expected").read_text(encoding="utf-8")
        same = compared.same(expected, answer["out"], compared.directives(str(each.program)))
        if (answer["status"] != 0 or not same) and each.program.stem not in OTHERS:
            wrong[f"{each.program.stem} at {each.parallelism}"] = answer["errors"][-500:] or answer["out"]
    for each, answer in zip(matching, answers[len(programs) :], strict=True):
        try:
            check(each.program, answer["out"])
        except AssertionError:
            wrong[each.program.stem] = answer["errors"][-500:] or answer["out"]
    assert wrong == {}
