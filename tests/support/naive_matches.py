"""Random patterns, and a matcher that finds their matches by definition: it tries all subsequences of the events.

Events are letters that come one per unit of time. No stage accepts `x`, which is what NOT stages refuse.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from scurry.cep import Pattern, WithinType

STRICT, RELAXED, ANY = "next", "followed_by", "followed_by_any"
_INNER = {STRICT: "consecutive", ANY: "allow_combinations"}
_MANY = 9  # more often than there are events

#: The positions of a match's events, of each stage by its name.
Positions: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Part:
    """A stage or a group, and the NOT stage before it.

    Attributes:
        name: The name of a stage.
        letters: The letters that a stage accepts.
        group: The parts of a group.
        contiguity: With the part before.
        least: How often at least.
        most: How often at most.
        inner: The contiguity of its repetitions.
        optional: Whether it may be left out.
        greedy: Whether the part behind neither takes nor passes over a letter that it accepts.
        until: The letters that end its repetitions.
        wait: How long after the event before it its event is too late.
        negation: The method that adds the NOT stage.
    """

    name: str
    letters: str
    group: tuple[Part, ...] = ()
    contiguity: str = RELAXED
    least: int = 1
    most: int = 1
    inner: str = RELAXED
    optional: bool = False
    greedy: bool = False
    until: str = ""
    wait: int | None = None
    negation: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it takes exactly one event."""
        return not self.group and not self.optional and self.most == 1

    @property
    def is_range(self) -> bool:
        """Whether both bounds are given, and differ."""
        return self.least < self.most < _MANY


@dataclass(frozen=True)
class NaivePattern:
    """A pattern; `ending` is the method that adds a NOT stage at its end."""

    parts: tuple[Part, ...]
    window: int | None
    ending: str = ""


# ---------------------------------------------------------------- random patterns


def random_pattern(chance: random.Random) -> NaivePattern:
    window = chance.choice([None, 3, 5])
    parts: list[Part] = []
    for number in range(chance.randint(2, 3)):
        parts.append(_random_part(chance, str(number), parts[-1] if parts else None))
    ending = ""
    if parts[-1].is_plain and chance.random() < 0.2:
        ending = chance.choice(["not_next", "not_followed_by"] if window else ["not_next"])
    return NaivePattern(tuple(parts), window, ending)


def _random_part(chance: random.Random, name: str, before: Part | None) -> Part:
    letters = "".join(chance.sample("abc", chance.choice([1, 1, 2])))
    part = Part(name, letters, contiguity=chance.choice([STRICT, RELAXED, ANY]))
    if before is not None and before.greedy:
        return part
    kind = chance.choice(["stage", "stage", "loop", "loop", "group"])
    if kind != "stage":
        part = _repeated(chance, part)
    if kind == "group":
        part = _grouped(chance, part)
    if before is None or before.group or before.optional:
        return part
    if before.is_plain and part.is_plain and chance.random() < 0.3:
        return replace(part, wait=chance.choice([1, 2, 3]))
    # In stages for which both bounds are given, Flink asks for a NOT stage at some events only.
    if not part.group and not before.is_range and not part.is_range and chance.random() < 0.5:
        negation = chance.choice(["not_next", "not_followed_by"]) if before.is_plain else "not_followed_by"
        # Flink emits what need not go on at once, without the event that NOT NEXT waits for.
        optional = part.optional and part.most == 1 and negation == "not_followed_by"
        return replace(part, negation=negation, optional=optional)
    return part


def _grouped(chance: random.Random, part: Part) -> Part:
    """Return a group with the quantifier of a stage."""
    first = Part(f"{part.name}a", chance.choice("abc"))
    second = Part(f"{part.name}b", part.letters, contiguity=chance.choice([STRICT, RELAXED, ANY]))
    if not part.until:  # it would end the match in a stage that may take no more events, too
        second = replace(_repeated(chance, second), greedy=False)
    # While a group waits for another repetition, Flink does not look at the contiguity of what follows it.
    inner = part.inner if part.least == part.most else STRICT
    return replace(part, group=(first, second), inner=inner, greedy=False)


def _repeated(chance: random.Random, part: Part) -> Part:
    least, most = chance.choice([(1, 1), (2, 2), (1, 2), (1, _MANY), (2, _MANY)])
    part = replace(part, least=least, most=most, optional=chance.random() < 0.3)
    if most > 1:
        part = replace(part, inner=chance.choice([STRICT, RELAXED, ANY]))
    if most == _MANY and chance.random() < 0.5:
        return replace(part, until=chance.choice("abcx"))
    greedy = most > least and part.inner != ANY and chance.random() < 0.3
    return replace(part, greedy=greedy)


def pattern_of(naive: NaivePattern, accepts: Callable[[str], Any]) -> Pattern:
    """Return the pattern; `accepts` makes the condition that an event is one of some letters."""
    pattern = _sequence(naive.parts, accepts)
    if naive.ending:
        pattern = getattr(pattern, naive.ending)("refused").where(accepts("x"))
    return pattern.within(naive.window)


