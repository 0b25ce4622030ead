"""The asynchronous operator on single blocks of records."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scurry.datastream import AsyncFunction, AsyncRetryStrategy
from scurry.datastream.async_retry_predicates import empty_result_predicate, has_exception_predicate
from scurry.errors import OperatorError
from scurry.graph import operators as ops
from scurry.graph.nodes import Origin
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators.asynchronous import AsyncOperator

Make = Callable[..., "Running"]


class Emitted:
    def __init__(self) -> None:
        self.blocks: list[tuple[Values, Timestamps]] = []
        self.watermarks: dict[int, int] = {}

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.blocks.append((values, timestamps))

    def watermark(self, watermark: int) -> None:
        self.watermarks[watermark] = len(self.blocks)

    def until(self, watermark: int) -> tuple[Values, Values]:
        """What came before a watermark, and after it."""
        at = self.watermarks[watermark]
        parts = self.blocks[:at], self.blocks[at:]
        before, after = ([value for values, _ in part for value in values] for part in parts)
        return before, after


class Running:
    """An open operator and what it emitted."""

    def __init__(self, function: Any, timeout: int, capacity: int, strategy: Any, ordered: bool) -> None:
        operator = ops.AsyncWait(function, timeout, capacity, strategy, ordered)
        plan = OperatorPlan(1, "uid", "ask", operator, None, 1, Origin("program.py", 1))
        collector, self.emitted = Collector(plan), Emitted()
        collector.main.append(self.emitted)
        self.operator = AsyncOperator(plan, collector, TaskInfo(0, 1, 128))
        self.operator.open()

    def values(self, values: Values, timestamps: Timestamps = None) -> Values:
        self.operator.process(values, timestamps)
        self.operator.drain()
        return [value for block, _ in self.emitted.blocks for value in block]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Running] = []

    def running(
        function: Any, timeout: int = 0, capacity: int = 100, strategy: Any = None, ordered: bool = True
    ) -> Running:
        made.append(Running(function, timeout, capacity, strategy, ordered))
        return made[-1]

    yield running
    for each in made:
        each.operator.close()


class Sleeping(AsyncFunction[Any, Any]):
    """Records are the seconds a call takes; -1 is for ever."""

    cancelled = 0

    async def async_invoke(self, value: float) -> list[float]:
        try:
            await asyncio.sleep(value if value >= 0 else 1_000)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return [value]


class Patient(Sleeping):
    def timeout(self, value: float) -> list[Any]:
        return ["late", value]


class Counting(AsyncFunction[Any, Any]):
    """Knows how many calls were in flight."""

    now = most = 0

    async def async_invoke(self, value: Any) -> list[Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return [value]


class Failing(AsyncFunction[Any, Any]):
    """Fails a number of times for each record; the record is that number."""

    def __init__(self, error: type[BaseException] = ValueError) -> None:
        self.error = error
        self.attempts: dict[Any, int] = {}

    async def async_invoke(self, value: int) -> list[str]:
        attempt = self.attempts[value] = self.attempts.get(value, 0) + 1
        if attempt <= value:
            raise self.error(f"attempt {attempt}")
        return [f"{value}: {attempt}"]


class Returning(AsyncFunction[Any, Any]):
    """Returns what the record is."""

    async def async_invoke(self, value: Any) -> Any:
        return value


def failure(running: Running, values: Values) -> OperatorError:
    with pytest.raises(OperatorError) as raised:
        running.values(values)
    return raised.value


class TestOrder:
    def test_ordered_results_come_in_the_order_of_the_records(self, make: Make) -> None:
        assert make(Sleeping(), ordered=True).values([0.06, 0.03, 0.0]) == [0.06, 0.03, 0.0]

    def test_unordered_results_come_in_the_order_in_which_calls_end(self, make: Make) -> None:
        assert make(Sleeping(), ordered=False).values([0.06, 0.03, 0.0]) == [0.0, 0.03, 0.06]

    @pytest.mark.parametrize("ordered", [True, False])
    def test_no_result_comes_after_a_watermark_that_its_record_came_before(self, make: Make, ordered: bool) -> None:
        running = make(Sleeping(), ordered=ordered)
        for seconds in (0.05, 0.0):
            running.operator.process([seconds], None)
        running.operator.watermark(7)
        running.operator.process([0.01], None)
        running.operator.drain()
        before, after = running.emitted.until(7)
        assert (sorted(before), after) == ([0.0, 0.05], [0.01])

    @pytest.mark.parametrize(("ordered", "times"), [(True, [1, 2, 2]), (False, [2, 2, 1])])
    def test_results_carry_the_timestamp_of_their_record(self, make: Make, ordered: bool, times: list[int]) -> None:
        class Twice(Sleeping):
            async def async_invoke(self, value: float) -> list[float]:
                results = await super().async_invoke(value)
                return results if value else results * 2

        running = make(Twice(), ordered=ordered)
        running.values([0.03, 0.0], [1, 2])
        assert [time for _, block in running.emitted.blocks for time in block or ()] == times


class TestCapacity:
    @pytest.mark.parametrize("capacity", [1, 3, 20])
    def test_as_many_calls_are_in_flight_as_there_may_be(self, make: Make, capacity: int) -> None:
        function = Counting()
        assert make(function, capacity=capacity).values(list(range(20))) == list(range(20))
        assert function.most == capacity

    def test_calls_of_several_blocks_are_in_flight_together(self, make: Make) -> None:
        function = Counting()
        running = make(function, capacity=3)
        for value in range(20):
            running.operator.process([value], None)
        assert running.values([20]) == list(range(21))
        assert function.most == 3

    def test_a_block_waits_for_room(self, make: Make) -> None:
        running = make(Sleeping(), capacity=2)
        running.operator.process([0.0, 0.0, 0.0, -1], None)  # left when the last call is in flight
        assert running.operator._calls.take() == []
        assert [value for block, _ in running.emitted.blocks for value in block] == [0.0, 0.0, 0.0]


class TestTimeout:
    def test_a_call_that_takes_too_long_fails_and_names_its_record(self, make: Make) -> None:
        error = failure(make(Sleeping(), timeout=20), [0, -1])
        assert error.failure.error == "TimeoutError"
        assert error.failure.message == "Async function call has timed out for input: -1"
        assert (error.failure.record, error.failure.operator) == ("-1", "ask")

    def test_the_function_may_return_something_else(self, make: Make) -> None:
        assert make(Patient(), timeout=20).values([0, -1]) == [0, "late", -1]

    def test_a_call_that_takes_too_long_is_cancelled(self, make: Make) -> None:
        function = Patient()
        make(function, timeout=20).values([-1, -1])
        assert function.cancelled == 2

    def test_it_is_measured_from_the_start_of_each_call(self, make: Make) -> None:
        assert make(Sleeping(), timeout=400, capacity=1).values([0.1] * 5) == [0.1] * 5

    def test_a_timeout_of_the_users_own_is_an_error_like_others(self, make: Make) -> None:
        class Own(Patient):
            async def async_invoke(self, value: Any) -> list[Any]:
                raise TimeoutError("the service says so")

        assert failure(make(Own(), timeout=1_000), [1]).failure.message == "the service says so"


class TestRetries:
    fixed = AsyncRetryStrategy.fixed_delay(2, 1, empty_result_predicate, has_exception_predicate)

    def test_errors_are_retried_as_often_as_the_strategy_says(self, make: Make) -> None:
        assert make(Failing(), timeout=10_000, strategy=self.fixed).values([0, 1, 2]) == ["0: 1", "1: 2", "2: 3"]

    def test_the_last_error_is_raised_when_retries_are_used_up(self, make: Make) -> None:
        error = failure(make(Failing(), timeout=10_000, strategy=self.fixed), [3])
        assert (error.failure.message, error.failure.record) == ("attempt 3", "3")

    def test_errors_the_predicate_does_not_take_are_raised_at_once(self, make: Make) -> None:
        strategy = AsyncRetryStrategy.fixed_delay(2, 1, None, lambda error: isinstance(error, KeyError))
        assert failure(make(Failing(), timeout=10_000, strategy=strategy), [1]).failure.message == "attempt 1"

    def test_results_are_retried_and_the_last_one_stands(self, make: Make) -> None:
        class Pops(AsyncFunction[Any, Any]):
            async def async_invoke(self, value: list[Any]) -> list[Any]:
                return [value.pop(0)] if value[0] else value.pop(0)

        left: list[Any] = [[], [], [], "too late"]
        assert make(Pops(), timeout=10_000, strategy=self.fixed).values([left]) == []
        assert left == ["too late"]

    def test_the_timeout_covers_all_attempts(self, make: Make) -> None:
        class Never(Failing):
            def timeout(self, value: Any) -> list[Any]:
                return ["gave up"]

        strategy = AsyncRetryStrategy.fixed_delay(1_000, 10, None, has_exception_predicate)
        assert make(Never(), timeout=100, strategy=strategy).values([1_000]) == ["gave up"]


class TestResults:
    @pytest.mark.parametrize("results", [[1, 2], (1, 2), (n for n in (1, 2)), {1: "", 2: ""}])
    def test_any_iterable_will_do(self, make: Make, results: Any) -> None:
        assert make(Returning()).values([results]) == [1, 2]

    @pytest.mark.parametrize("result", [None, 7])
    def test_anything_else_is_refused(self, make: Make, result: Any) -> None:
        message = failure(make(Returning()), [result]).failure.message
        assert message.startswith(f"Returning.async_invoke returned {result}; it must return a list")

    def test_so_it_is_when_a_timeout_returns_it(self, make: Make) -> None:
        class Silent(Sleeping):
            def timeout(self, value: Any) -> Any:
                return None

        assert "Silent.timeout returned None" in failure(make(Silent(), timeout=5), [-1]).failure.message


class TestErrors:
    def test_the_record_that_failed_is_named_and_other_calls_are_cancelled(self, make: Make) -> None:
        class Fails(Sleeping):
            async def async_invoke(self, value: float) -> list[float]:
                if value == 0:
                    raise LookupError("nobody there")
                return await super().async_invoke(value)

        function = Fails()
        error = failure(make(function), [-1, -1, 0])
        assert (error.failure.error, error.failure.record) == ("LookupError", "0")
        assert isinstance(error.__cause__, LookupError)
        assert function.cancelled == 2

    def test_a_call_that_was_cancelled_by_the_user_is_not_lost(self, make: Make) -> None:
        assert failure(make(Failing(asyncio.CancelledError)), [1]).failure.error == "CancelledError"

    def test_an_exit_does_not_hang_the_task(self, make: Make) -> None:
        class Leaves(AsyncFunction[Any, Any]):
            async def async_invoke(self, value: Any) -> list[Any]:
                sys.exit(3)

        assert failure(make(Leaves()), [1]).failure.error == "SystemExit"

    def test_an_error_that_is_no_exception_does_not_hang_the_task(self, make: Make) -> None:
        """Simulation: all workers had ended, and who waited for one of them did so for ever."""

        class Quits(BaseException):
            pass

        with pytest.raises(Quits):
            make(Failing(Quits), capacity=1).values([1, 1, 1])


class TestLifeCycle:
    def test_all_calls_and_blocks_share_one_event_loop(self, make: Make) -> None:
        class Loop(AsyncFunction[Any, Any]):
            async def async_invoke(self, value: Any) -> list[int]:
                return [id(asyncio.get_running_loop())]

        running = make(Loop())
        running.values([1, 2])
        assert len(set(running.values([3]))) == 1

    def test_the_loop_runs_between_blocks_too(self, make: Make) -> None:
        beats = threading.Event()

        class Background(AsyncFunction[Any, Any]):
            async def async_invoke(self, value: Any) -> list[Any]:
                self.task = asyncio.create_task(self.beat())
                return []

            async def beat(self) -> None:
                await asyncio.sleep(0.01)
                beats.set()

        make(Background()).values([1])
        assert beats.wait(5)

    def test_open_and_close_may_be_coroutines_of_that_loop(self) -> None:
        class Client(AsyncFunction[Any, Any]):
            async def open(self, runtime_context: Any) -> None:
                self.loop = asyncio.get_running_loop()

            async def async_invoke(self, value: Any) -> list[Any]:
                assert asyncio.get_running_loop() is self.loop
                return [value]

            async def close(self) -> None:
                await asyncio.sleep(0)
                assert asyncio.get_running_loop() is self.loop
                self.closed = True

        function = Client()
        running = Running(function, 0, 1, None, True)
        assert running.values([1]) == [1]
        running.operator.close()
        assert function.closed and function.loop.is_closed()

    def test_a_failing_close_is_reported(self) -> None:
        class Client(Returning):
            async def close(self) -> None:
                raise OSError("no farewell")

        running = Running(Client(), 0, 1, None, True)
        with pytest.raises(OperatorError, match="no farewell"):
            running.operator.close()

    def test_an_operator_that_is_dropped_leaves_no_thread_behind(self) -> None:
        running = Running(Returning(), 0, 1, None, True)
        thread = running.operator._loop._thread
        assert thread.is_alive()
        del running
        gc.collect()
        thread.join(5)
        assert not thread.is_alive()
