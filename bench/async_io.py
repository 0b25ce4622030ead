"""Asynchronous calls against calls one by one: a service that answers after 10 ms, asked once per record.

PYTHONPATH=src python bench/async_io.py [RECORDS] [CAPACITY] [RUNNER]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable

from scurry.common import Configuration, Time
from scurry.connectors.sink import DiscardSink
from scurry.datastream import AsyncDataStream, AsyncFunction, DataStream, MapFunction, StreamExecutionEnvironment

LATENCY = 0.01


class Ask(AsyncFunction[int, int]):
    async def async_invoke(self, value: int) -> list[int]:
        await asyncio.sleep(LATENCY)
        return [value]


class AskAndWait(MapFunction):
    def map(self, value: int) -> int:
        time.sleep(LATENCY)
        return value


def rate(records: int, runner: str, ask: Callable[[DataStream], DataStream]) -> float:
    """Records per second of the job proper: Spark's start does not count."""
    configuration = Configuration()
    configuration.set_string("scurry.runner", runner)
    configuration.set_string("scurry.progress", "off")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    ask(env.from_collection(range(records))).sink_to(DiscardSink())
    return records / env.execute("async_io").get_net_runtime() * 1000


def main(records: int = 20_000, capacity: int = 100, runner: str = "local") -> None:
    one_by_one = rate(max(records // capacity, 100), runner, lambda stream: stream.map(AskAndWait()))
    print(f"one by one      {one_by_one:8,.0f} records/s")
    for name, wait in (("ordered", AsyncDataStream.ordered_wait), ("unordered", AsyncDataStream.unordered_wait)):
        together = rate(records, runner, lambda stream, wait=wait: wait(stream, Ask(), Time.seconds(10), capacity))
        print(f"{name:9} {capacity:5} {together:8,.0f} records/s, {together / one_by_one:.0f} times as many")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(*map(int, arguments[:2]), *arguments[2:])
