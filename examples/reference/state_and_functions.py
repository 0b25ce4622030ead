"""State of keys, broadcast state, time to live, and asynchronous functions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scurry.common import Time, Types, WatermarkStrategy
from scurry.common.state_migration import evolves
from scurry.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
    TimeDomain,
)
from scurry.datastream.decorators import asynchronous, process
from scurry.datastream.functions import (
    AggregateFunction,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
    KeyedStateFunction,
    RuntimeContext,
)
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueState,
    ValueStateDescriptor,
)

env = StreamExecutionEnvironment.get_execution_environment()
in_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[1])


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


# Time to live

ttl = (
    StateTtlConfig.new_builder(Time.hours(1))
    .set_ttl(Time.hours(2))
    .update_ttl_on_create_and_write()
    .update_ttl_on_read_and_write()
    .set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)
    .return_expired_if_not_cleaned_up()
    .never_return_expired()
    .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
    .use_processing_time()
    .set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)
    .cleanup_full_snapshot()
    .cleanup_incrementally(10, False)
    .cleanup_in_rocksdb_compact_filter(1000)
    .disable_cleanup_in_background()
    .build()
)
assert ttl.is_enabled()
assert ttl.get_ttl().to_milliseconds() == 7_200_000
assert ttl.get_update_type() == StateTtlConfig.UpdateType.OnCreateAndWrite
assert ttl.get_state_visibility() == StateTtlConfig.StateVisibility.NeverReturnExpired
assert ttl.get_ttl_time_characteristic() == StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
assert ttl.get_cleanup_strategies().in_full_snapshot()

# State of a key


class Mean(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
        return a[0] + b[0], a[1] + b[1]


last = ValueStateDescriptor("last", Types.LONG())
last.enable_time_to_live(ttl)
last.with_migration(convert=lambda old: old * 1000, version=1)  # it was seconds before
assert last.get_name() == "last"
total = ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
assert total.get_reduce_function() is not None
mean = AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
assert mean.get_agg_function() is not None


class AllKinds(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(last)
        self.all = runtime_context.get_list_state(ListStateDescriptor("all", Types.LONG()))
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.LONG(), Types.LONG()))
        self.total = runtime_context.get_reducing_state(total)
        self.mean = runtime_context.get_aggregating_state(mean)

    def process_element(self, value: tuple[str, int], ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        number = value[1]
        self.last.update(number)
        assert self.last.value() == number

        self.all.add(number)
        self.all.add_all([number])
        assert list(self.all.get())[-2:] == [number, number]
        self.all.update(sorted(self.all)[-2:])

        self.counts.put(number, (self.counts.get(number) or 0) + 1)
        self.counts.put_all({-1: 0})
        assert self.counts.contains(-1)
        self.counts.remove(-1)
        assert set(self.counts.keys()) == dict(self.counts.items()).keys()
        assert sum(self.counts.values()) > 0
        assert not self.counts.is_empty()

        self.total.add(number)
        self.mean.add(number)
        yield ctx.get_current_key(), self.total.get(), self.mean.get()
        if number == 0:
            self.all.clear()


numbers = env.from_collection([("a", 3), ("a", 5), ("b", 0)])
assert results(numbers.key_by(lambda n: n[0]).process(AllKinds())) == [("a", 3, 3.0), ("a", 8, 4.0), ("b", 0, 0.0)]


@evolves(renamed={"name": "customer"})
@dataclass
class Order:
    """State that holds orders of the earlier program, whose field was called `name`, is restored."""

    customer: str
    amount: int


@process
def spent(order: Order, ctx: KeyedProcessFunction.Context, so_far: ValueState[int]) -> Iterator[str]:
    so_far.update((so_far.value() or 0) + order.amount)
    yield f"{order.customer} {so_far.value()}"


orders = env.from_collection([Order("ann", 2), Order("ann", 3)])
assert results(orders.key_by(lambda order: order.customer).process(spent)) == ["ann 2", "ann 5"]

# Broadcast state

rules_state = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class AboveLimit(BroadcastProcessFunction):
    """Events above the limit that a stream of rules sets."""

    def process_broadcast_element(self, value: tuple[str, int], ctx: BroadcastProcessFunction.Context) -> None:
        rules = ctx.get_broadcast_state(rules_state)
        rules.put(value[0], value[1])
        rules.put_all({"other": 1})
        rules.remove("other")
        assert ctx.current_processing_time() > 0

    def process_element(self, value: tuple[str, int], ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterator[str]:
        rules = ctx.get_broadcast_state(rules_state)
        assert rules.is_empty() or set(rules.keys()) == {"limit"} == set(dict(rules.items()))
        assert ctx.timestamp() is not None
        assert ctx.current_watermark() < 10**15
        if not rules.contains("limit") or value[1] > (rules.get("limit") or 0):
            yield value[0]
        assert all(limit == 1 for limit in rules.values())


class Amounts(KeyedStateFunction):
    def process(self, key: str, state: ValueState) -> None:
        state.update(0)


class Reset(KeyedBroadcastProcessFunction):
    """Count by key; the broadcast stream sets all counts back."""

    count = ValueStateDescriptor("count", Types.INT())

    def open(self, runtime_context: RuntimeContext) -> None:
        self.counted = runtime_context.get_state(self.count)

    def process_broadcast_element(self, value: Any, ctx: KeyedBroadcastProcessFunction.Context) -> None:
        ctx.get_broadcast_state(rules_state).put(value[0], value[1])
        ctx.apply_to_keyed_state(self.count, Amounts())

    def process_element(self, value: Any, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> None:
        self.counted.update((self.counted.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(value[1] + 10)
        assert ctx.get_current_key() == value[0]

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Iterator[str]:
        assert ctx.time_domain() == TimeDomain.EVENT_TIME
        yield f"{ctx.get_current_key()} at {timestamp}"


events = env.from_collection([("a", 2), ("b", 3)]).assign_timestamps_and_watermarks(in_time)
rules = env.from_collection([("limit", 1)]).assign_timestamps_and_watermarks(in_time).broadcast(rules_state)
assert sorted(results(events.connect(rules).process(AboveLimit()))) == ["a", "b"]
keyed = events.key_by(lambda event: event[0]).connect(rules)
assert sorted(results(keyed.process(Reset()))) == ["a at 12", "b at 13"]

# Asynchronous functions


class Price(AsyncFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.prices = {"apple": 2}
        self.asked = 0

    async def async_invoke(self, value: str) -> list[int]:
        self.asked += 1
        await asyncio.sleep(0.001 if self.asked > 1 else 1.0)  # the first request is not answered in time
        return [self.prices[value]]

    def timeout(self, value: str) -> list[int]:
        return [-1]

    def close(self) -> None:
        self.prices.clear()


class OnTimeout(AsyncRetryPredicate):
    def result_predicate(self) -> Any:
        return lambda found: found == [-1]

    def exception_predicate(self) -> Any:
        return lambda error: isinstance(error, ConnectionError)


class Twice(AsyncRetryStrategy):
    """Ask once more, after a millisecond."""

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= 2

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return 1

    def get_retry_predicate(self) -> AsyncRetryPredicate:
        return OnTimeout()


@asynchronous
async def length(word: str) -> int:
    return len(word)


fruits = env.from_collection(["apple"])
assert results(AsyncDataStream.ordered_wait(fruits, length, timeout=1_000)) == [5]
assert results(AsyncDataStream.unordered_wait(fruits, Price(), timeout=20)) == [-1]
fixed = AsyncRetryStrategy.fixed_delay(3, 1, None, lambda error: True)
growing = AsyncRetryStrategy.exponential_backoff(3, 1, 100, 2.0, None, lambda error: True)
assert not AsyncRetryStrategy.no_restart().can_retry(1)
assert results(AsyncDataStream.ordered_wait_with_retry(fruits, length, 1_000, fixed)) == [5]
assert results(AsyncDataStream.unordered_wait_with_retry(fruits, length, 1_000, growing)) == [5]


class OnceUnreachable(AsyncFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.attempts = 0

    async def async_invoke(self, value: str) -> list[int]:
        self.attempts += 1
        if self.attempts < 2:
            raise ConnectionError
        return [self.attempts]


assert results(AsyncDataStream.ordered_wait_with_retry(fruits, OnceUnreachable(), 1_000, Twice())) == [2]
