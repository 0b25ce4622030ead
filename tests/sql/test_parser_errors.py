"""What is refused, where, and in which words: those of Flink 2.3, recorded from its parser."""

from __future__ import annotations

import pytest

from scurry.errors import SqlParserEOFError, SqlParserError
from scurry.sql.syntax import parse

REFUSED = {
    "SELECT id FORM t": ('Encountered "t" at line 1, column 16.', 1, 16),
    "SELECT 1 +": ('Encountered "+ <EOF>" at line 1, column 10.', 1, 10),
    "SELECT a b c": ('Encountered "c" at line 1, column 12.', 1, 12),
    "CREATE TABLE r (value INT)": ('Encountered "value" at line 1, column 17.', 1, 17),
    "CREATE TABLE r (VALUE INT)": ("Incorrect syntax near the keyword 'VALUE' at line 1, column 17.", 1, 17),
    "INSERT INTO TABLE t SELECT 1": ("Incorrect syntax near the keyword 'TABLE' at line 1, column 13.", 1, 13),
    "SELEC 1": ("Non-query expression encountered in illegal context", 1, 1),
    "truncate(f4, f32)": ("Non-query expression encountered in illegal context", 1, 17),
    "SELECT f(a, SELECT 1)": ("Incorrect syntax near the keyword 'SELECT' at line 1, column 13.", 1, 13),
    "show x": ('Encountered "show x" at line 1, column 1.', 1, 1),
    "LOAD MODULE 'dummy'": ("Encountered \"\\'dummy\\'\" at line 1, column 13.", 1, 13),
    "SELECT a.": ('Encountered ". <EOF>" at line 1, column 9.', 1, 9),
    "SELECT a FROM t LEFT x": ("Incorrect syntax near the keyword 'LEFT' at line 1, column 17.", 1, 17),
    "SELECT 'a' FROM t LIMIT -1": ('Encountered "-" at line 1, column 25.', 1, 25),
    "SELECT a != b": ("Bang equal '!=' is not allowed under the current SQL conformance level", 1, 10),
    "SELECT a 'x'": ("Expecting alias, found character literal", 1, 10),
    "SELECT a BETWEEN b": ("BETWEEN operator has no terminating AND", 1, 19),
    "SELECT * FROM (t)": ("Expected query or join", 1, 16),
    "SELECT * FROM t LIMIT 1, 2": (
        "'LIMIT start, count' is not allowed under the current SQL conformance level", 1, 17,
    ),
    "SELECT # FROM t": ('Lexical error at line 1, column 8.  Encountered: "#" (35), after : ""', 1, 8),
    "CREATE TABLE t (a INT, WATERMARK FOR a AS a, WATERMARK FOR b AS b)": (
        "Multiple WATERMARK declarations are not supported yet.", 1, 46,
    ),
    "CREATE TABLE t (a, b)": (
        "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only.", 1, 16,
    ),
    "EXPLAIN PLAN_ADVICE, PLAN_ADVICE SELECT 1": ("Duplicate EXPLAIN DETAIL is not allowed.", 1, 22),
    "SELECT a FROM t LEFT OUTER u": ("Incorrect syntax near the keyword 'LEFT' at line 1, column 17.", 1, 17),
    "SELECT COUNT(*, a)": ('Encountered "," at line 1, column 15.', 1, 15),
    "SELECT CAST(a AS TIMESTAMP WITH TIME ZONE)": ('Encountered "TIME" at line 1, column 33.', 1, 33),
    "SELECT f(1, (SELECT 1) PARTITION BY a)": ('Encountered "PARTITION" at line 1, column 24.', 1, 24),
    "CREATE MATERIALIZED TABLE IF NOT EXISTS t AS SELECT 1": ('Encountered "NOT" at line 1, column 30.', 1, 30),
    "CREATE MATERIALIZED TABLE t START_MODE = FOO AS SELECT 1": ('Encountered "FOO" at line 1, column 42.', 1, 42),
    "CREATE MATERIALIZED TABLE t START_MODE = FROM_TIMESTAMP AS SELECT 1": (
        'Encountered "AS" at line 1, column 57.', 1, 57,
    ),
    "CREATE MATERIALIZED TABLE t START_MODE = FROM_BEGINNING() AS SELECT 1": (
        'Encountered "(" at line 1, column 56.', 1, 56,
    ),
    "CREATE MATERIALIZED TABLE t START_MODE = FROM_NOW(5) AS SELECT 1": (
        "START_MODE literal must be an interval for FROM_NOW and RESUME_OR_FROM_NOW modes.", 1, 51,
    ),
    "CREATE MATERIALIZED TABLE t REFRESH_MODE = AUTO AS SELECT 1": ('Encountered "AUTO" at line 1, column 44.', 1, 44),
    "DROP TEMPORARY MATERIALIZED TABLE t": ("DROP TEMPORARY MATERIALIZED TABLE is not supported.", 1, 16),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_wrong_statement_is_refused_in_flinks_words_at_flinks_place(text: str) -> None:
    with pytest.raises(SqlParserError) as refused:
        parse(text)
    error = refused.value
    first_line = str(error).removeprefix("SQL parse failed. ")
    assert (first_line, error.line, error.column) == REFUSED[text]
    assert str(error) != first_line


@pytest.mark.parametrize(
    ("text", "line", "column"), [("SELECT (1 + 2", 1, 13), ("", 0, 0), ("SELECT *\nFROM t\nWHERE", 3, 5)]
)
def test_an_incomplete_statement_has_an_error_of_its_own(text: str, line: int, column: int) -> None:
    with pytest.raises(SqlParserEOFError) as refused:
        parse(text)
    assert str(refused.value) == f'Encountered "<EOF>" at line {line}, column {column}.'
    assert (refused.value.line, refused.value.column) == (line, column)


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(SqlParserError, match="must be less than or equal to 256 characters"):
        parse(f"SELECT {'a' * 257}")


def test_a_statement_that_is_nested_too_deeply_is_refused_clearly() -> None:
    with pytest.raises(SqlParserError, match="nested too deeply"):
        parse("SELECT " + "(" * 3000 + "1" + ")" * 3000)


def test_reserved_words_are_names_in_quotes_only() -> None:
    assert parse("SELECT `value`, `table` FROM `order`")
    with pytest.raises(SqlParserError):
        parse("SELECT table FROM t")
