"""`?` is a parameter where SQL is code, and nothing but a character in texts, names and comments."""

from __future__ import annotations

import pytest

from scurry.connectors.jdbc.placeholders import MYSQL, translate
from scurry.errors import ArgumentError


def numbered(sql: str) -> tuple[str, int]:
    return translate(sql, lambda number: f"${number}")


def test_parameters_are_counted_from_one() -> None:
    assert numbered("INSERT INTO t VALUES (?,?, ?)") == ("INSERT INTO t VALUES ($1,$2, $3)", 3)


@pytest.mark.parametrize(
    "kept",
    [
        "'what?'",
        "'it''s ? here'",
        r"E'it\'s ? here'",
        r"'back\'",  # no escape in a plain text
        '"odd ? name"',
        '"odd "" ? name"',
        "`odd ? name`",
        "-- really?\n",
        "/* really? */",
        "/* a /* nested? */ comment? */",
        "$$ a ? body $$",
        "$fn$ a ? $$ body $fn$",
        "100 % 7",
        "%s",
    ],
)
def test_is_kept(kept: str) -> None:
    assert numbered(f"SELECT ? , {kept} , ?") == (f"SELECT $1 , {kept} , $2", 2)


def test_two_question_marks_are_an_operator() -> None:
    assert numbered("SELECT data ?? 'key' FROM t WHERE id = ?") == ("SELECT data ? 'key' FROM t WHERE id = $1", 1)


def test_a_name_that_ends_in_e_begins_no_escaped_text() -> None:
    assert numbered(r"SELECT type'\', ?") == (r"SELECT type'\', $1", 1)


def test_a_dollar_in_a_name_begins_no_text() -> None:
    assert numbered("SELECT a$b$ , ? , c$b$") == ("SELECT a$b$ , $1 , c$b$", 1)


@pytest.mark.parametrize("sql", ["SELECT 'open ?", 'SELECT "open ?', "SELECT /* open ?", "SELECT /* a /* b */ ?"])
def test_what_does_not_end_is_an_error(sql: str) -> None:
    with pytest.raises(ArgumentError, match="has no end"):
        numbered(sql)


def test_a_parameter_of_another_style_is_an_error() -> None:
    with pytest.raises(ArgumentError, match=r"write \? for a parameter, not \$1"):
        numbered("SELECT $1")


@pytest.mark.parametrize(
    "kept",
    [
        r"'it\'s ? here'",
        r'"it\"s ? here"',
        "'it''s ?'",
        "`odd ? name`",
        "# really?\n",
        "-- really?\n",
        "/* ? */",
        "5--3",
    ],
)
def test_is_kept_in_mysql(kept: str) -> None:
    assert translate(f"SELECT ? , {kept} , ?", str, MYSQL) == (f"SELECT 1 , {kept} , 2", 2)


@pytest.mark.parametrize("sql", ["SELECT 'a", 'SELECT "a', "SELECT /* a", "SELECT %s"])
def test_is_refused_in_mysql(sql: str) -> None:
    with pytest.raises(ArgumentError):
        translate(sql, str, MYSQL)
