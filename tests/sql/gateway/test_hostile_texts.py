"""What clients send takes time in proportion to its length: no pattern starts over from each of its characters."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from scurry.common.redaction import without_secrets
from scurry.rest.session.programs import _split
from scurry.sql.functions.operators.patterns import like_pattern
from scurry.sql.gateway.app import _one_trace
from scurry.sql.gateway.completion import candidates
from scurry.sql.statements.names import _regex
from scurry.sql.syntax.lexer import tokenize
from support.statements.tables import environment

SESSION = environment(**{"scurry.runner": "local"})._session


def complete(text: str) -> object:
    return candidates(SESSION, text, len(text))


#: What is done with texts of clients -> a text that is hostile to it, of so many characters.
TEXTS: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    "completion of a word": (complete, lambda n: "SELECT 'aaa" + "a" * n + "' "),
    "completion of words": (complete, lambda n: "SELECT '" + "a b" * (n // 3)),
    "completion of names": (complete, lambda n: "SELECT 'a" + ".a" * (n // 2) + "- "),
    "completion of quoted names": (complete, lambda n: "SELECT '" + "`a`." * (n // 4) + "- "),
    "tokens of quotes": (tokenize, lambda n: "'" * (n + 1 - n % 2)),
    "tokens of backticks": (tokenize, lambda n: "`a\n" * (n // 3)),
    "tokens of slashes": (tokenize, lambda n: "/* " + "*/ /" * (n // 4)),
    "an error with empty lines": (_one_trace, lambda n: "\n" * n + "x"),
    "an error with blanks": (_one_trace, lambda n: (" " * n + "\n") * 2),
    "a secret without an end": (without_secrets, lambda n: "password " * (n // 9)),
    "addresses": (without_secrets, lambda n: "://a:" * (n // 5)),
    "names of users": (without_secrets, lambda n: " a/" * (n // 3)),
    "options": (without_secrets, lambda n: "--a-" * (n // 4)),
    "arguments of quotes": (_split, lambda n: "\"' " * (n // 3)),
    "LIKE of a query": (lambda text: like_pattern("%a" * 12 + "b").fullmatch(text), lambda n: "a" * n),
    "LIKE of names": (lambda text: re.compile(_regex("%a" * 12 + "b")).fullmatch(text), lambda n: "a" * n),
}


@pytest.mark.parametrize("name", TEXTS)
def test_four_times_the_text_takes_about_four_times_the_work(name: str) -> None:
    handle, text = TEXTS[name]

    def seconds(length: int) -> float:
        taken = []
        for _ in range(3):
            began = time.process_time()
            handle(text(length))
            taken.append(time.process_time() - began)
        return min(taken)

    # 10,000 characters of a quadratic pattern take seconds, 40,000 a minute.
    short, long = seconds(2_500), seconds(10_000)
    assert long < 8 * short + 0.05


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ("%a%b", ["ab", "xaxb", "aab", "a\nb"], ["ba", "a", "abx"]),
        ("a%", ["a", "ab"], ["ba", ""]),
        ("%", ["", "x"], []),
        ("%%_", ["x", "xy"], [""]),
        ("%ab%ab%", ["abab", "xabxabx"], ["aba", "ab"]),
        ("_%_b%a", ["xybza", "xyzba"], ["xba", "bba"]),
        ("%a_%a_", ["abac", "aaaa", "axxaxaz"], ["aba", "aaa"]),
        ("ab", ["ab"], ["abc", "xab"]),
    ],
)
def test_like_finds_what_stands_between_percent_signs(pattern: str, accepted: list[str], refused: list[str]) -> None:
    for compiled in (like_pattern(pattern), re.compile(_regex(pattern), re.DOTALL)):
        assert all(compiled.fullmatch(text) for text in accepted)
        assert not any(compiled.fullmatch(text) for text in refused)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("SELECT COALE", "COALESCE"),
        ("SELECT * FROM t WHERE BETW", "BETWEEN"),
        ("SHO", "SHOW TABLES"),
        ("", "SELECT"),
    ],
)
def test_words_are_completed_from_where_they_begin(text: str, word: str) -> None:
    assert word in candidates(SESSION, text, len(text))
