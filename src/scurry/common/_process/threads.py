"""Processes without threads, as in a browser: a job advances by steps while someone waits for it."""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

#: True if this process can start threads; WebAssembly's cannot.
THREADS = sys.platform != "emscripten"


class _Stepped:
    """A job that advances while someone waits for anything."""

    def __init__(self, pauses: Iterator[Callable[[], object]]) -> None:
        self._pauses = pauses
        self._context = contextvars.Context()  # as a thread of its own would have
        self.pause: Callable[[], object] | None = None
        self.is_taken = False

    def step(self) -> bool:
        """Run one step; return whether there may be another one."""
        self.is_taken = True
        try:
            self.pause = self._context.run(next, self._pauses, None)
        finally:
            self.is_taken = False
        return self.pause is not None


_jobs: list[_Stepped] = []


def begin(pauses: Iterator[Callable[[], object]]) -> None:
    """Keep a job for `wait_until`.

    Args:
        pauses: Each step of the job returns what waits until the next one.
    """
    _jobs.append(_Stepped(pauses))


def wait_until(done: Callable[[], object], seconds: float | None = None) -> bool:
    """Run steps of the jobs that were begun here until something is done, or none is left.

    With threads there are no such jobs, and the caller waits by its own means.

    Args:
        seconds: How long at most; None for as long as it takes.

    Returns:
        Whether it is done.
    """
    end = None if seconds is None else time.monotonic() + seconds
    while not done():
        waiting = [job for job in _jobs if not job.is_taken]
        if not waiting or (end is not None and time.monotonic() >= end):
            return False
        for job in waiting:
            if not job.step():
                _jobs.remove(job)
            if done():
                return True
        if len(waiting) == 1 and waiting[0].pause is not None:
            waiting[0].pause()  # of several jobs, one may have something to do while others wait
    return True


def wait_for(event: threading.Event, seconds: float | None) -> bool:
    """Wait for an event, so many seconds at most; return whether it is set."""
    return event.wait(seconds) if THREADS else wait_until(event.is_set, seconds)


def step() -> None:
    """Run one step of each job that was begun here."""
    once = iter((False, True))
    wait_until(lambda: next(once))


def call_soon(function: Callable[[], object], name: str) -> None:
    """Call a function in a thread of its own, or at once where there can be none."""
    if THREADS:
        threading.Thread(target=function, name=name, daemon=True).start()
    else:
        function()


def pool(threads: int, name: str) -> Executor:
    """Return an executor with so many threads, or without any where there can be none."""
    return ThreadPoolExecutor(threads, name) if THREADS else _Caller()


class _Caller(Executor):
    """Run each call while it is submitted."""

    def submit(self, call: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(call(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future
