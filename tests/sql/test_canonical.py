"""Statements of every form have the canonical text of Flink 2.3's parser, or its error (`record_canonical.py`)."""

from __future__ import annotations

import re

import pytest

from scurry.errors import SqlParserError
from scurry.sql.syntax import parse, unparse
from sql.record_canonical import CANONICAL

RECORDED = {
    statement: expected.rstrip("\n")
    for path in sorted(CANONICAL.glob("*.txt"))
    for statement, _, expected in (part.partition("\n") for part in re.split(r"^> ", path.read_text(), flags=re.M)[1:])
}
ACCEPTED = [statement for statement, expected in RECORDED.items() if not expected.startswith("!")]
REFUSED = [statement for statement, expected in RECORDED.items() if expected.startswith("!")]


@pytest.mark.parametrize("statement", ACCEPTED)
def test_the_canonical_text_is_that_of_flink(statement: str) -> None:
    assert unparse(parse(statement)) == RECORDED[statement]


@pytest.mark.parametrize("statement", REFUSED)
def test_a_wrong_statement_has_the_error_of_flink(statement: str) -> None:
    with pytest.raises(SqlParserError) as raised:
        parse(statement)
    assert f"! {raised.value}".splitlines()[0] == RECORDED[statement]
