"""When functions are opened and closed."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration
from scurry.connectors.sink import DiscardSink
from scurry.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment

EVENTS: list[str] = []


class Traced(MapFunction):
    def __init__(self, name: str) -> None:
        self.name = name

    def open(self, runtime_context: RuntimeContext) -> None:
        EVENTS.append(f"open {self.name}")

    def map(self, value: Any) -> Any:
        EVENTS.append(f"map {self.name}")
        return value

    def close(self) -> None:
        EVENTS.append(f"close {self.name}")


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
@pytest.mark.parametrize("keyed", [False, True])
def test_a_chain_is_opened_from_its_end_and_closed_from_its_beginning(mode: str, keyed: bool) -> None:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("execution.runtime-mode", mode)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    stream = env.from_collection([1])
    first = (stream.key_by(lambda value: value) if keyed else stream).map(Traced("1"))
    first.map(Traced("2")).map(Traced("3")).sink_to(DiscardSink())
    EVENTS.clear()
    env.execute()
    opened, mapped, closed = (EVENTS[at : at + 3] for at in (0, 3, 6))
    assert opened == ["open 3", "open 2", "open 1"]
    assert mapped == ["map 1", "map 2", "map 3"]
    assert closed == ["close 1", "close 2", "close 3"]
