"""The distance to the limit: processor time per record in-process, next to a bare loop over the same functions.

    python bench/floor.py [--only REGEX] [--rows 300000] [--rounds 3] [--batch] [--history]

The bare loop calls the functions of the benchmark one after the other, with a dict as state and no engine around them.
The least of all rounds counts. A job of one record is subtracted, so that no start is counted.
`--history` appends the ratios to bench/history.jsonl.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import history

from scurry.common import Configuration, Duration, Time, Types, WatermarkStrategy
from scurry.common.types import Row
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.connectors.sink import DiscardSink
from scurry.datastream import DataStream, RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from scurry.datastream.functions import AggregateFunction, FlatMapFunction, KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.table import DataTypes

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
FIELDS = range(2)
KEYS, CAMPAIGNS, WINDOW_MS = 10_000, 100, 10_000
Rows = list[Any]
Job = Callable[[StreamExecutionEnvironment, Rows], DataStream]


class Count(KeyedProcessFunction):
    """Counts the records of each key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class Second(TimestampAssigner):
    """The time of a record is its second field."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]


class CountRecords(AggregateFunction):
    """Counts the records of a window."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class BareState:
    """The state of a bare loop: a value per key, and the current key."""

    def __init__(self) -> None:
        self.values: dict[Any, Any] = {}
        self.key: Any = None

    def value(self) -> Any:
        return self.values.get(self.key)

    def update(self, value: Any) -> None:
        self.values[self.key] = value


def count_per_key(env: StreamExecutionEnvironment, rows: Rows) -> DataStream:
    """W1: a count per key in state, a result for each record."""
    stream = env.from_collection(rows, type_info=PAIR)
    return stream.key_by(lambda r: r[0], key_type=Types.LONG()).process(Count(), output_type=PAIR)


def bare_count_per_key(rows: Rows) -> None:
    key_of = lambda r: r[0]  # noqa: E731
    function, state = Count(), BareState()
    function.count = state
    for row in rows:
        state.key = key_of(row)
        for _ in function.process_element(row, None):
            pass


class Tally(FlatMapFunction):
    """Counts records and sums their second field."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.rows = self.sum = 0

    def flat_map(self, value: Any) -> Iterator[Any]:
        self.rows += 1
        self.sum += value[1]
        return iter(())


def count_per_key_of_file(env: StreamExecutionEnvironment, rows: Rows) -> DataStream:
    """W1 as the benchmark runs it: rows of a CSV file become tuples, a tally takes the place of a sink."""
    schema = CsvSchema.builder()
    for column in ("key", "value"):
        schema = schema.add_number_column(column, DataTypes.BIGINT())
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema.build()), csv_file(len(rows)))
    stream = env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "csv")
    pairs = stream.map(lambda r: tuple(r[i] for i in FIELDS), output_type=PAIR)
    counts = pairs.key_by(lambda r: r[0], key_type=Types.LONG()).process(Count(), output_type=PAIR)
    return counts.flat_map(Tally(), output_type=PAIR)


def bare_count_per_key_of_rows(rows: Rows) -> None:
    to_pair, key_of = lambda r: tuple(r[i] for i in FIELDS), lambda r: r[0]
    function, state, tally = Count(), BareState(), Tally()
    function.count = state
    tally.open(None)
    for row in rows:
        pair = to_pair(row)
        state.key = key_of(pair)
        for count in function.process_element(pair, None):
            for _ in tally.flat_map(count):
                pass


def sums_per_window(env: StreamExecutionEnvironment, rows: Rows) -> DataStream:
    """W2: sums per key and window of ten seconds."""
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5_000))
    stream = env.from_collection(rows, type_info=Types.TUPLE([Types.LONG()] * 3))
    pairs = stream.assign_timestamps_and_watermarks(late.with_timestamp_assigner(Second()))
    pairs = pairs.map(lambda r: (r[0], r[2]), output_type=PAIR)
    windows = pairs.key_by(lambda r: r[0], key_type=Types.LONG())
    return windows.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))).reduce(
        lambda a, b: (a[0], a[1] + b[1])
    )


def bare_sums_per_window(rows: Rows) -> None:
    time_of, project = Second().extract_timestamp, lambda r: (r[0], r[2])
    key_of, reduce = lambda r: r[0], lambda a, b: (a[0], a[1] + b[1])
    state: dict[Any, Any] = {}
    for row in rows:
        timestamp = time_of(row, 0)
        pair = project(row)
        slot = key_of(pair), timestamp - timestamp % WINDOW_MS
        before = state.get(slot)
        state[slot] = pair if before is None else reduce(before, pair)


def views_per_campaign(env: StreamExecutionEnvironment, rows: Rows) -> DataStream:
    """W3: Yahoo's benchmark: JSON, filter, project, join, counts per campaign and window."""
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5_000))
    ad = Types.TUPLE([Types.STRING(), Types.LONG()])
    views = env.from_collection(rows, type_info=Types.STRING()).map(json.loads)
    views = views.filter(lambda e: e["event_type"] == "view")
    views = views.map(lambda e: (e["ad_id"], e["event_time"]), output_type=ad).map(joined, output_type=ad)
    timed = views.assign_timestamps_and_watermarks(late.with_timestamp_assigner(Second()))
    windows = timed.key_by(lambda v: v[0], key_type=Types.STRING())
    return windows.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))).aggregate(
        CountRecords(), accumulator_type=Types.LONG(), output_type=Types.LONG()
    )