def _sequence(parts: tuple[Part, ...], accepts: Callable[[str], Any]) -> Pattern:
    pattern: Any = None
    for part in parts:
        if part.negation:
            pattern = getattr(pattern, part.negation)(f"{part.name}!").where(accepts("x"))
        add = Pattern.begin if pattern is None else getattr(pattern, part.contiguity)
        pattern = add(_sequence(part.group, accepts)) if part.group else add(part.name).where(accepts(part.letters))
        if part.most == _MANY:
            pattern.times_or_more(part.least)
        elif part.most > 1:
            pattern.times(part.least, part.most)
        if part.inner in _INNER:
            getattr(pattern, _INNER[part.inner])()
        if part.until:
            pattern.until(accepts(part.until))
        if part.greedy:
            pattern.greedy()
        if part.optional:
            pattern.optional()
        pattern.within(part.wait, WithinType.PREVIOUS_AND_CURRENT)
    return pattern  # type: ignore[no-any-return]


# ---------------------------------------------------------------- the matcher


@dataclass(frozen=True)
class _Partial:
    """A partial match.

    Attributes:
        taken: The stages and positions of its events, in order.
        begun: The position of the first event of the last part.
        negation: The method of the NOT stage that holds until the next event.
        excluded: The letters that a greedy part keeps from the next event, and from those before it.
        ended: The letters that end the group.
    """

    taken: tuple[tuple[str, int], ...] = ()
    begun: int = 0
    negation: str = ""
    excluded: str = ""
    ended: str = ""

    @property
    def last(self) -> int:
        return self.taken[-1][1] if self.taken else -1


_Then: TypeAlias = Callable[[_Partial], Iterator[_Partial]]


def naive_matches(pattern: NaivePattern, letters: str) -> Iterator[Positions]:
    """Yield the positions of all matches."""
    for match in _Matcher(letters, pattern.window).sequence(pattern.parts, _Partial(), lambda found: iter([found])):
        if match.taken and _may_end(pattern, letters, match):
            positions: dict[str, tuple[int, ...]] = {}
            for name, at in match.taken:
                positions[name] = (*positions.get(name, ()), at)
            yield tuple(sorted(positions.items()))


def _may_end(pattern: NaivePattern, letters: str, match: _Partial) -> bool:
    """Return whether what follows a match is not what the NOT stage at the end refuses."""
    ends = len(letters) if pattern.window is None else match.taken[0][1] + pattern.window
    after = letters[match.last + 1 : ends]
    if pattern.ending == "not_next":
        return after[:1] not in ("", "x")
    return not pattern.ending or "x" not in after


class _Matcher:
    """Extends partial matches in all ways; `then` is what comes after a part."""

    def __init__(self, letters: str, window: int | None) -> None:
        self._letters = letters
        self._window = window

    def sequence(self, parts: tuple[Part, ...], partial: _Partial, then: _Then) -> Iterator[_Partial]:
        if not parts:
            yield from then(partial)
            return
        part = parts[0]
        if part.negation:
            if "x" in self._letters[partial.begun : partial.last]:
                return  # it ends a repeated part before it, too
            partial = replace(partial, negation=part.negation)
        yield from self._repeated(part, 0, partial, lambda found: self.sequence(parts[1:], found, then))

    def _repeated(self, part: Part, count: int, partial: _Partial, then: _Then) -> Iterator[_Partial]:
        if count >= part.least or (part.optional and not count):
            yield from then(replace(partial, excluded=part.letters) if part.greedy else partial)
        if count < part.most:
            yield from self._once(part, count, partial, lambda found: self._repeated(part, count + 1, found, then))

    def _once(self, part: Part, count: int, partial: _Partial, then: _Then) -> Iterator[_Partial]:
        contiguity = part.inner if count else part.contiguity
        if part.group:
            head = replace(part.group[0], contiguity=contiguity)
            inside = replace(partial, ended=part.until)
            yield from self.sequence((head, *part.group[1:]), inside, lambda found: then(replace(found, ended="")))
            return
        for at in self._positions(part, count, contiguity, partial):
            taken, begun = (*partial.taken, (part.name, at)), partial.begun if count else at
            yield from then(_Partial(taken, begun, ended=partial.ended))

    def _positions(self, part: Part, count: int, contiguity: str, partial: _Partial) -> Iterator[int]:
        """Yield where the next event may be."""
        since, ended = partial.last + 1, partial.ended + part.until * bool(count)
        for at in range(since, len(self._letters)):
            between = self._letters[since:at] if partial.taken else ""
            skipped = partial.excluded + ended
            if partial.taken:
                too_late = self._window is not None and at - partial.taken[0][1] >= self._window
                if too_late or (part.wait is not None and at - partial.last >= part.wait):
                    return
                if partial.negation == "not_next" and self._letters[since] == "x":
                    return
            if partial.negation == "not_followed_by":
                skipped += "x"
            if contiguity == RELAXED:
                skipped += part.letters
            if (contiguity == STRICT and between) or any(letter in skipped for letter in between):
                return
            if self._letters[at] in part.letters and self._letters[at] not in partial.excluded + ended + part.until:
                yield at
