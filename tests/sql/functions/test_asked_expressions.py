"""Expressions beside those of the corpus that real Flink was asked for, with the answers it gave.

`asked.jsonl` has lines as the corpus has them, recorded by its `run.py --flink --record`; messages are cut.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sql.functions.corpus import answer, judge

ASKED = [json.loads(line) for line in (Path(__file__).parent / "asked.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("category", sorted({case["cat"] for case in ASKED}))
def test_expressions_have_the_types_values_and_errors_that_flink_gave(category: str) -> None:
    cases = [case for case in ASKED if case["cat"] == category]
    differences = {case["expr"]: judge(case, answer(case)) for case in cases}
    assert {text: found for text, found in differences.items() if found is not None} == {}