def bare_views_per_campaign(rows: Rows) -> None:
    is_view, project = lambda e: e["event_type"] == "view", lambda e: (e["ad_id"], e["event_time"])
    time_of, key_of, add = Second().extract_timestamp, lambda v: v[0], CountRecords().add
    state: dict[Any, int] = {}
    for row in rows:
        event = json.loads(row)
        if is_view(event):
            view = joined(project(event))
            timestamp = time_of(view, 0)
            slot = key_of(view), timestamp - timestamp % WINDOW_MS
            state[slot] = add(view, state.get(slot, 0))


def joined(view: tuple[str, int]) -> tuple[str, int]:
    return f"campaign {int(view[0][3:]) % CAMPAIGNS}", view[1]


class Timed(KeyedProcessFunction):
    """Sums the amounts of each key, and registers a timer for each minute of it."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.sum.update((self.sum.value() or 0) + value[2])
        ctx.timer_service().register_event_time_timer((value[1] // 60_000 + 1) * 60_000)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[int]:
        yield timestamp


class BareTimers:
    """The context of a bare loop: a timer is a key and a time in a set, and none fires."""

    def __init__(self, state: BareState) -> None:
        self.state = state
        self.timers: set[tuple[Any, int]] = set()

    def timer_service(self) -> BareTimers:
        return self

    def register_event_time_timer(self, time: int) -> None:
        self.timers.add((self.state.key, time))


def parsed(line: str) -> tuple[str, int, int]:
    key, at, amount = line.split(",")
    return key, int(at), int(amount)


def timers_per_key(env: StreamExecutionEnvironment, rows: Rows) -> DataStream:
    """The job `timers` of bench/batch_cost.py, from a collection of lines."""
    late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5_000))
    record = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
    stream = env.from_collection(rows, type_info=Types.STRING()).map(parsed, record)
    timed = stream.assign_timestamps_and_watermarks(late.with_timestamp_assigner(Second()))
    return timed.key_by(lambda r: r[0], Types.STRING()).process(Timed(), Types.LONG())


def bare_timers_per_key(rows: Rows) -> None:
    time_of, key_of, function, state = Second().extract_timestamp, lambda r: r[0], Timed(), BareState()
    function.sum, context = state, BareTimers(state)
    for row in rows:
        record = parsed(row)
        time_of(record, 0)
        state.key = key_of(record)
        function.process_element(record, context)


def lines(count: int) -> Rows:
    return [f"k{n * 7919 % 1_000},{n + n * 31 % 5_000},{n % 100}" for n in range(count)]


def pairs(count: int) -> Rows:
    return [(n * 7919 % KEYS, n) for n in range(count)]


@cache
def csv_file(count: int) -> str:
    """Return the path of a CSV file of `pairs(count)`."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
        file.writelines(f"{key},{value}\n" for key, value in pairs(count))
    atexit.register(os.unlink, file.name)
    return file.name


