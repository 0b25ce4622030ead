"""Patterns: matches are found once, whatever lies between their events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.cep import CEP, Pattern, PatternProcessFunction
from scurry.common import Duration, Types
from scurry.testing.simulation import Program
from support.simulated.records import Given, key_of, records, stream

WITHIN = 5_000


class Found(PatternProcessFunction[Any, Any]):
    def process_match(self, match: dict[str, list[Any]], ctx: Any) -> Iterator[Any]:
        yield f"{match['first'][0][1]} {match['second'][0][1]}"


def is_first(record: Any) -> bool:
    return bool(record[1] % 3 == 0)


def is_second(record: Any) -> bool:
    return bool(record[1] % 3 == 1)


def pairs() -> Program:
    """Return a program that finds the event that follows each one of a kind, by key and in the order of time."""

    def build(env: Any, source: Any, sink: Any) -> None:
        pattern = Pattern.begin("first").where(is_first).followed_by("second").where(is_second)
        keyed = stream(env, source).key_by(key_of, Types.STRING())
        found = CEP.pattern(keyed, pattern.within(Duration.of_millis(WITHIN))).process(Found(), Types.STRING())
        found.uid("pattern").sink_to(sink).uid("sink")

    def expected(given: Given) -> list[Any]:
        found, ordered = [], sorted((time, key, record[1]) for key, record, time in given)
        for time, key, number in ordered:
            if number % 3 == 0:
                following = [each for each in ordered if each[0] > time and each[1] == key and each[2] % 3 == 1]
                if following and following[0][0] - time < WITHIN:
                    found.append(f"{number} {following[0][2]}")
        return found

    return Program("pairs", records, build, expected)
