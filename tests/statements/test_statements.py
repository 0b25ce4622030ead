"""Statements answer as Flink 2.3 does, from which the transcripts were recorded (`record.py`)."""

from __future__ import annotations

import pytest

from support.statements.answers import answers

#: Statements that Flink and scurry answer differently, and why.
KNOWN: dict[str, dict[str, str]] = {}

#: Statements that both refuse, in different words: failures of jobs, and what scurry does not run.
OTHER_WORDS = {"databases": 4, "functions": 4, "options": 4}


@pytest.mark.parametrize("name", ["databases", "datagen", "functions", "options"])
def test_statements_answer_as_in_flink(name: str, tmp_path: object) -> None:
    different = [answer for answer in answers(name, str(tmp_path)) if not answer.is_same]
    known = KNOWN.get(name, {})
    wrong = [answer for answer in different if not answer.both_refuse and answer.statement not in known]
    assert not wrong, "\n\n".join(map(str, wrong))
    assert sum(answer.both_refuse for answer in different) <= OTHER_WORDS.get(name, 0)
