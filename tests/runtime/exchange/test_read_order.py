"""Records of several tasks meet in the order in which they were read, also where nothing watches time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import CoFlatMapFunction


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": "STREAMING"})
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


EARLY = threading.Event()


@pytest.fixture(autouse=True)
def _nothing_read() -> None:
    EARLY.clear()


def slow(value: Any) -> Any:
    """Takes longer than the other source."""
    assert EARLY.wait(60)
    time.sleep(0.3)  # longer than a segment, within which the order of records of several tasks is open
    return value


def quick(value: Any) -> Any:
    EARLY.set()
    return value


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as results:
        return list(results)


class Tagged(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Iterator[Any]:
        yield "first", value

    def flat_map2(self, value: Any) -> Iterator[Any]:
        yield "second", value


def test_the_second_input_comes_first_if_it_was_read_first() -> None:
    env = environment()
    late, early = env.from_collection([1]).map(slow), env.from_collection(["on"]).map(quick)
    assert collected(late.connect(early).flat_map(Tagged())) == [("second", "on"), ("first", 1)]


def test_keyed_inputs_meet_in_that_order_too() -> None:
    env = environment()
    late, early = env.from_collection([1]).map(slow), env.from_collection([2]).map(quick)
    keyed = late.connect(early).key_by(lambda value: 0, lambda value: 0)
    assert collected(keyed.flat_map(Tagged())) == [("second", 2), ("first", 1)]


def test_so_do_the_streams_of_a_union() -> None:
    env = environment()
    late, early = env.from_collection([1]).map(slow), env.from_collection([2]).map(quick)
    assert collected(late.union(early).key_by(lambda value: 0).reduce(lambda a, b: a * 10 + b)) == [2, 21]
