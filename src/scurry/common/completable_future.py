"""CompletableFuture: the result of a request to a job, once it is there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from scurry.common._api import ApiObject
from scurry.errors import ScurryError

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(ApiObject, Generic[T]):
    """A result that may still be on its way: a `concurrent.futures.Future` with the methods of PyFlink's class."""

    def __init__(self, future: Future[T] | None = None) -> None:
        """Wrap a future.

        Args:
            future: What is waited for; a new, pending one if not given.
        """
        self._future: Future[T] = Future() if future is None else future

    @staticmethod
    def completed(value: T) -> CompletableFuture[T]:
        """Return a future whose result is there already."""
        future: Future[T] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Give up waiting; return whether the future is now cancelled. The job itself goes on."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether the future was cancelled."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether there is a result, an error, or nothing more to wait for."""
        return self._future.done()

    def result(self) -> T:
        """Wait for the result and return it.

        Raises:
            Exception: What the request failed with.
            concurrent.futures.CancelledError: The future was cancelled.
        """
        try:
            return self._future.result()
        except ScurryError as error:
            # The future raises one object again and again: without the frames of those who asked before.
            raise error.with_traceback(None) from error.__cause__

    def exception(self) -> BaseException | None:
        """Return what the request failed with, or None if it has not failed (yet). Does not wait."""
        if not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def add_done_callback(self, function: Callable[[CompletableFuture[T]], object]) -> None:
        """Have a function called with this future once it is done, as `concurrent.futures` does; scurry's own.

        Args:
            function: Called in the thread that brings the result, or at once if it is there.
        """
        self._future.add_done_callback(lambda _: function(self))

    def __str__(self) -> str:
        """Return the state for people."""
        return f"CompletableFuture[{self._state()}]"

    def _state(self) -> str:
        if self._future.cancelled():
            return "Cancelled"
        if not self._future.done():
            return "Not completed"
        return "Completed normally" if self._future.exception() is None else "Completed exceptionally"
