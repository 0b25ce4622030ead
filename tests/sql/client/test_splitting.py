"""Where statements end."""

from __future__ import annotations

import pytest

from scurry.sql.client.splitting import is_complete, split


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("SELECT ';' AS `a;b`; -- no; end\nSELECT 2 /* nor; here */;", ["SELECT ';' AS `a;b`", "SELECT 2"]),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES 1; INSERT INTO b VALUES 2; END; SHOW TABLES",
         ["EXECUTE STATEMENT SET BEGIN INSERT INTO a VALUES 1; INSERT INTO b VALUES 2; END", "SHOW TABLES"]),
        ("BEGIN STATEMENT SET; INSERT INTO a VALUES 1; END;", ["BEGIN STATEMENT SET", "INSERT INTO a VALUES 1", "END"]),
        ("SELECT CASE WHEN a THEN 1 END FROM t; SELECT 1", ["SELECT CASE WHEN a THEN 1 END FROM t", "SELECT 1"]),
        (" ;; -- nothing\n", []),
    ],
)  # fmt: skip
def test_semicolons_end_statements_outside_of_texts_comments_and_sets(text: str, statements: list[str]) -> None:
    assert [piece.text for piece in split(text)] == statements


def test_a_statement_knows_its_line() -> None:
    assert [piece.line for piece in split("SELECT 1;\n\n-- second\nSELECT\n2;")] == [1, 4]


def test_a_statement_without_semicolon_is_not_complete() -> None:
    assert not is_complete("SELECT 'a;")
    assert not is_complete("SELECT 1; SELECT 2")
    assert is_complete("SELECT 1; SELECT 2;")
