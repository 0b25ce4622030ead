"""Programs that mix functions of users with other parts of tables answer what PyFlink 2.3 answers, as recorded.

`fixtures/flink/function_programs.py` has the programs and says how they were recorded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import scurry.pyflink_alias  # noqa: F401
from support.modules import load_module

FIXTURES = Path(__file__).parent.parent / "fixtures" / "flink"
RECORDED: dict[str, Any] = json.loads((FIXTURES / "function_programs.json").read_text())
ANSWERS = [name for name, answer in RECORDED.items() if isinstance(answer, list)]


PROGRAMS = load_module(FIXTURES / "function_programs.py")


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_that_of_flink(name: str) -> None:
    program, mode = name.split()
    assert PROGRAMS.answer(program, mode, {"scurry.runner": "local"}) == RECORDED[name]


@pytest.mark.parametrize("name", [name for name in RECORDED if name not in ANSWERS])
def test_what_flink_refuses_is_refused(name: str) -> None:
    program, mode = name.split()
    assert RECORDED[name] in PROGRAMS.answer(program, mode, {"scurry.runner": "local"})
