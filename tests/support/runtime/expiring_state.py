"""Functions whose state has a time to live of `TTL` ms, and what is stored of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.datastream.functions import AggregateFunction, KeyedProcessFunction
from scurry.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.runtime.state.backend import Index, stored_entries
from scurry.runtime.state.runs import stored_content
from scurry.testing import TestHarness

TTL = 80
#: So long after its last access a value is gone at the latest: pages are due at multiples of an eighth of the TTL.
GONE = TTL + TTL // 8

Settings = Callable[[StateTtlConfig.Builder], StateTtlConfig.Builder]


def expiring(descriptor: Any, settings: Settings = lambda builder: builder, ttl: int = TTL) -> Any:
    descriptor.enable_time_to_live(settings(StateTtlConfig.new_builder(ttl)).build())
    return descriptor


class Total(AggregateFunction):
    """Sums numbers."""

    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + value

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


class Seen(KeyedProcessFunction):
    """Keeps for each key its last record, and all records in a list and a map; yields what it had before."""

    def __init__(self, settings: Settings = lambda builder: builder, kinds: str = "value list map") -> None:
        self.settings = settings
        self.kinds = kinds.split()

    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(expiring(ValueStateDescriptor("last"), self.settings))
        self.all = runtime_context.get_list_state(expiring(ListStateDescriptor("all"), self.settings))
        self.by_text = runtime_context.get_map_state(expiring(MapStateDescriptor("by_text"), self.settings))

    def process_element(self, value: Any, ctx: Any) -> Any:
        _, text = value
        yield self.last.value(), list(self.all.get()), dict(self.by_text.items())
        if "value" in self.kinds:
            self.last.update(text)
        if "list" in self.kinds:
            self.all.add(text)
        if "map" in self.kinds:
            self.by_text.put(text, text)


def seen(function: Any | None = None) -> Callable[[Any], Any]:
    """A pipeline of such a function, keyed by the first field."""
    return lambda pairs: pairs.key_by(lambda pair: pair[0]).process(function or Seen()).uid("seen")


def contents(harness: TestHarness) -> list[Any]:
    """What the stores of a pipeline hold: pages and indexes."""
    stores = harness._levels.stores.values()
    return [stored_content(blob) for store in stores for (_, kind, _), blob in store.items() if kind == "page"]


def stored(harness: TestHarness) -> dict[Any, Any]:
    """The entries of all keys that have one, also of keys whose entry is empty."""
    stores = harness._levels.stores.values()
    uids = {uid for store in stores for uid, _, _ in store}
    return {key: entry for store in stores for uid in uids for key, entry in stored_entries(uid, store).items()}


def splits(harness: TestHarness) -> int:
    """How many pages have split."""
    return sum(len(content.splits) for content in contents(harness) if isinstance(content, Index))
