"""Text to tokens: what is a keyword, a name, a literal, a symbol, and what is skipped."""

from __future__ import annotations

import pytest

from scurry.sql.syntax.lexer import (
    APPROXIMATE,
    BINARY_STRING,
    DECIMAL,
    END,
    IDENTIFIER,
    INTEGER,
    LEXICAL_ERROR,
    PREFIXED_STRING,
    QUOTED_IDENTIFIER,
    STRING,
    UNICODE_STRING,
    UNTERMINATED_COMMENT,
    tokenize,
)


def keys(text: str) -> list[str]:
    return tokenize(text).keys[:-1]


def images(text: str) -> list[str]:
    tokens = tokenize(text)
    return [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)][:-1]


def test_keywords_are_recognized_in_any_case() -> None:
    assert keys("SELECT select SeLeCt") == ["SELECT"] * 3


def test_other_words_are_identifiers_with_dollars_and_letters_of_any_script() -> None:
    assert keys("emp $$t größe 名前 _a1") == [IDENTIFIER] * 5


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("10", INTEGER),
        ("1.", DECIMAL),
        (".5", DECIMAL),
        ("1.50", DECIMAL),
        ("1e3", APPROXIMATE),
        ("1.5E-3", APPROXIMATE),
        ("'it''s'", STRING),
        ("'a\nb'", STRING),
        ("n'a'", PREFIXED_STRING),
        ("_UTF16'a'", PREFIXED_STRING),
        ("u&'\\0041'", UNICODE_STRING),
        ("x'0F'", BINARY_STRING),
        ("`a``b c`", QUOTED_IDENTIFIER),
    ],
)
def test_literals_and_quoted_names_are_one_token(text: str, kind: str) -> None:
    assert (keys(text), images(text)) == ([kind], [text])


def test_a_number_before_letters_ends_at_them() -> None:
    assert images("1a 1.5e x") == ["1", "a", "1.5", "e", "x"]


def test_symbols_are_as_long_as_possible() -> None:
    assert keys("a<>b<=c=>d||e|f..g") == [
        "A", "<>", IDENTIFIER, "<=", "C", "=>", IDENTIFIER, "||", IDENTIFIER, "|", IDENTIFIER, "..", "G",
    ]  # fmt: skip


def test_comments_and_blanks_separate_tokens_and_are_no_tokens() -> None:
    assert keys("SELECT -- one\n1 // two\n/* three\n four */ + /** five */ 2") == ["SELECT", INTEGER, "+", INTEGER]


def test_a_quote_within_a_comment_opens_no_string() -> None:
    assert keys("SELECT 1 -- it's\n, 2") == ["SELECT", INTEGER, ",", INTEGER]


def test_a_comment_within_a_string_is_text() -> None:
    assert images("'-- a' '/* b */'") == ["'-- a'", "'/* b */'"]


def test_hints_are_no_comments() -> None:
    assert keys("/*+ h */") == ["/*+", IDENTIFIER, "*/"]


def test_escapes_of_jdbc_are_one_token() -> None:
    assert keys("{d '2020-01-01'} {fn abs(1)}") == ["{D", STRING, "}", "{FN", "ABS", "(", INTEGER, ")", "}"]


def test_an_unknown_character_is_a_token_that_nothing_accepts() -> None:
    assert keys("SELECT #") == ["SELECT", LEXICAL_ERROR]


def test_a_comment_without_end_is_a_token_that_nothing_accepts() -> None:
    assert keys("SELECT /* a") == ["SELECT", UNTERMINATED_COMMENT]


def test_the_end_is_a_token() -> None:
    assert tokenize("a ").keys[-1] == END


def test_blanks_at_the_end_are_no_tokens() -> None:
    assert keys("SELECT 1 \n\t ") == ["SELECT", INTEGER]
