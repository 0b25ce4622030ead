"""What type checkers infer for shortcuts; `test_typing.py` runs mypy on this directory, nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_type

from scurry.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.data_stream import DataStreamSink
from scurry.datastream.decorators import StatefulFunction, process
from scurry.datastream.state import ValueState


@dataclass
class Click:
    user: str
    amount: int


@process
def count(
    value: Click, ctx: KeyedProcessFunction.Context[str], number: ValueState[int]
) -> Iterator[tuple[str, int | None]]:
    yield ctx.get_current_key(), number.value()


env = StreamExecutionEnvironment.get_execution_environment()
clicks = env.read_json("in", Click)
assert_type(clicks, DataStream[Click])
assert_type(env.read_csv("in", Click), DataStream[Click])
assert_type(env.read_parquet("in", Click), DataStream[Click])
assert_type(env.read_kafka("localhost:9092", "clicks", Click), DataStream[Click])
assert_type(count, StatefulFunction[str, Click, tuple[str, int | None]])
assert_type(clicks.key_by(lambda click: click.user).process(count), DataStream[tuple[str, int | None]])
assert_type(clicks.write_parquet("out", Click), DataStreamSink)
