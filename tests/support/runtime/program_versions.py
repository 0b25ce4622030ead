"""Programs in two versions: the first one writes state, the second one starts with it."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from scurry.datastream import DataStream
from scurry.datastream.functions import KeyedProcessFunction
from scurry.testing import Snapshot, TestHarness

KEY = "k"


class Keep(KeyedProcessFunction):
    """Does with its states what records say: (key, state, method, arguments)."""

    def __init__(self, descriptors: tuple[Any, ...], lazily: bool = False) -> None:
        self.descriptors = {descriptor.name: descriptor for descriptor in descriptors}
        self.lazily = lazily

    def open(self, runtime_context: Any) -> None:
        self.get = runtime_context.get_state
        if not self.lazily:
            for descriptor in self.descriptors.values():
                self.get(descriptor)

    def process_element(self, value: Any, ctx: Any) -> None:
        _, name, method, arguments = value
        getattr(self.get(self.descriptors[name]), method)(*arguments)


def keeping(*descriptors: Any, lazily: bool = False) -> Callable[[DataStream], DataStream]:
    """A pipeline that keeps these states."""
    return lambda stream: (
        stream.key_by(lambda value: value[0]).process(Keep(descriptors, lazily)).uid("keep").name("Keep")
    )


def written(*writes: tuple[Any, ...], processing_time: int = 0, lazily: bool = False) -> Snapshot:
    """A snapshot of a program that made calls: (descriptor, method, *arguments)."""
    descriptors = {write[0].name: write[0] for write in writes}
    with TestHarness.of(keeping(*descriptors.values(), lazily=lazily), processing_time=processing_time) as harness:
        for descriptor, method, *arguments in writes:
            harness.process((KEY, descriptor.name, method, tuple(arguments)))
        return pickle.loads(pickle.dumps(harness.snapshot()))  # type: ignore[no-any-return]


def restored(snapshot: Snapshot, *descriptors: Any, lazily: bool = False) -> TestHarness:
    """The program of some states, started with a snapshot."""
    return TestHarness.of(keeping(*descriptors, lazily=lazily), snapshot=snapshot)


def taken_over(before: Any, method: str, value: Any, after: Any) -> Any:
    """What a state holds after it was written with one descriptor and restored with another."""
    with restored(written((before, method, value)), after) as harness:
        held = harness.state(after, KEY)
        # a second restore finds nothing to do, and state that was migrated can be written
        harness.process((KEY, after.name, "clear", ()))
        return held


MODULE = "evolving_program"


@contextmanager
def program(source: str) -> Iterator[Any]:
    """A version of a program: its classes are those of the module while the context lasts."""
    module = ModuleType(MODULE)
    sys.modules[MODULE] = module
    try:
        exec("from __future__ import annotations\nfrom dataclasses import dataclass, field\n" + source, vars(module))
        yield module
    finally:
        del sys.modules[MODULE]
