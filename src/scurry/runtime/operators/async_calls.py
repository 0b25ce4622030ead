"""Coroutines called for records, many at a time, on an event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any


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
        self._failure: Exception | None = None

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
        except Exception as error:
            self._fail(error)
        finally:
            self._workers.remove(asyncio.current_task())  # type: ignore[arg-type]

    def _fail(self, error: Exception) -> None:
        self._failure = self._failure or error
        self._waiting.clear()
        self._none_waiting.set()
        for worker in self._workers:
            worker.cancel()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure from self._failure.__cause__
