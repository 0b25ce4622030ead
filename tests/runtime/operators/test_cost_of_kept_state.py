"""What a micro-batch decodes and encodes of a key does not grow with what is kept of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common import Time, Types
from scurry.datastream import DataStream, KeyedProcessFunction, ProcessJoinFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig
from scurry.datastream.window import ContinuousEventTimeTrigger, SlidingEventTimeWindows, TumblingEventTimeWindows
from scurry.runtime.state import backend, layout, run_groups, writing
from support.runtime.divided_state import dividing_early
from support.runtime.scripted_pipeline import Driven, Record

#: The records of a batch, in many parts; so many are kept in the first run, and ten times as many in the second.
KEPT = 200
#: Those of states, whose parts share pages: more than a page has.
KEPT_IN_STATES = 2_000

#: How much the bytes may grow: those of directories do, by a byte or two for each record.
GROWTH = 2.0


class Counted:
    """In place of the module `pickle`: counts the bytes of keyed state that are decoded and encoded."""

    def __init__(self) -> None:
        self.bytes = 0

    def dumps(self, value: Any, protocol: int) -> bytes:
        blob = pickle.dumps(value, protocol)
        self.bytes += len(blob)
        return blob

    def loads(self, blob: bytes) -> Any:
        self.bytes += len(blob)
        return pickle.loads(blob)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counter = Counted()
    for module in (backend, layout, run_groups, writing):
        monkeypatch.setattr(module, "pickle", counter)
    return counter


def added(one: Any, other: Any) -> Any:
    return one[0], one[1] + other[1]


def keyed(stream: DataStream) -> Any:
    return stream.key_by(lambda value: value[0])


class Pairs(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        return [(left[1], right[1])]


TTL = StateTtlConfig.new_builder(Time.days(1)).build()


class Keeping(KeyedProcessFunction):
    def __init__(self, ttl: StateTtlConfig | None = None) -> None:
        self.ttl = ttl

    def described(self, descriptor: Any) -> Any:
        if self.ttl is not None:
            descriptor.enable_time_to_live(self.ttl)
        return descriptor


class Lists(Keeping):
    def open(self, runtime_context: Any) -> None:
        self.state = runtime_context.get_list_state(self.described(ListStateDescriptor("all", Types.LONG())))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.state.add(value[1])


class Maps(Keeping):
    def open(self, runtime_context: Any) -> None:
        described = self.described(MapStateDescriptor("all", Types.LONG(), Types.LONG()))
        self.state = runtime_context.get_map_state(described)

    def process_element(self, value: Any, ctx: Any) -> None:
        self.state.put(ctx.timestamp(), value[1])


class Timers(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 5)


def joined(left: DataStream, right: DataStream) -> DataStream:
    return keyed(left).interval_join(keyed(right)).between(-2, 2).process(Pairs())  # type: ignore[no-any-return]


FLAT: dict[str, Callable[..., DataStream]] = {
    "tumbling windows": lambda s: keyed(s).window(TumblingEventTimeWindows.of(Time.milliseconds(1))).reduce(added),
    "sliding windows": lambda s: (
        keyed(s).window(SlidingEventTimeWindows.of(Time.milliseconds(4), Time.milliseconds(1))).reduce(added)
    ),
    "windows over all": lambda s: s.window_all(TumblingEventTimeWindows.of(Time.milliseconds(1))).reduce(added),
    "interval join": joined,
    "list state": lambda s: keyed(s).process(Lists()),
    "map state": lambda s: keyed(s).process(Maps()),
    "list state with a time to live": lambda s: keyed(s).process(Lists(TTL)),
    "map state with a time to live": lambda s: keyed(s).process(Maps(TTL)),
}

#: What still costs as much as is kept: each keeps its state of a key in one entry.
NOT_YET: dict[str, Callable[..., DataStream]] = {
    "windows with another trigger": lambda s: (
        keyed(s)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(1)))
        .trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(1)))
        .reduce(added)
    ),
    "elements of a window": lambda s: (
        keyed(s).window(TumblingEventTimeWindows.of(Time.days(1))).apply(lambda key, window, elements: [len(elements)])
    ),
    "timers": lambda s: keyed(s).process(Timers()),
}


def bytes_of_a_batch(build: Callable[..., DataStream], kept: int, counted: Counted) -> int:
    """Return how many bytes a batch of a few records decodes and encodes, beside those of so many records."""
    subject = Driven(build)
    inputs = (0, 1) if build is joined else (0,)
    for start in range(0, kept, KEPT):
        subject.feed(Record(("k", 1), time, number) for time in range(start, start + KEPT) for number in inputs)
    counted.bytes = 0
    subject.feed(Record(("k", 1), time, number) for time in (kept // 2, kept + 1) for number in inputs)
    return counted.bytes


@pytest.mark.parametrize(
    "name",
    [*FLAT, *(pytest.param(name, marks=pytest.mark.xfail(reason="kept in one entry")) for name in NOT_YET)],
)
def test_a_batch_costs_what_it_touches_of_a_key(name: str, counted: Counted) -> None:
    build = {**FLAT, **NOT_YET}[name]
    number, per_part = (KEPT_IN_STATES, 128) if "state" in name else (KEPT, 8)
    with dividing_early(windows=16, per_part=per_part, records=4 * per_part):
        few, many = (bytes_of_a_batch(build, kept, counted) for kept in (number, 10 * number))
    assert 0 < many < GROWTH * few
