"""Parameters become literals, and nothing else."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scurry import dbapi
from scurry.dbapi.binding import bound, bound_together
from scurry.sql.syntax.lexer import STRING, tokenize


@pytest.fixture(scope="module")
def session() -> Any:
    with dbapi.connect() as connection:
        yield connection


@pytest.mark.parametrize(
    "value",
    [
        True, 0, -5, 2**62, Decimal("-1.50"), Decimal("7"), 0.1, -1e300, "it's", "a\n? -- b", "'); DROP TABLE t; --",
        "ünï \U0001f600", b"\x00'", datetime.date(1, 1, 1), datetime.time(1, 2, 3),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), datetime.datetime(2020, 7, 2, tzinfo=datetime.UTC),
        datetime.timedelta(days=-1, milliseconds=5),
    ],
)  # fmt: skip
def test_a_parameter_comes_back_as_it_was(session: dbapi.Connection, value: Any) -> None:
    [(found,)] = session.execute("SELECT ?", (value,)).fetchall()
    assert (found, type(found)) == (value, type(value))


@given(st.text())
def test_no_text_gets_out_of_its_literal(value: str) -> None:
    tokens = tokenize(bound("SELECT ?, 1", (value,)))
    assert tokens.keys[:4] == ["SELECT", STRING, ",", "<UNSIGNED_INTEGER_LITERAL>"]


def test_scalars_of_numpy_are_those_of_python() -> None:
    assert bound("? ? ?", (numpy.int64(3), numpy.float64(1.5), numpy.bool_(True))) == "3 1.5e0 TRUE"


@pytest.mark.parametrize("statement", ["SELECT '?'", "SELECT `?` FROM t", "SELECT 1 -- ?", "SELECT /* ? */ 1"])
def test_question_marks_in_texts_names_and_comments_are_no_parameters(statement: str) -> None:
    assert bound(statement, ()) == statement


def test_question_marks_of_patterns_are_no_parameters() -> None:
    statement = "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (a? (b c??)) DEFINE a AS a.x > ?)"
    assert bound(statement, (5,)) == statement[:-2] + "5)"


@pytest.mark.parametrize("parameters", [(), (1,), (1, 2, 3)])
def test_as_many_parameters_as_question_marks(parameters: tuple[int, ...]) -> None:
    with pytest.raises(dbapi.ProgrammingError, match=rf"has 2 '\?', but there are {len(parameters)} parameters"):
        bound("SELECT ?, ?", parameters)


@pytest.mark.parametrize("parameters", [{"a": 1}, "a", 5])
def test_parameters_are_a_sequence(parameters: Any) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="pass a tuple or a list"):
        bound("SELECT ?", parameters)


@pytest.mark.parametrize("value", [object(), [1], {"a": 1}, Decimal("NaN")])
def test_a_value_without_a_literal_is_refused(value: Any) -> None:
    with pytest.raises(dbapi.ProgrammingError, match="parameter 1 is a .*, which has no SQL literal"):
        bound("SELECT ?", (value,))


def test_rows_of_an_insert_are_put_together() -> None:
    assert list(bound_together("INSERT INTO t VALUES (?, UPPER(?), 1);", [(1, "a"), (2, "b")])) == [
        "INSERT INTO t VALUES (1, UPPER('a'), 1), (2, UPPER('b'), 1)"
    ]


@pytest.mark.parametrize("statement", ["INSERT INTO t SELECT ?", "INSERT INTO t VALUES (?), (0)", "USE ?"])
def test_other_statements_are_executed_for_each_row(statement: str) -> None:
    assert list(bound_together(statement, [(1,), (2,)])) == [statement.replace("?", "1"), statement.replace("?", "2")]
