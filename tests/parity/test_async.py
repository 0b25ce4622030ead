"""Asynchronous calls on every runner."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from scurry.common.time import Time
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkGenerator, WatermarkStrategy
from scurry.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    DataStream,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.async_retry_predicates import has_exception_predicate
from support.runners import Runner


class Lookup(AsyncFunction[Any, Any]):
    """Takes the longer the smaller the number is; knows how many calls were in flight."""

    def open(self, runtime_context: Any) -> None:
        self.in_flight = 0
        self.full = asyncio.Event()

    async def async_invoke(self, value: int) -> list[tuple[int, int]]:
        self.in_flight += 1
        together = self.in_flight
        if together == 10:
            self.full.set()
        await asyncio.wait_for(self.full.wait(), 60)  # the first calls end when there are ten
        await asyncio.sleep(0.02 if value < 10 else 0.01)
        self.in_flight -= 1
        return [(value, together)]


class Flaky(AsyncFunction[Any, Any]):
    """The first call for an odd number fails; those for 0 take for ever."""

    def open(self, runtime_context: Any) -> None:
        self.seen: set[int] = set()

    async def async_invoke(self, value: int) -> list[Any]:
        if value == 0:
            await asyncio.sleep(1_000)
        if value % 2 and value not in self.seen:
            self.seen.add(value)
            raise ConnectionError("try again")
        return [value]

    def timeout(self, value: int) -> list[Any]:
        return ["timeout"]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_ordered_results_keep_their_order_though_calls_overlap(runner: Runner, parallelism: int) -> None:
    def program(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        return {"out": AsyncDataStream.ordered_wait(env.from_collection(range(30)), Lookup(), Time.seconds(60), 10)}

    results = runner.run(program, parallelism)["out"]
    assert [value for value, _ in results] == list(range(30))
    assert max(together for _, together in results) == 10


@pytest.mark.parametrize("parallelism", [1, 2])
def test_calls_are_retried_and_may_time_out_behind_an_exchange(runner: Runner, parallelism: int) -> None:
    def program(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        strategy = AsyncRetryStrategy.fixed_delay(1, 10, None, has_exception_predicate)
        keyed = env.from_collection(range(6)).key_by(lambda value: value % 3)
        return {"out": AsyncDataStream.unordered_wait_with_retry(keyed, Flaky(), Time.seconds(1), strategy)}

    results = runner.run(program, parallelism)["out"]
    assert sorted(results, key=str) == [1, 2, 3, 4, 5, "timeout"]


# ------------------------------------------------------------------ watermarks


class ByValue(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class AfterEachTen(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        if event % 10 == 0:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: Any) -> None:
        return


class SlowAtFirst(AsyncFunction[Any, Any]):
    """Within ten records, calls end in reverse order."""

    async def async_invoke(self, value: int) -> list[int]:
        await asyncio.sleep(0.005 * (10 - value % 10))
        return [value]


class WithWatermark(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


def test_unordered_results_never_cross_a_watermark() -> None:
    def program(env: StreamExecutionEnvironment) -> dict[str, DataStream]:
        strategy = WatermarkStrategy.for_generator(AfterEachTen).with_timestamp_assigner(ByValue())
        stamped = env.from_collection(range(1, 31)).assign_timestamps_and_watermarks(strategy)
        results = AsyncDataStream.unordered_wait(stamped, SlowAtFirst(), Time.seconds(60))
        return {"out": results.process(WithWatermark())}

    results = Runner("local", "STREAMING").run(program)["out"]
    values = [value for value, _, _ in results]
    assert [sorted(values[at : at + 10]) for at in (0, 10, 20)] == [[*range(at, at + 10)] for at in (1, 11, 21)]
    assert values != sorted(values)
    for value, timestamp, watermark in results[10:]:
        assert timestamp == value
        assert watermark == (value - 1) // 10 * 10
