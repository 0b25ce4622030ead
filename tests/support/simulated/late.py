"""Windows with allowed lateness: late records fire them again, later ones go to a side output."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.datastream import OutputTag, ProcessWindowFunction
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.testing.simulation import Program
from support.simulated.records import KEYS, TIMED, Given, key_of

WIDTH, LATENESS, LATE = 2_000, 1_500, 6_000


class Numbers(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        yield "fired", key, context.window().start, tuple(sorted(number for _, number, _ in elements))


def as_late(record: Any) -> Any:
    return "late", record[0], record[2] - record[2] % WIDTH, (record[1],)


OUTPUT = Types.PICKLED_BYTE_ARRAY()


def late() -> Program:
    """Return a program of windows for records of which some are late, and some too late."""

    def records(count: int, chance: random.Random) -> Given:
        found: Given = []
        for number in range(count):
            key, time = chance.choice(KEYS), number * 500 + chance.choice((0, 0, 0, chance.randint(-LATE, 0)))
            found.append((key, (key, number, max(0, time)), max(0, time)))
        return found

    def build(env: Any, source: Any, sink: Any) -> None:
        env.get_config().set_auto_watermark_interval(1)
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(5))
        tag = OutputTag("late", TIMED)
        keyed = env.from_source(source, strategy, "source", TIMED).uid("source").key_by(key_of, Types.STRING())
        windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WIDTH)))
        fired = windows.allowed_lateness(LATENESS).side_output_late_data(tag).process(Numbers(), OUTPUT).uid("windows")
        dropped = fired.get_side_output(tag).map(as_late, OUTPUT).uid("late")
        fired.union(dropped).sink_to(sink).uid("sink")

    def check(given: Given, output: list[Any]) -> None:
        """Each record is in the last firing of its window, or late; a further firing has one more."""
        fired: dict[Any, list[set[int]]] = defaultdict(list)
        found: Counter[Any] = Counter()
        for kind, key, start, numbers in output:
            if kind == "late":
                found[key, start, *numbers] += 1
            else:
                fired[key, start].append(set(numbers))
                assert len(numbers) == len(set(numbers)), f"twice in {key} {start}: {numbers}"
        for (key, start), contents in fired.items():
            contents.sort(key=len)
            for fewer, more in zip(contents, contents[1:], strict=False):
                assert fewer < more, f"the window {key} {start} fires with {more} after {fewer}"
            found.update((key, start, number) for number in contents[-1])
        expected = Counter((key, time - time % WIDTH, record[1]) for key, record, time in given)
        assert found == expected, f"lost: {expected - found}, twice or wrong: {found - expected}"

    return Program("late", records, build, lambda given: [], check)
