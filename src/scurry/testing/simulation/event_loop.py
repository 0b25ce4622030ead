"""Event loops of operators in the one thread of a simulation: their waits turn the clock of the machine."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from scurry.common._event_loop import EventLoopThread
from scurry.testing.simulation.machine import Machine

__all__ = ["event_loops_of"]


class _Selector(selectors.DefaultSelector):
    """Nothing comes from outside; time passes at once."""

    machine: Machine

    def select(self, timeout: float | None = None) -> list[Any]:
        """Let time pass until the next call that is due.

        Raises:
            AssertionError: None is.
        """
        assert timeout is not None, "a coroutine waits for what never comes"
        if timeout:
            self.machine.clock.now += timeout
        return []


def _not_told(loop: Any, context: dict[str, Any]) -> None:
    """Ignore tasks of a process that has died."""


@contextmanager
def event_loops_of(machine: Machine) -> Iterator[None]:
    """Let event loops of operators only run while results are awaited, by the clock of a machine."""

    def begin(thread: Any, name: str) -> None:
        selector = _Selector()
        selector.machine = machine
        thread._loop = asyncio.SelectorEventLoop(selector)
        thread._loop.set_exception_handler(_not_told)

    def run(thread: Any, coroutine: Any, check: Callable[[], None] | None = None) -> Any:
        return thread._loop.run_until_complete(coroutine)

    def close(thread: Any) -> None:
        loop = thread._loop
        for task in asyncio.all_tasks(loop):
            task.cancel()
        while left := asyncio.all_tasks(loop):
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()

    with (
        mock.patch.object(EventLoopThread, "__init__", begin),
        mock.patch.object(EventLoopThread, "run", run),
        mock.patch.object(EventLoopThread, "close", close),
    ):
        yield
