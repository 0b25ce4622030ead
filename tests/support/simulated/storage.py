"""Files and topics of a log, read and written exactly once on the simulated disk."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import ProcessWindowFunction
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.testing.simulation import Endpoints, FileEndpoints, LogEndpoints, Program, StoreEndpoints
from support.simulated.keyed import COUNTED, Count, running_counts
from support.simulated.records import KEYS, TIMED, Given, key_of, records

#: A micro-batch of one or two lines: savepoints are taken between them.
FEW = {"scurry.batch.max-records": "2", "scurry.batch.max-bytes": "40b"}
#: Partition, record and time of each.
Arriving = Sequence[tuple[int, Any, int]]


def parsed(line: str) -> Any:
    return tuple(json.loads(line))


def line(record: Any) -> str:
    return json.dumps(record)


def _counted(name: str, endpoints: Endpoints, settings: dict[str, str] | None = None) -> Program:
    def build(env: Any, source: Any, sink: Any) -> None:
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "source", Types.STRING()).uid("source")
        keyed = lines.map(parsed, TIMED).uid("parsed").key_by(key_of, Types.STRING())
        counted = keyed.process(Count(), COUNTED).uid("counts")
        counted.map(line, Types.STRING()).uid("lines").sink_to(sink).uid("sink")

    return Program(name, _untimed, build, running_counts, settings=FEW | (settings or {}), endpoints=endpoints)


def _untimed(count: int, chance: Any) -> list[Any]:
    return [(key, record[:2], time) for key, record, time in records(count, chance)]


def files() -> Program:
    """Return a program that counts lines of files into files."""
    return _counted("files", FileEndpoints())


def objects() -> Program:
    """Return a program that counts lines of objects of a store into objects; its savepoints are there, too."""
    return _counted("objects", StoreEndpoints(), {"state.savepoints.dir": "s3://savepoints"})


def log() -> Program:
    """Return a program that counts messages of a log into a log."""
    return _counted("log", LogEndpoints())


class _InSequence(FileEndpoints):
    """Files of which each has the lines that arrive after those of the one before."""

    def prepare(self, directory: str, records: Arriving, partitions: int) -> None:
        super().prepare(directory, [(number // _LINES, *each[1:]) for number, each in enumerate(records)], len(records))


#: Lines of a file; milliseconds between two lines, of which times are out of order at most, and of a window.
_LINES, _STEP, _BOUND, _WIDTH = 1, 1_000, 500, 1_000


class Timestamps(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


class Numbers(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        numbers = sorted(number for _, number, _ in elements)
        yield json.dumps([key, context.window().start, json.dumps(numbers)])


def sequence() -> Program:
    """Return a program of windows over many files, one after the other: no line of theirs is late."""

    def build(env: Any, source: Any, sink: Any) -> None:
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "source", Types.STRING()).uid("source")
        bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(_BOUND))
        timed = (
            lines.map(parsed, TIMED)
            .uid("parsed")
            .assign_timestamps_and_watermarks(bounded.with_timestamp_assigner(Timestamps()))
        )
        windows = timed.key_by(key_of, Types.STRING()).window(TumblingEventTimeWindows.of(Time.milliseconds(_WIDTH)))
        windows.process(Numbers(), Types.STRING()).uid("windows").sink_to(sink).uid("sink")

    def in_steps(count: int, chance: random.Random) -> Given:
        times = [number * _STEP + chance.randint(0, _BOUND - 1) for number in range(count)]
        return [(key := chance.choice(KEYS), (key, number), time) for number, time in enumerate(times)]

    def expected(given: Given) -> list[Any]:
        found: dict[Any, list[int]] = {}
        for key, record, time in given:
            found.setdefault((key, time // _WIDTH * _WIDTH), []).append(record[1])
        return [(key, start, json.dumps(sorted(of))) for (key, start), of in found.items()]

    def check(given: Given, output: list[Any]) -> None:
        found = Counter(output)
        right = Counter(expected(given))
        assert found == right, f"lost: {right - found}, twice or wrong: {found - right}"

    return Program(
        "sequence",
        in_steps,
        build,
        lambda given: [],
        check,
        settings={"scurry.batch.max-bytes": "20b"},
        endpoints=_InSequence(),
    )
