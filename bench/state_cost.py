"""What a batch costs with little and with much state: the same 1,000 keys touched, 20 k or 2 M keys in state.

    python bench/state_cost.py [SMALL LARGE]
    python bench/state_cost.py windows [SMALL LARGE]    # open (key, window) pairs, ten per key: 10 k or 1 M

Prints the median batch time of both and their ratio.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from scurry.common import Types, WatermarkStrategy
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, RuntimeContext
from scurry.datastream.state import ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows

ROUNDS, TOUCHED = 12, 1000


class Rounds(Source):
    """First every key once, then rounds that touch the same number of keys spread over all of them."""

    bounded = True

    def __init__(self, keys: int) -> None:
        self.keys = keys

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return _Rounds(self.keys)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        start, stop, step = work
        sizer.size = 4096
        keys = range(start, stop, step)
        for at in range(0, len(keys), 4096):
            yield list(keys[at : at + 4096]), None


class _Rounds(Enumerator):
    def __init__(self, keys: int) -> None:
        self.keys, self.round = keys, 0

    def next_batch(self) -> list[Assignment]:
        if self.round > ROUNDS:
            return []
        step = 1 if self.round == 0 else self.keys // TOUCHED
        self.round += 1
        return [Assignment(0, (self.round % step if step > 1 else 0, self.keys, step), self.round > ROUNDS)]

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


def count_per_key(numbers: Any) -> Any:
    """A keyed count."""
    return numbers.key_by(lambda n: n, key_type=Types.LONG()).process(Count())


def open_windows(numbers: Any) -> Any:
    """Ten windows of a day per key, none of which ends before the input does."""
    day = 24 * 3600 * 1000
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(1000 * day)
    strategy = strategy.with_timestamp_assigner(lambda n, _: n % 10 * day)
    windowed = numbers.assign_timestamps_and_watermarks(strategy).key_by(lambda n: n // 10, key_type=Types.LONG())
    return windowed.window(TumblingEventTimeWindows.of(day)).reduce(max).filter(lambda n: False)


def batch_times(keys: int, job: Callable[[Any], Any]) -> list[float]:
    """Seconds of each round but the first and the last, in which all windows end."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    numbers = env.from_source(Rounds(keys), WatermarkStrategy.no_watermarks(), "rounds")
    job(numbers).print()
    client: Any = env.execute_async(f"{keys} keys")
    seconds: list[float] = []
    client.execution.listeners.append(lambda report: seconds.append(report.seconds))
    client.get_job_execution_result().result()
    return seconds[1:-1]


def main() -> None:
    """Measures and prints the ratio."""
    arguments = sys.argv[1:]
    windows = arguments[:1] == ["windows"]
    job, what = (open_windows, "open windows") if windows else (count_per_key, "keys in state")
    sizes = arguments[windows:] or (["10000", "1000000"] if windows else ["20000", "2000000"])
    small, large = map(int, sizes)
    batch_times(small, job)  # warms the JVM
    start = time.time()
    medians = [statistics.median(batch_times(size, job)[2:]) for size in (small, large)]
    print(
        f"{TOUCHED} touched: {medians[0] * 1000:.0f} ms with {small:,} {what}, "
        f"{medians[1] * 1000:.0f} ms with {large:,}: {medians[1] / medians[0]:.2f} x ({time.time() - start:.0f} s)"
    )


if __name__ == "__main__":
    main()
