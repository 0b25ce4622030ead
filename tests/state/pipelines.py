"""Pipelines with state of every kind; the savepoints in tests/fixtures/savepoint-v1 and -v2 are of some of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scurry.common import Row, Time
from scurry.common.typeinfo import Types
from scurry.datastream.functions import (
    AggregateFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
)
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.datastream.window import CountTrigger, EventTimeSessionWindows, TumblingEventTimeWindows
from scurry.runtime.savepoint.format import SourceState
from scurry.state import KeyedStateBootstrapFunction, KeyedStateReaderFunction


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, a: Any, b: Any) -> Any:
        return a[0] + b[0], a[1] + b[1]


@dataclass(frozen=True)
class Visit:
    page: str
    seconds: int
    tags: list[str] = field(default_factory=list)


COUNT = ValueStateDescriptor("count", Types.LONG())
PAGES = ListStateDescriptor("pages")
BY_PAGE = MapStateDescriptor("by_page")
TOTAL = ReducingStateDescriptor("total", lambda a, b: a + b)
MEAN = AggregatingStateDescriptor("mean", Mean())
LAST = ValueStateDescriptor("last")
LAST.enable_time_to_live(StateTtlConfig.new_builder(Time.minutes(1)).build())
RECENT = ListStateDescriptor("recent")
RECENT.enable_time_to_live(StateTtlConfig.new_builder(Time.days(36_500)).build())


class Profile(KeyedProcessFunction):
    """Keeps a visitor's visits in every way there is; yields the count at each, and at a timer a minute later."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(COUNT)
        self.pages = runtime_context.get_list_state(PAGES)
        self.by_page = runtime_context.get_map_state(BY_PAGE)
        self.total = runtime_context.get_reducing_state(TOTAL)
        self.mean = runtime_context.get_aggregating_state(MEAN)
        self.last = runtime_context.get_state(LAST)
        self.recent = runtime_context.get_list_state(RECENT)

    def process_element(self, value: Any, ctx: Any) -> Any:
        _, visit = value
        self.count.update((self.count.value() or 0) + 1)
        self.pages.add(Row(page=visit.page, seconds=visit.seconds))
        self.by_page.put(visit.page, visit)
        self.total.add(visit.seconds)
        self.mean.add(visit.seconds)
        self.last.update(visit.page)
        self.recent.add(visit.page)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60_000)
        yield ctx.get_current_key(), self.count.value()

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield "timer", ctx.get_current_key(), timestamp, self.mean.get(), list(self.pages.get())


def profiles(visits: Any) -> Any:
    return visits.key_by(lambda pair: pair[0]).process(Profile()).uid("profiles")


def windows(visits: Any) -> Any:
    tumbling = visits.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(10)))
    return tumbling.aggregate(Seconds()).uid("windows")


class Seconds(Mean):
    def add(self, value: Any, accumulator: Any) -> Any:
        return super().add(value[1], accumulator)


class Joined(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        window = context.window()
        yield key, window.start, window.end, [value for _, value in elements]


def sessions(visits: Any) -> Any:
    gaps = EventTimeSessionWindows.with_gap(Time.seconds(5))
    return visits.key_by(lambda pair: pair[0]).window(gaps).process(Joined()).uid("sessions")


def early_windows(visits: Any) -> Any:
    tumbling = visits.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(10)))
    return tumbling.trigger(CountTrigger.of(3)).process(Joined()).uid("early")


def totals(visits: Any) -> Any:
    return visits.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("totals")


PRICES = MapStateDescriptor("prices", Types.STRING(), Types.LONG())
SOLD = ValueStateDescriptor("sold")


class Revenue(KeyedBroadcastProcessFunction):
    """Multiplies what is sold by a price that is broadcast."""

    def open(self, runtime_context: Any) -> None:
        self.sold = runtime_context.get_state(SOLD)

    def process_element(self, value: Any, ctx: Any) -> Any:
        item, number = value
        self.sold.update((self.sold.value() or 0) + number)
        yield item, self.sold.value() * (ctx.get_broadcast_state(PRICES).get(item) or 0)

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        ctx.get_broadcast_state(PRICES).put(*value)
        yield from ()


def revenue(sales: Any, prices: Any) -> Any:
    return sales.key_by(lambda pair: pair[0]).connect(prices.broadcast(PRICES)).process(Revenue()).uid("revenue")


SOURCE = SourceState("Files", 3, "FileSource", 1, {"offset": 5})


class MeanAndTimers(KeyedStateReaderFunction):
    def open(self, runtime_context: Any) -> None:
        self.mean = runtime_context.get_aggregating_state(MEAN)

    def read_key(self, key: Any, ctx: Any) -> Any:
        yield key, self.mean.get(), sorted(ctx.registered_event_time_timers()), ctx.registered_processing_time_timers()


class Counts(KeyedStateBootstrapFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(COUNT)
        self.mean = runtime_context.get_aggregating_state(MEAN)

    def process_element(self, value: Any, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + value[1])
        self.mean.add(value[1])
        ctx.timer_service().register_event_time_timer(60_000)
