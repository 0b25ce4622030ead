"""CompletableFuture: the result of a request to a job, which may be pending."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from scurry.common._api import ApiObject
from scurry.common._process import threads
from scurry.errors import ScurryError

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(ApiObject, Generic[T]):
    """A result that may be pending: a `concurrent.futures.Future` with the methods of PyFlink's class."""

    def __init__(self, future: Future[T] | None = None) -> None:
        """Wrap a future.

        Args:
            future: The future; a new, pending one if not given.
        """
        self._future: Future[T] = Future() if future is None else future

    @staticmethod
    def completed(value: T) -> CompletableFuture[T]:
        """Return a future that already has its result."""
        future: Future[T] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Stop waiting and return whether the future is now cancelled. The job itself keeps running."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether the future was cancelled."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether there is a result or an error, or the future was cancelled."""
        return self._future.done()

    def result(self) -> T:
        """Wait for the result and return it.

        Raises:
            Exception: The request failed with it.
            concurrent.futures.CancelledError: The future was cancelled.
        """
        threads.wait_until(self._future.done)
        try:
            return self._future.result()
        except ScurryError as error:
            # Each call raises the same object: remove the frames of earlier calls.
            raise error.with_traceback(None) from error.__cause__

    def exception(self) -> BaseException | None:
        """Return the error of the request, or None if it has not failed (yet), without waiting."""
        if not self._future.done() or self._future.cancelled():
            return None
        return self._future.exception()

    def add_done_callback(self, function: Callable[[CompletableFuture[T]], object]) -> None:
        """Call a function with this future once it is done, as in `concurrent.futures`. scurry's own.

        Args:
            function: Called in the thread that sets the result, or at once if the future is done.
        """
        self._future.add_done_callback(lambda _: function(self))

    def __str__(self) -> str:
        """Return a text that shows the state."""
        return f"CompletableFuture[{self._state()}]"

    def _state(self) -> str:
        if self._future.cancelled():
            return "Cancelled"
        if not self._future.done():
            return "Not completed"
        return "Completed normally" if self._future.exception() is None else "Completed exceptionally"
