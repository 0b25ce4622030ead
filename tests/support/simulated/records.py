"""The input that programs on simulated machines share."""

from __future__ import annotations

import random
from typing import Any

from scurry.common import Duration, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment

#: Key, record and time in milliseconds of each.
Given = list[tuple[Any, Any, int]]

KEYS = "abcd"
OUT_OF_ORDER = 2_000
RECORD = Types.TUPLE([Types.STRING(), Types.INT()])
#: Key, number and time.
TIMED = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])


def records(count: int, chance: random.Random) -> Given:
    """Return records of some keys, out of order within bounds; each has a time of its own."""
    found: Given = []
    for number in range(count):
        key = chance.choice(KEYS)
        time = (number * 500 + chance.randint(0, OUT_OF_ORDER - 100)) // 64 * 64 + number % 64
        found.append((key, (key, number, time), time))
    return found


def strategy() -> WatermarkStrategy:
    return WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(OUT_OF_ORDER))


def stream(env: StreamExecutionEnvironment, source: Any, name: str = "source") -> Any:
    """Return the records with their times."""
    env.get_config().set_auto_watermark_interval(1)
    return env.from_source(source, strategy(), name, TIMED).uid(name)


def key_of(record: Any) -> Any:
    return record[0]


def part(source: Any, remainder: int) -> Any:
    """Return a source of half of the records: those whose numbers are even or odd."""
    from dataclasses import replace

    return replace(source, records=tuple(each for each in source.records if each[1][1] % 2 == remainder))
