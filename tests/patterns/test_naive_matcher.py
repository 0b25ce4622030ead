"""The automaton finds what a naive matcher finds, which tries all subsequences of the events by definition."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from scurry.cep import Pattern
from scurry.patterns.automaton import compile_nfa

MAX_TIME = (1 << 63) - 1
STRICT, RELAXED, ANY = "next", "followed_by", "followed_by_any"
INNER = {STRICT: "consecutive", ANY: "allow_combinations"}

#: A match: the positions of the events of each stage.
Positions = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Stage:
    """A stage: the letters it accepts, its contiguity with the one before, how often, and the contiguity within."""

    letters: str
    contiguity: str
    least: int = 1
    most: int = 1
    inner: str = RELAXED


def random_stages(chance: random.Random) -> list[Stage]:
    stages = []
    for _ in range(chance.randint(2, 3)):
        letters = "".join(chance.sample("abc", chance.choice([1, 1, 2])))
        least, most = chance.choice([(1, 1), (1, 1), (2, 2), (1, 2), (1, 9), (2, 9)])
        contiguity, inner = (chance.choice([STRICT, RELAXED, ANY]) for _ in range(2))
        stages.append(Stage(letters, contiguity, least, most, inner))
    return stages


def pattern_of(stages: list[Stage], window: int | None) -> Pattern:
    pattern: Any = None
    for number, stage in enumerate(stages):
        add = Pattern.begin if pattern is None else getattr(pattern, stage.contiguity)
        pattern = add(str(number)).where(lambda event, letters=stage.letters: event[0] in letters)
        if stage.most == 9:
            pattern.times_or_more(stage.least)
        elif stage.most > 1:
            pattern.times(stage.least, stage.most)
        if stage.most > 1 and stage.inner in INNER:
            getattr(pattern, INNER[stage.inner])()
    return pattern.within(window)  # type: ignore[no-any-return]


def naive(stages: list[Stage], letters: str, window: int | None) -> Iterator[Positions]:
    """Yield the positions of all matches in events that come one per unit of time."""

    def may_follow(before: int, at: int, stage: Stage, contiguity: str) -> bool:
        between = letters[before + 1 : at]
        if contiguity == STRICT:
            return not between
        return contiguity == ANY or not any(letter in stage.letters for letter in between)

    def extend(taken: tuple[tuple[int, ...], ...], number: int) -> Iterator[Positions]:
        """Extend a match whose stages up to `number` have begun."""
        stage = stages[number]
        if len(taken[number]) >= stage.least:
            if number + 1 == len(stages):
                yield taken
            else:
                yield from step(taken, number + 1, stages[number + 1].contiguity)
        if len(taken[number]) < stage.most:
            yield from step(taken, number, stage.inner)

    def step(taken: tuple[tuple[int, ...], ...], number: int, contiguity: str) -> Iterator[Positions]:
        stage = stages[number]
        first, before = taken[0][0], taken[-1][-1]
        for at in range(before + 1, len(letters)):
            if window is not None and at - first >= window:
                return
            if letters[at] in stage.letters and may_follow(before, at, stage, contiguity):
                if number < len(taken):
                    yield from extend((*taken[:-1], (*taken[-1], at)), number)
                else:
                    yield from extend((*taken, (at,)), number)

    for start, letter in enumerate(letters):
        if letter in stages[0].letters:
            yield from extend(((start,),), 0)


def found(pattern: Pattern, letters: str, chance: random.Random | None) -> Iterator[Positions]:
    """Yield what the automaton finds; `chance` restores it from its stored form somewhere."""
    nfa = compile_nfa(pattern)
    state = nfa.initial_state()
    for at, letter in enumerate(letters):
        if chance and chance.random() < 0.3:
            nfa = compile_nfa(pattern)
            state = nfa.restored(nfa.stored(state))
        nfa.advance_time(state, at)
        for match in nfa.process(state, (letter, at), at):
            yield tuple(tuple(position for _, position in events) for events in match.values())


@pytest.mark.parametrize("seed", range(4))
def test_every_subsequence_that_fits_is_found_once_and_no_other(seed: int) -> None:
    chance = random.Random(seed)
    matches = 0
    for _ in range(150):
        stages, window = random_stages(chance), chance.choice([None, 3, 5])
        letters = "".join(chance.choices("abcx", k=8))
        expected = sorted(naive(stages, letters, window))
        matches += len(expected)
        assert sorted(found(pattern_of(stages, window), letters, None)) == expected, (stages, letters, window)
    assert matches > 100


def test_restarts_change_nothing() -> None:
    chance = random.Random(7)
    for _ in range(100):
        stages, window = random_stages(chance), chance.choice([None, 5])
        pattern, letters = pattern_of(stages, window), "".join(chance.choices("abc", k=9))
        assert list(found(pattern, letters, chance)) == list(found(pattern, letters, None))
