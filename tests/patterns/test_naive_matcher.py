"""The automaton finds what a naive matcher finds, which tries all subsequences of the events by definition."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.cep import Pattern
from scurry.cep.patterns.automaton import compile_nfa
from support.naive_matches import NaivePattern, Part, Positions, naive_matches, pattern_of, random_pattern

MAX_TIME = (1 << 63) - 1


def accepts(letters: str) -> Callable[[tuple[str, int]], bool]:
    return lambda event: event[0] in letters


def found(pattern: Pattern, letters: str, chance: random.Random | None = None) -> Iterator[Positions]:
    """Yield what the automaton finds; `chance` restores it from its stored form here and there."""
    nfa = compile_nfa(pattern)
    state = nfa.initial_state()
    for at, letter in enumerate(letters):
        if chance and chance.random() < 0.3:
            nfa = compile_nfa(pattern)
            state = nfa.restored(nfa.stored(state))
        yield from map(positions, nfa.advance_time(state, at)[0])
        yield from map(positions, nfa.process(state, (letter, at), at))
    yield from map(positions, nfa.advance_time(state, MAX_TIME)[0])


def positions(match: dict[str, list[Any]]) -> Positions:
    return tuple(sorted((stage, tuple(at for _, at in events)) for stage, events in match.items()))


@pytest.mark.parametrize("seed", range(8))
def test_every_subsequence_that_fits_is_found_and_no_other(seed: int) -> None:
    chance = random.Random(seed)
    matches = 0
    for _ in range(150):
        naive, letters = random_pattern(chance), "".join(chance.choices("abcx", k=8))
        expected, got = sorted(naive_matches(naive, letters)), sorted(found(pattern_of(naive, accepts), letters))
        matches += len(expected)
        if any(part.group and part.most > 1 for part in naive.parts):  # of such Flink emits some matches twice
            expected, got = sorted(set(expected)), sorted(set(got))
        assert got == expected, (naive, letters)
    assert matches > 100


def parts(pattern: NaivePattern) -> Iterator[Part]:
    for part in pattern.parts:
        yield part
        yield from part.group


@pytest.mark.parametrize(
    "has",
    [
        lambda pattern: pattern.window is not None,
        lambda pattern: any(part.wait for part in parts(pattern)),
        lambda pattern: any(part.until and not part.group for part in parts(pattern)),
        lambda pattern: any(part.until and part.group for part in parts(pattern)),
        lambda pattern: any(part.optional for part in parts(pattern)),
        lambda pattern: any(part.greedy for part in parts(pattern)),
        lambda pattern: any(part.group and part.most > 1 for part in parts(pattern)),
        lambda pattern: any(part.negation == "not_next" for part in parts(pattern)),
        lambda pattern: any(part.negation == "not_followed_by" for part in parts(pattern)),
        lambda pattern: pattern.ending == "not_next",
        lambda pattern: pattern.ending == "not_followed_by",
    ],
    ids=["within", "wait", "until", "until of group", "optional", "greedy", "repeated group", "not next",
         "not followed by", "not next at the end", "not followed by at the end"],
)  # fmt: skip
def test_random_patterns_with_a_match_have_it(has: Callable[[NaivePattern], bool]) -> None:
    chance = random.Random(0)
    with_it = [naive for naive in (random_pattern(chance) for _ in range(1000)) if has(naive)]
    assert sum(any(True for _ in naive_matches(naive, "abxacbcabcbax")) for naive in with_it) >= 10


def test_restarts_change_nothing() -> None:
    chance = random.Random(7)
    for _ in range(300):
        naive, letters = random_pattern(chance), "".join(chance.choices("abcx", k=9))
        pattern = pattern_of(naive, accepts)
        assert list(found(pattern, letters, chance)) == list(found(pattern, letters)), (naive, letters)
