"""The state processor: savepoints are written and read without a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scurry.common import Time, Types
from scurry.datastream.functions import AggregateFunction, ProcessWindowFunction, RuntimeContext, WindowFunction
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import CountEvictor, CountTrigger, TumblingEventTimeWindows
from scurry.state import (
    BroadcastStateBootstrapFunction,
    KeyedStateBootstrapFunction,
    KeyedStateReaderFunction,
    OperatorTransformation,
    SavepointMetadata,
    SavepointReader,
    SavepointWriter,
)

count = ValueStateDescriptor("count", Types.LONG())
prices = MapStateDescriptor("prices", Types.STRING(), Types.LONG())

# Writing


class CountVisits(KeyedStateBootstrapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(count)

    def process_element(self, value: tuple[str, int], ctx: KeyedStateBootstrapFunction.Context) -> None:
        assert ctx.get_current_key() == value[0]
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1_000)


class Prices(BroadcastStateBootstrapFunction):
    def process_element(self, value: tuple[str, int], ctx: BroadcastStateBootstrapFunction.Context) -> None:
        assert ctx.current_processing_time() > 0
        ctx.get_broadcast_state(prices).put(*value)


visits = OperatorTransformation.bootstrap_with([("ann", 1), ("bob", 2), ("ann", 3)])
in_time = visits.assign_timestamps(lambda visit: visit[1])
by_user = in_time.key_by(lambda visit: visit[0])
counted = by_user.transform(CountVisits())
stock = OperatorTransformation.keyed_state([("tea", {"left": 7})])
price_list = OperatorTransformation.bootstrap_with([("tea", 3)]).transform(Prices())
fixed_prices = OperatorTransformation.broadcast_state({"prices": {"tea": 3}})
longest = by_user.reduce(lambda a, b: max(a, b))
assert not counted.from_spark

windows = by_user.window(TumblingEventTimeWindows.of(Time.seconds(1)))


class Number(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Users(WindowFunction):
    def apply(self, key: str, window: Any, inputs: Iterable[Any]) -> Iterator[str]:
        yield key


class UsersWithContext(ProcessWindowFunction):
    def process(self, key: str, context: ProcessWindowFunction.Context, elements: Iterable[Any]) -> Iterator[str]:
        yield key


sums = windows.allowed_lateness(0).reduce(lambda a, b: (a[0], a[1] + b[1]))
numbers = by_user.window(TumblingEventTimeWindows.of(Time.seconds(1))).aggregate(Number())
users = by_user.window(TumblingEventTimeWindows.of(Time.seconds(1))).trigger(CountTrigger.of(2)).apply(Users())
latest = by_user.window(TumblingEventTimeWindows.of(Time.seconds(1))).evictor(CountEvictor.of(1))
writer = (
    SavepointWriter.new_savepoint(max_parallelism=128)
    .with_operator("visits", counted)
    .with_operator("stock", stock, price_list)
    .with_operator("fixed", stock, fixed_prices)
    .with_operator("longest", longest)
    .with_operator("sums", sums)
    .with_operator("numbers", numbers)
    .with_operator("users", users)
    .with_operator("latest", latest.process(UsersWithContext()))
)
path = writer.write("savepoint")

# Reading


class Timers(KeyedStateReaderFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(count)

    def read_key(self, key: str, ctx: KeyedStateReaderFunction.Context) -> Iterator[Any]:
        assert list(ctx.registered_processing_time_timers()) == []
        yield key, self.count.value(), list(ctx.registered_event_time_timers())


savepoint = SavepointReader.read(path)
assert dict(savepoint.keyed_state("visits", count)) == {"ann": {"count": 2}, "bob": {"count": 1}}
assert sorted(savepoint.read_keyed_state("visits", Timers())) == [("ann", 2, [1001, 1003]), ("bob", 1, [1002])]
assert sorted(timer.time for timer in savepoint.timers("visits")) == [1001, 1002, 1003]
assert savepoint.broadcast_state("stock", "prices") == {"tea": 3}
assert list(savepoint.broadcast_states("fixed")) == ["prices"]
assert {key: contents for key, _, contents, _ in savepoint.window_state("sums")} == {
    "ann": ("ann", 4),
    "bob": ("bob", 2),
}
text = savepoint.metadata.to_json()
assert SavepointMetadata.from_json(text, "here").to_json() == text

# Changing

changed = SavepointWriter.from_existing_savepoint(path).remove_operator("users").change_operator_uid("visits", "users")
assert dict(SavepointReader.read(changed.write("changed")).keyed_state("users"))["ann"] == {"count": 2}
