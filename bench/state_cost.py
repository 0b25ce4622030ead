"""What a batch costs with little and with much state: the same 1,000 keys touched, 20 k or 2 M keys in state.

    python bench/state_cost.py [SMALL LARGE]
    python bench/state_cost.py windows [SMALL LARGE]    # open (key, window) pairs, ten per key: 10 k or 1 M
    python bench/state_cost.py join [SMALL LARGE]       # rows on each side of a join in SQL, four per key: 20 k or 2 M

Prints the median batch time of both and their ratio.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from scurry.common import Row, Types, WatermarkStrategy
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.table import StreamTableEnvironment

Job: TypeAlias = Callable[[StreamExecutionEnvironment, int], DataStream]
ROUNDS, TOUCHED = 12, 1000


class Rounds(Source):
    """First every number of a range, then rounds of as many numbers spread over another range."""

    bounded = True

    def __init__(self, loaded: range, touched: range) -> None:
        self.loaded, self.touched = loaded, touched

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return _Rounds(self.loaded, self.touched)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        sizer.size = 4096
        for at in range(0, len(work), 4096):
            yield list(work[at : at + 4096]), None


class _Rounds(Enumerator):
    def __init__(self, loaded: range, touched: range) -> None:
        self.loaded, self.touched, self.round = loaded, touched, 0

    def next_batch(self) -> list[Assignment]:
        if self.round > ROUNDS:
            return []
        step = len(self.touched) // TOUCHED
        numbers = self.touched[self.round % step :: step] if self.round else self.loaded
        self.round += 1
        return [Assignment(0, numbers, self.round > ROUNDS)]

    def position(self) -> dict[str, Any]:
        return {"round": self.round}

    def restore(self, position: dict[str, Any]) -> None:
        self.round = position["round"]


class Count(KeyedProcessFunction):
    """Counts per key."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)


def count_per_key(env: StreamExecutionEnvironment, keys: int) -> DataStream:
    """A keyed count."""
    return numbers(env, range(keys), range(keys)).key_by(lambda n: n, key_type=Types.LONG()).process(Count())


def open_windows(env: StreamExecutionEnvironment, count: int) -> DataStream:
    """Ten windows of a day per key, none of which ends before the input does."""
    day = 24 * 3600 * 1000
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(1000 * day)
    strategy = strategy.with_timestamp_assigner(lambda n, _: n % 10 * day)
    timed = numbers(env, range(count), range(count)).assign_timestamps_and_watermarks(strategy)
    windowed = timed.key_by(lambda n: n // 10, key_type=Types.LONG())
    return windowed.window(TumblingEventTimeWindows.of(day)).reduce(max).filter(lambda n: False)


def join_in_sql(env: StreamExecutionEnvironment, rows: int) -> DataStream:
    """A regular join: its sides have no key in common until the rounds add rows with the left side's keys."""
    keys = rows // 4

    def row(n: int) -> tuple[int, int, int]:
        if n < rows:
            return 1, n % keys, n
        return 2, n % keys - keys if n < 2 * rows else n - 2 * rows, n

    tables = StreamTableEnvironment.create(env)
    stream = numbers(env, range(2 * rows), range(2 * rows, 2 * rows + keys))
    types = Types.ROW_NAMED(["side", "k", "v"], [Types.INT(), Types.LONG(), Types.LONG()])
    tables.create_temporary_view("t", stream.map(lambda n: Row(*row(n)), types))
    joined = tables.sql_query(
        "SELECT l.v, r.v FROM (SELECT * FROM t WHERE side = 1) l JOIN (SELECT * FROM t WHERE side = 2) r ON l.k = r.k"
    )
    pairs: DataStream = tables.to_data_stream(joined)
    return pairs.filter(lambda _: False)


def numbers(env: StreamExecutionEnvironment, loaded: range, touched: range) -> DataStream:
    """The numbers of the rounds."""
    rounds: DataStream = env.from_source(
        Rounds(loaded, touched), WatermarkStrategy.no_watermarks(), "rounds", Types.LONG()
    )
    return rounds


JOBS = {
    "": (count_per_key, "keys in state", [20_000, 2_000_000]),
    "windows": (open_windows, "open windows", [10_000, 1_000_000]),
    "join": (join_in_sql, "rows a side", [20_000, 2_000_000]),
}


def batch_times(size: int, job: Job) -> list[float]:
    """Seconds of each round but the first and the last, in which all windows end."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    job(env, size).print()
    client: Any = env.execute_async(f"{size} keys")
    seconds: list[float] = []
    client.execution.listeners.append(lambda report: seconds.append(report.seconds))
    client.get_job_execution_result().result()
    return seconds[1:-1]


def main() -> None:
    """Measures and prints the ratio."""
    arguments = sys.argv[1:]
    job, what, sizes = JOBS[arguments.pop(0) if arguments and arguments[0] in JOBS else ""]
    small, large = map(int, arguments or sizes)
    batch_times(small, job)  # warms the JVM
    start = time.time()
    medians = [statistics.median(batch_times(size, job)[2:]) for size in (small, large)]
    print(
        f"{TOUCHED} touched: {medians[0] * 1000:.0f} ms with {small:,} {what}, "
        f"{medians[1] * 1000:.0f} ms with {large:,}: {medians[1] / medians[0]:.2f} x ({time.time() - start:.0f} s)"
    )


if __name__ == "__main__":
    main()
