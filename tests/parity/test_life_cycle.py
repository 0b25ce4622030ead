"""When functions are opened and closed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.connectors.sink import DiscardSink
from scurry.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.errors import JobError
from support.runners import Runner

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


class Noted(MapFunction):
    """Notes in a file, as a worker of Spark is another process; fails on a record."""

    def __init__(self, name: str, notes: Path, fails_at: int | None = None, in_close: bool = False) -> None:
        self.name, self.notes, self.fails_at, self.in_close = name, notes, fails_at, in_close

    def note(self, text: str) -> None:
        with open(self.notes, "a") as file:
            file.write(f"{text} {self.name}\n")

    def open(self, runtime_context: RuntimeContext) -> None:
        self.note("open")

    def map(self, value: Any) -> Any:
        if value == self.fails_at:
            raise ValueError("the record of the test")
        return value

    def close(self) -> None:
        self.note("close")
        if self.in_close:
            raise ValueError("a second failure")


@pytest.mark.parametrize("keyed", [False, True])
def test_functions_of_a_job_that_failed_are_closed_as_in_flink(runner: Runner, keyed: bool, tmp_path: Path) -> None:
    """Recorded from Flink 2.3: `open failing`, `open before`, `close before`, `close failing`."""
    notes = tmp_path / "notes"
    settings = {
        "scurry.runner": runner.name,
        "execution.runtime-mode": runner.mode,
        "restart-strategy.type": "none",
        "parallelism.default": "1",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    stream = env.from_collection([1, 2, 3, 4])
    first = (stream.key_by(lambda value: 0) if keyed else stream).map(Noted("before", notes, in_close=True))
    first.map(Noted("failing", notes, fails_at=3)).sink_to(DiscardSink())
    with pytest.raises(JobError, match="the record of the test"):
        env.execute()
    assert notes.read_text().splitlines() == ["open failing", "open before", "close before", "close failing"]


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_functions_of_a_job_that_is_cancelled_are_closed(mode: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    settings = {"scurry.runner": "local", "execution.runtime-mode": mode, "parallelism.default": "1"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    source = NumberSequenceSource(1, 10**9)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(Noted("endless", notes)).sink_to(DiscardSink())
    client = env.execute_async()
    deadline = time.monotonic() + 120
    while not notes.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    client.cancel().result()
    with pytest.raises(Exception, match="cancel"):
        client.get_job_execution_result().result()
    assert notes.read_text().splitlines() == ["open endless", "close endless"]
