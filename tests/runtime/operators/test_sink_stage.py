"""What the stage of sinks does besides writing."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.common import Configuration
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ScurryError

CALLS: list[str] = []


class NotingSink(Sink):
    """Notes what is called."""

    def connect(self) -> None:
        CALLS.append("connect")

    def create_writer(self, context: WriterContext) -> SinkWriter:
        CALLS.append("create writer")
        return NotingWriter()

    def create_committer(self, sink_id: str) -> Committer:
        return NotingCommitter()


class NotingWriter(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        CALLS.append("write")

    def prepare_commit(self) -> list[Any]:
        return []


class NotingCommitter(Committer):
    def commit(self, batch_id: int, committables: Any) -> None:
        return


class Unreachable(NotingSink):
    """Cannot connect."""

    def connect(self) -> None:
        raise ValueError("no such setting")


def run(sink: Sink, elements: list[int]) -> None:
    CALLS.clear()
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    env.from_collection(elements).filter(lambda value: value > 0)._sink(sink, "noting")
    env.execute()


def test_a_sink_connects_before_its_first_record() -> None:
    run(NotingSink(), [1])
    assert CALLS[:3] == ["connect", "create writer", "write"]


def test_a_sink_without_records_connects_too() -> None:
    run(NotingSink(), [-1])
    assert "connect" in CALLS and "create writer" not in CALLS


def test_a_sink_that_refuses_to_connect_is_named() -> None:
    with pytest.raises(ScurryError, match="no such setting") as failure:
        run(Unreachable(), [1])
    assert "noting" in str(failure.value)
