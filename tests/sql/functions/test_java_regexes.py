"""Regular expressions mean what they mean in Java; tests/spark/tables/test_regexes_beside_java.py asks Java."""

from __future__ import annotations

import pytest

from scurry.common._java_regex.patterns import compiled, matches, replaced, split_java, tried


def found(pattern: str, text: str) -> list[str]:
    return [match[0] for match in matches(compiled(pattern), text)]


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("[a-d&&[^b]]+", "abcd", ["a", "cd"]),
        ("[a[c-d]]+", "abcd[", ["a", "cd"]),
        ("[^a[b]]+", "abcd", ["cd"]),
        (r"[^\d&&[^5]]+", "1a5", ["a5"]),
        (r"[\P{L}]+", "ab1-c", ["1-"]),
        (r"\p{Lu}", "aBÉ", ["B", "É"]),
        (r"\p{IsAlphabetic}+", "aé1", ["aé"]),
        (".+", "a\rb\u2028c\n", ["a", "b", "c"]),
        ("(?s).+", "a\rb", ["a\rb"]),
        ("a$", "a\r\n", ["a"]),
        ("(?m)^.$", "a\rb", ["a", "b"]),
        (r"\bé", "é aé", ["é"]),
        ("(?i)[^a]", "Ab", ["b"]),
        ("a(?i)b", "aB AB", ["aB"]),
        ("(?x)a b # both", "ab", ["ab"]),
        (r"\Q[a]\E+", "[a]]", ["[a]]"]),
        (r"\x{1F600}\x41\u0042\0103\cD", "😀ABC\x04", ["😀ABC\x04"]),
        (r"\h\v", " \x0b", [" \x0b"]),
        ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10\\11", "abcdefghijja1", ["abcdefghijja1"]),
    ],
)
def test_patterns_mean_what_they_mean_in_java(pattern: str, text: str, wanted: list[str]) -> None:
    assert found(pattern, text) == wanted


@pytest.mark.parametrize(
    "pattern",
    ["a{", "a{,2}", "[a", "[b-a]", "(a", "a)", r"\y", r"\p{Nothing}", "(?q)a", "*a", "a**", r"\x1", r"\u12", r"\0"],
)
def test_what_java_refuses_is_malformed(pattern: str) -> None:
    assert tried(pattern) is None


def test_a_match_without_characters_is_followed_by_the_next_character() -> None:
    assert found("|a", "ab") == ["", "", ""]
    assert replaced(compiled("a??"), "ab", "-") == "-a-b-"
    assert split_java(compiled("|,"), "a,b") == ["a", ",", "b"]