def csv_rows(count: int) -> Rows:
    csv_file(count)  # so that no job is charged with writing it
    return [Row(*pair) for pair in pairs(count)]


def triples(count: int) -> Rows:
    return [(n * 7919 % 1_000, n // 10 + n * 31 % 5_000, n % 100) for n in range(count)]


def events(count: int) -> Rows:
    kinds = ("view", "click", "purchase")
    return [
        json.dumps(
            {"ad_id": f"ad {n * 7919 % 1_000}", "event_type": kinds[n % 3], "event_time": n // 10, "user": f"u{n}"}
        )
        for n in range(count)
    ]


CASES: dict[str, tuple[Job, Callable[[Rows], None], Callable[[int], Rows]]] = {
    "w1": (count_per_key, bare_count_per_key, pairs),
    "w1 file": (count_per_key_of_file, bare_count_per_key_of_rows, csv_rows),
    "w2": (sums_per_window, bare_sums_per_window, triples),
    "timers": (timers_per_key, bare_timers_per_key, lines),
    "w3": (views_per_campaign, bare_views_per_campaign, events),
}


def timed(run: Callable[[], None]) -> float:
    """Return the processor seconds of a call."""
    gc.collect()
    begun = time.process_time()
    run()
    return time.process_time() - begun


def execute(job: Job, rows: Rows, mode: RuntimeExecutionMode) -> None:
    """Run a job in this process."""
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    env.set_runtime_mode(mode)
    job(env, rows)._sink(DiscardSink(), "discard")
    env.execute("floor")


def measure(name: str, count: int, rounds: int, mode: RuntimeExecutionMode) -> dict[str, Any]:
    """Return the microseconds per record of a case, and how many times the bare loop's scurry's are."""
    job, bare, make = CASES[name]
    rows = make(count)
    execute(job, make(1), mode)
    floor = [timed(lambda: bare(rows)) for _ in range(rounds)]
    start = [timed(lambda: execute(job, rows[:1], mode)) for _ in range(rounds)]
    whole = [timed(lambda: execute(job, rows, mode)) for _ in range(rounds)]
    bare_us = min(floor) / count * 1e6
    ours_us = (min(whole) - min(start)) / count * 1e6
    return {
        "case": name,
        "bare_us": round(bare_us, 2),
        "scurry_us": round(ours_us, 2),
        "ratio": round(ours_us / bare_us, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression searched for in the names of cases")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--history", action="store_true", help="append to bench/history.jsonl")
    parser.add_argument("--batch", action="store_true", help="the jobs run in BATCH")
    options = parser.parse_args()
    mode = RuntimeExecutionMode.BATCH if options.batch else RuntimeExecutionMode.STREAMING
    found = []
    for name in CASES:
        if re.search(options.only, name):
            figures = measure(name, options.rows, options.rounds, mode)
            found.append(figures)
            print(
                "{case}: bare loop {bare_us} µs a record, scurry {scurry_us} µs: {ratio} x".format(**figures),
                flush=True,
            )
    if options.history:
        beside = "a bare loop, BATCH" if options.batch else "a bare loop"
        history.append({**figures, "beside": beside, "ratio": round(1 / figures["ratio"], 3)} for figures in found)


if __name__ == "__main__":
    sys.exit(main())
