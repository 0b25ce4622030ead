"""Which jobs on Spark close functions in all workers when they end."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.connectors.sink import DiscardSink
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.functions import MapFunction
from scurry.spark.streaming.stages import has_close
from scurry.table import DataTypes, StreamTableEnvironment
from scurry.table.udf import ScalarFunction, udf


class Plain(MapFunction):
    def map(self, value: Any) -> Any:
        return value


class Closing(Plain):
    def close(self) -> None:
        """Close nothing."""


class ClosingScalar(ScalarFunction):
    def eval(self, n: int) -> int:
        return n

    def close(self) -> None:
        """Close nothing."""


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


def closes(env: StreamExecutionEnvironment, stream: Any) -> bool:
    stream._sink(DiscardSink(), "sink")
    return any(has_close(each.operator) for each in env._plan("job").operators.values())


def test_functions_without_close_and_sinks_need_no_closing(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1, 2])
    assert not closes(env, numbers.map(Plain()).key_by(lambda n: n).map(Plain()).filter(lambda n: n > 1))


def test_a_function_with_close_needs_it(env: StreamExecutionEnvironment) -> None:
    assert closes(env, env.from_collection([1]).map(Closing()))


def test_a_function_within_an_adapter_needs_it(env: StreamExecutionEnvironment) -> None:
    assert closes(env, env.from_collection([1]).key_by(lambda n: n).map(Closing()))


def test_a_query_needs_it_if_it_calls_a_function_of_the_user(env: StreamExecutionEnvironment) -> None:
    tables = StreamTableEnvironment.create(env)
    tables.create_temporary_function("f", udf(ClosingScalar(), result_type=DataTypes.BIGINT()))
    assert not closes(env, tables.to_data_stream(tables.sql_query("SELECT n + 1 FROM (VALUES (1)) AS t(n)")))
    assert closes(env, tables.to_data_stream(tables.sql_query("SELECT f(n) FROM (VALUES (1)) AS t(n)")))
