"""Asynchronous I/O: calls of an AsyncFunction, many of them in flight at once."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from scurry.common._event_loop import EventLoopThread
from scurry.errors import KeyedStateError
from scurry.graph.operators import AsyncWait
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Timestamps, Values
from scurry.runtime.failure import operator_error
from scurry.runtime.functions.context import StateAccess, TaskInfo
from scurry.runtime.operators.base import RuntimeOperator

if TYPE_CHECKING:
    from scurry.runtime.functions.state_descriptor import StateDescriptor


class Call:
    """A record and, once its call has ended, its results."""

    __slots__ = ("results", "timestamp", "value")

    def __init__(self, value: Any, timestamp: int | None) -> None:
        self.value = value
        self.timestamp = timestamp
        self.results: list[Any] | None = None


class InFlightRequests:
    """Make calls, up to a capacity at once, and return those that have ended.

    The coroutines run on one event loop; `take` may be called from another thread.

    Args:
        make: Makes the call for a value.
        capacity: The maximum number of calls in flight.
        ordered: Whether calls are returned in the order in which they were started, not in which they ended.
    """

    def __init__(self, make: Callable[[Any], Coroutine[Any, Any, list[Any]]], capacity: int, ordered: bool) -> None:
        self._make = make
        self._capacity = capacity
        self._ordered = ordered
        #: ordered: calls in flight or ended but not taken, in start order; unordered: ended but not taken, in end order
        self._calls: deque[Call] = deque()
        self._waiting: deque[Call] = deque()
        self._none_waiting = asyncio.Event()
        self._workers: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    async def start(self, calls: list[Call]) -> None:
        """Start calls as soon as there is room; return when the last of them is in flight.

        Raises:
            Exception: The error of a failed call.
        """
        if self._ordered:
            self._calls.extend(calls)
        self._waiting.extend(calls)
        self._none_waiting.clear()
        for _ in range(min(self._capacity - len(self._workers), len(calls))):
            self._workers.add(asyncio.create_task(self._work()))
        await self._none_waiting.wait()
        self._raise_failure()

    async def end(self) -> None:
        """Wait until no call is in flight.

        Raises:
            Exception: The error of a failed call.
        """
        if self._workers:
            await asyncio.wait(self._workers)
        self._raise_failure()

    def take(self) -> list[Call]:
        """Return the ended calls that were not taken yet; if ordered, only those that precede all calls in flight."""
        calls, ended = self._calls, []
        while calls and calls[0].results is not None:
            ended.append(calls.popleft())
        return ended

    async def _work(self) -> None:
        """Make one call after another while there are any; one of up to `capacity` workers."""
        waiting = self._waiting
        try:
            while waiting:
                call = waiting.popleft()
                if not waiting:
                    self._none_waiting.set()
                call.results = await self._make(call.value)
                if not self._ordered:
                    self._calls.append(call)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # what is no Exception, too: who waits for the worker would wait for ever
            self._fail(error)
        finally:
            self._workers.remove(asyncio.current_task())  # type: ignore[arg-type]

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._waiting.clear()
        self._none_waiting.set()
        for worker in self._workers:
            worker.cancel()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure from self._failure.__cause__


Invoke = Callable[[Any], Coroutine[Any, Any, Any]]


class AsyncOperator(RuntimeOperator):
    """Call an AsyncFunction for each record, with up to `capacity` calls in flight (Flink's AsyncWaitOperator).

    Calls stay in flight from one block to the next, so that small blocks do not slow the job down. All calls end
    before a watermark passes and when the task calls `drain` at the end of a batch. So results never overtake a
    watermark, and a checkpoint has no calls to store.
    """

    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self.states = _NoStates(plan, info.clock)
        operator = plan.operator
        assert isinstance(operator, AsyncWait)
        self._function = operator.function
        self._timeout_seconds = operator.timeout / 1000 if operator.timeout > 0 else None
        self._invoke: Invoke = operator.function.async_invoke
        if operator.retry_strategy is not None:
            self._invoke = retrying(self._invoke, operator.retry_strategy)
        self._calls = InFlightRequests(self._make, operator.capacity, operator.ordered)

    def open(self) -> None:
        self._loop = EventLoopThread(f"scurry-async-{self.plan.id}-{self.info.subtask}")
        super().open()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._loop.close()

    def call(self, hook: Callable[..., Any], *args: Any) -> Any:
        result = super().call(hook, *args)
        return super().call(self._loop.run, result) if inspect.iscoroutine(result) else result

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self._loop.run(self._calls.start(list(map(Call, values, timestamps or repeat(None)))))
        self._emit()

    def watermark(self, watermark: int) -> None:
        self.drain()
        self.collector.watermark(watermark)

    def drain(self) -> None:
        """Wait for all calls in flight and emit their results."""
        self._loop.run(self._calls.end())
        self._emit()

    def _emit(self) -> None:
        ended = self._calls.take()
        if not ended:
            return
        times: Timestamps = None
        if ended[0].timestamp is not None:
            times = [call.timestamp for call in ended for _ in call.results or ()]  # type: ignore[misc]
        self.collector.emit(list(chain.from_iterable(call.results or () for call in ended)), times)

    # ---------------------------------------------------------------- on the event loop

    async def _make(self, value: Any) -> list[Any]:
        try:
            return await self._within_time(value)
        # otherwise a cancellation by user code would look like our own, and an exit would end the loop
        except (Exception, asyncio.CancelledError, SystemExit) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            raise operator_error(self.plan, error, value) from error

    async def _within_time(self, value: Any) -> list[Any]:
        limit = asyncio.timeout(self._timeout_seconds)
        try:
            async with limit:
                return self._results("async_invoke", await self._invoke(value))
        except TimeoutError:
            if not limit.expired():  # it is the user's own
                raise
        return self._results("timeout", self._function.timeout(value))

    def _results(self, hook: str, results: Any) -> list[Any]:
        if isinstance(results, Iterable):
            return self.collector.handed_over(results)
        raise TypeError(
            f"{type(self._function).__name__}.{hook} returned {results!r}; it must return a list of results, which may "
            "be empty"
        )


class _NoStates(StateAccess):
    """Refuse keyed state: calls for several keys are in flight at once, so there is no current key."""

    def get(self, descriptor: StateDescriptor, namespace: Any = None) -> Any:
        raise KeyedStateError(
            f"State is not supported in async functions: {descriptor.name!r} has to be kept in a KeyedProcessFunction "
            "before or after the asynchronous calls"
        )


def retrying(invoke: Invoke, strategy: Any) -> Invoke:
    """Return a call that is repeated as an AsyncRetryStrategy says."""
    predicate = strategy.get_retry_predicate()
    retries_result = predicate.result_predicate() or _never
    retries_error = predicate.exception_predicate() or _never

    async def attempts(value: Any) -> Any:
        attempt = 1
        while True:
            try:
                results = await invoke(value)
            except Exception as error:
                if not (retries_error(error) and strategy.can_retry(attempt)):
                    raise
            else:
                if results is None or not (retries_result(results) and strategy.can_retry(attempt)):
                    return results
            await asyncio.sleep(strategy.get_backoff_time_millis(attempt) / 1000)
            attempt += 1

    return attempts


def _never(outcome: Any) -> bool:
    return False
