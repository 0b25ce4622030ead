"""Print, collect and function sinks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from scurry.common.typeinfo import Types
from scurry.connectors.collect_sink import CollectSink
from scurry.connectors.function_sink import FunctionSink, SinkContext
from scurry.connectors.print_sink import PrintSink
from scurry.connectors.sink import WriterContext
from scurry.errors import ArgumentTypeError

Write = Callable[..., list[Any]]


class TestPrint:
    @pytest.mark.parametrize(
        ("identifier", "tasks", "printed"),
        [
            (None, [["a"]], "a\n"),
            ("id", [["a"]], "id> a\n"),
            (None, [["a"], ["b"]], "1> a\n2> b\n"),
            ("id", [["a"], ["b"]], "id:1> a\nid:2> b\n"),
        ],
    )
    def test_prefixes_lines_as_flink_does(
        self, write: Write, capsys: pytest.CaptureFixture[str], identifier: str | None, tasks: Any, printed: str
    ) -> None:
        sink = PrintSink(identifier)
        sink.create_committer("s").commit(0, write(sink, 0, tasks))
        assert capsys.readouterr().out == printed

    def test_shows_values_as_their_declared_type_does(self, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
        sink = PrintSink()
        sink.create_committer("s").commit(0, write(sink, 0, [[True]], input_type=Types.BOOLEAN()))
        sink.create_committer("s").commit(1, write(sink, 1, [[True]]))
        assert capsys.readouterr().out == "true\nTrue\n"

    def test_sends_nothing_for_no_records(self, write: Write) -> None:
        assert write(PrintSink(), 0, [[]]) == []


class TestCollect:
    def test_hands_over_the_records_of_a_batch_once(self, write: Write) -> None:
        got: list[Any] = []
        sink = CollectSink(got.extend)
        committer = sink.create_committer("s")
        blocks = write(sink, 0, [["a"], ["b"]])
        committer.commit(0, blocks)
        committer.commit(0, blocks)
        assert got == ["a", "b"]

    def test_leaves_its_consumer_on_the_driver(self) -> None:
        shipped = pickle.loads(pickle.dumps(CollectSink(lambda values: None)))
        with pytest.raises(RuntimeError):
            shipped.create_committer("s")


CALLS: list[Any] = []


class Recorder:
    def open(self) -> None:
        CALLS.append("open")

    def invoke(self, value: Any, context: SinkContext) -> None:
        CALLS.append((value, context.timestamp(), context.current_processing_time() > 0))

    def close(self) -> None:
        CALLS.append("close")


class TestFunction:
    def test_is_called_for_every_record(self, write: Write) -> None:
        got: list[Any] = []
        writer = FunctionSink(got.append).create_writer(WriterContext(0, 1, 0, "s"))
        writer.write([1, 2])
        assert (writer.prepare_commit(), got) == ([], [1, 2])

    def test_may_be_an_object_that_is_opened_and_closed(self) -> None:
        CALLS.clear()
        writer = FunctionSink(Recorder()).create_writer(WriterContext(0, 1, 0, "s"))
        writer.write(["a"], [5])
        writer.write(["b"])
        writer.prepare_commit()
        assert CALLS == ["open", ("a", 5, True), ("b", None, True), "close"]

    def test_is_closed_when_the_task_fails(self) -> None:
        CALLS.clear()
        FunctionSink(Recorder()).create_writer(WriterContext(0, 1, 0, "s")).abort()
        assert CALLS == ["open", "close"]

    def test_must_be_callable(self) -> None:
        with pytest.raises(ArgumentTypeError, match="invoke"):
            FunctionSink(7)
