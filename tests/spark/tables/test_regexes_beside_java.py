"""Regular expressions made at random find what Java's `Pattern` finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from scurry.common._java_regex.patterns import compiled, matches, tried

pytestmark = pytest.mark.spark

ATOMS = (
    r"a b A é 1 _ - & = . ^ $ \d \D \w \W \s \S \h \v \R \b \B \A \z \Z \t \n \x61 \u0061 \07 \cA "
    r"\. \Qa.b\E \p{L} \p{Lu} \P{L} \p{Alpha} \p{Punct} \p{IsAlphabetic} \pN # { } ] \y \_ , \e"
).split()
MEMBERS = r"a b a-c ^ & &&b [b-d] [^a] \d \W - é . \] $ ( \p{Lu} \- ] 1 \n z-a".split()
REPEATED = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}", "{,2}"]
GROUPS = ["(", "(", "(?:", "(?=", "(?!", "(?i:", "(?s:", "(?m:", "(?-i:"]
TEXTS = [
    "a",
    "b",
    "A",
    "c",
    "é",
    "É",
    "1",
    "_",
    " ",
    "-",
    "&",
    "=",
    "\n",
    "\r\n",
    "\r",
    "\x85",
    "\u2028",
    "a.b",
    "]",
    "{",
]


def atom(chance: random.Random, depth: int) -> str:
    drawn = chance.random()
    if drawn < 0.6 or depth > 2:
        return chance.choice(ATOMS)
    if drawn < 0.8:
        members = "".join(chance.choice(MEMBERS) for _ in range(chance.randint(1, 4)))
        return f"[{chance.choice(['', '^'])}{members}]"
    return f"{chance.choice(GROUPS)}a{alternatives(chance, depth + 1)})"


def alternatives(chance: random.Random, depth: int) -> str:
    def sequence() -> str:
        return "".join(atom(chance, depth) + chance.choice(REPEATED) for _ in range(chance.randint(0, 4)))

    return "|".join(sequence() for _ in range(chance.choice([1, 1, 1, 2])))


def in_java(patterns: Any, pattern: str, text: str) -> list[tuple[str | None, ...]]:
    matcher = patterns.compile(pattern).matcher(text)
    groups, found = range(matcher.groupCount() + 1), []
    while matcher.find():
        found.append(tuple(matcher.group(group) for group in groups))
    return found


def accepts(compile_pattern: Callable[[str], Any], pattern: str) -> bool:
    try:
        compile_pattern(pattern)
    except (Py4JJavaError, PySparkException):
        return False
    return True


def test_java_finds_the_same(spark: SparkSession) -> None:
    assert spark._jvm is not None
    patterns, chance = spark._jvm.java.util.regex.Pattern, random.Random(1)
    compared = 0
    for _ in range(250):
        pattern = chance.choice(["", "", "", "(?i)", "(?s)", "(?m)", "(?iu)"]) + alternatives(chance, 0)
        assert accepts(patterns.compile, pattern) == (tried(pattern) is not None), pattern
        if tried(pattern) is None:
            continue
        for _ in range(3):
            text = "".join(chance.choice(TEXTS) for _ in range(chance.randint(0, 7)))
            found = [(match[0], *match.groups()) for match in matches(compiled(pattern), text)]
            assert found == in_java(patterns, pattern, text), (pattern, text)
            compared += 1
    assert compared > 400
