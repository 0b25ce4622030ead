"""Scripts: where one statement ends and the next begins."""

from __future__ import annotations

import pytest

from scurry.errors import SqlParserError
from scurry.sql.syntax import parse, parse_statements
from scurry.sql.syntax.nodes import BeginStatementSet, EndStatementSet, Execute, Insert, Select, Set


def test_semicolons_separate_statements() -> None:
    assert [type(each) for each in parse_statements("SET 'k' = 'v'; SELECT 1;;\nSELECT 2")] == [Set, Select, Select]


def test_the_last_semicolon_may_be_left_out() -> None:
    assert parse_statements("SELECT 1") == parse_statements("SELECT 1;")
    assert parse("SELECT 1;") == parse("SELECT 1")


def test_semicolons_in_strings_names_and_comments_separate_nothing() -> None:
    script = "SELECT ';', `a;b` -- not; here\n, 1 /* nor; here */, 'it''s; one'; SELECT 2"
    assert len(parse_statements(script)) == 2


def test_a_quote_in_a_comment_hides_no_semicolon() -> None:
    assert len(parse_statements("SELECT 1; -- it's one\nSELECT 2; /* don't */ SELECT 3")) == 3


def test_a_script_of_comments_has_no_statement() -> None:
    assert parse_statements("-- nothing\n ; /* at all */ ;") == []


def test_an_executed_statement_set_is_one_statement() -> None:
    script = "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; INSERT INTO u SELECT 2; END; SELECT 3"
    assert [type(each) for each in parse_statements(script)] == [Execute, Select]


def test_begin_and_end_are_statements_of_a_script() -> None:
    script = "BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;"
    assert [type(each) for each in parse_statements(script)] == [BeginStatementSet, Insert, EndStatementSet]


def test_places_are_those_of_the_script() -> None:
    second = parse_statements("SELECT 1;\n  SELECT 2;")[1]
    assert second.span.describe() == "From line 2, column 3 to line 2, column 10"
    with pytest.raises(SqlParserError, match='Encountered "c" at line 2, column 12'):
        parse_statements("SELECT 1;\nSELECT a b c")


def test_a_missing_semicolon_is_an_error() -> None:
    with pytest.raises(SqlParserError, match='Encountered "SELECT" at line 1, column 10|near the keyword'):
        parse_statements("SELECT 1 SELECT 2")


def test_a_single_statement_takes_no_second_one() -> None:
    with pytest.raises(SqlParserError):
        parse("SELECT 1; SELECT 2")


def test_parameters_are_numbered_in_each_statement() -> None:
    first, second = parse_statements("SELECT ?, ?; SELECT ?")
    assert isinstance(first, Select) and isinstance(second, Select)
    assert [repr(each.expression) for each in (*first.items, *second.items)] == [
        "DynamicParameter(index=0)", "DynamicParameter(index=1)", "DynamicParameter(index=0)",
    ]  # fmt: skip
