"""Asynchronous scalar functions: their options are Flink's `table.exec.async-scalar`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from scurry.errors import JobError
from scurry.table import AsyncScalarFunction, EnvironmentSettings, FunctionContext, TableEnvironment
from scurry.table.udf import udf

VALUES = "(VALUES (1), (2), (3)) t(i)"


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("scurry.runner", "local").set("parallelism.default", "1")
    return made


def rows(env: TableEnvironment, query: str) -> list[Any]:
    with env.execute_sql(query).collect() as found:
        return [row[0] for row in found]


def option(env: TableEnvironment, name: str, value: str) -> None:
    env.get_config().set(f"table.exec.async-scalar.{name}", value)


class Failing(AsyncScalarFunction):
    """Fails the first times it is called with a value."""

    def __init__(self, times: int) -> None:
        self.times = times

    def open(self, function_context: FunctionContext) -> None:
        self.calls: dict[int, int] = {}

    async def eval(self, n: int) -> int:
        self.calls[n] = self.calls.get(n, 0) + 1
        if self.calls[n] <= self.times:
            raise ConnectionError(f"call {self.calls[n]}")
        return self.calls[n]


def test_a_call_that_fails_is_repeated(env: TableEnvironment) -> None:
    option(env, "retry-delay", "1 ms")
    env.create_temporary_function("failing", udf(Failing(2), result_type="INT"))
    assert rows(env, f"SELECT failing(i) FROM {VALUES}") == [3, 3, 3]


@pytest.mark.parametrize(("name", "value"), [("max-attempts", "2"), ("retry-strategy", "NO_RETRY")])
def test_how_often_is_an_option(env: TableEnvironment, name: str, value: str) -> None:
    option(env, "retry-delay", "1 ms")
    option(env, name, value)
    env.create_temporary_function("failing", udf(Failing(2), result_type="INT"))
    with pytest.raises(JobError, match="ConnectionError: call [12]"):
        rows(env, f"SELECT failing(i) FROM {VALUES}")


def test_a_call_that_takes_too_long_is_an_error_with_its_arguments(env: TableEnvironment) -> None:
    async def slow(n: int) -> int:
        await asyncio.sleep(60 if n == 2 else 0)
        return n

    option(env, "timeout", "20 ms")
    env.create_temporary_function("slow", udf(slow, result_type="INT"))
    with pytest.raises(JobError, match="Async function call has timed out for input: 2"):
        rows(env, f"SELECT slow(i) FROM {VALUES}")


def test_as_many_calls_run_at_a_time_as_the_option_says(env: TableEnvironment) -> None:
    class Counting(AsyncScalarFunction):
        running = most = 0

        async def eval(self, n: int) -> int:
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.001)
            self.running -= 1
            return self.most

    option(env, "max-concurrent-operations", "2")
    env.create_temporary_function("counting", udf(Counting(), result_type="INT"))
    assert max(rows(env, f"SELECT counting(i) FROM {VALUES}")) == 2


def test_all_calls_of_a_task_have_one_event_loop(env: TableEnvironment) -> None:
    class Loops(AsyncScalarFunction):
        async def eval(self, n: int) -> int:
            await asyncio.sleep(0)
            return id(asyncio.get_running_loop())

    env.create_temporary_function("loops", udf(Loops(), result_type="BIGINT"))
    assert len(set(rows(env, f"SELECT loops(i) FROM {VALUES} WHERE loops(i + 1) > 0"))) == 1
