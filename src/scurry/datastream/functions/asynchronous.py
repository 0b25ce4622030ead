"""Asynchronous functions, and how their calls are tried again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic

from scurry.common._type_variables import IN, OUT, T
from scurry.common.pickling import of_functions
from scurry.datastream.functions.base import Function, RuntimeContext
from scurry.errors import ArgumentError

__all__ = [
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NO_RETRY_STRATEGY",
    "NoRetryStrategy",
    "RetryPredicate",
]


class AsyncFunction(Function, Generic[IN, OUT]):
    """Call an external system for each record, with many calls in flight at once.

    All calls of a subtask run on one event loop, which lives as long as its copy of the function.

    Notes:
        `open` and `close` may be declared `async def`; they then run on that loop, as asyncio clients require.
    """

    def open(self, runtime_context: RuntimeContext) -> Any:
        """Prepare the function, as in `Function`."""

    def close(self) -> Any:
        """Release the resources of `open`, as in `Function`."""

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Return the results for one record.

        Any iterable is accepted, an empty one for no results. An exception fails the job unless a retry strategy
        handles it. The call is cancelled when it takes too long, and when another call fails the job.
        """

    def timeout(self, value: IN) -> list[OUT]:
        """Return the results for a record whose call took too long.

        Raises:
            TimeoutError: Unless overridden, which fails the job.
        """
        raise TimeoutError(f"Async function call has timed out for input: {value}")


@of_functions
class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Decide which outcomes of a call are retried."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return the test of results, None if results are never retried."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the test of exceptions, None if exceptions are never retried."""


@of_functions
class AsyncRetryStrategy(ABC, Generic[OUT]):
    """Decide how often and how soon a call is retried."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether there may be another attempt after `current_attempts` retries (the first is 1)."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return how long to wait before the retry, in ms."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return which outcomes are retried."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy[Any]:
        """Return the strategy that never retries."""
        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> FixedDelayRetryStrategy[Any]:
        """Return a strategy that waits equally long (ms) before each retry."""
        return FixedDelayRetryStrategy(max_attempts, backoff_time_millis, result_predicate, exception_predicate)

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> ExponentialBackoffDelayRetryStrategy[Any]:
        """Return a strategy whose waits (ms) grow by `multiplier` up to `max_retry_delay`."""
        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class RetryPredicate(AsyncRetryPredicate[T], Generic[T]):
    """A predicate made of two functions, either of which may be None."""

    def __init__(
        self,
        result_predicate: Callable[[list[T]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> Callable[[list[T]], bool] | None:
        """Return the test of results."""
        return self._result_predicate

    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the test of exceptions."""
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[T], Generic[T]):
    """Never retry."""

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1: there is nothing to wait for."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[T]:
        """Return the predicate that selects no outcome."""
        return RetryPredicate(None, None)


class FixedDelayRetryStrategy(AsyncRetryStrategy[T], Generic[T]):
    """Wait equally long before each retry."""

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[T]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        """Configure the strategy.

        Args:
            max_attempts: Maximum number of retries of one call, at least 1.
            backoff_time_millis: Wait before each retry in ms, at least 1.
            result_predicate: Which results are retried.
            exception_predicate: Which exceptions are retried.

        Raises:
            ArgumentError: A number is too small.
        """
        _require_positive(max_attempts=max_attempts, backoff_time_millis=backoff_time_millis)
        self._max_attempts = max_attempts
        self._backoff_time_millis = backoff_time_millis
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether the `current_attempts`-th retry is still allowed."""
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the wait in ms."""
        return self._backoff_time_millis

    def get_retry_predicate(self) -> AsyncRetryPredicate[T]:
        """Return which outcomes are retried."""
        return self._predicate


class ExponentialBackoffDelayRetryStrategy(AsyncRetryStrategy[T], Generic[T]):
    """Wait longer before each further retry of the same call."""

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[T]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        """Configure the strategy.

        Args:
            max_attempts: Maximum number of retries of one call, at least 1.
            initial_delay: Wait before the first retry in ms, at least 1.
            max_retry_delay: Longest wait in ms, at least 1.
            multiplier: Growth of the wait from one retry to the next, above 0.
            result_predicate: Which results are retried.
            exception_predicate: Which exceptions are retried.

        Raises:
            ArgumentError: A number is too small.
        """
        _require_positive(
            max_attempts=max_attempts,
            initial_delay=initial_delay,
            max_retry_delay=max_retry_delay,
            multiplier=multiplier,
        )
        self._max_attempts = max_attempts
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether the `current_attempts`-th retry is still allowed."""
        return current_attempts <= self._max_attempts

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the wait in ms.

        It depends only on the number of the attempt, so concurrent calls do not affect each other.
        """
        delay = self._initial_delay
        for _ in range(current_attempts - 1):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
            if delay == self._max_retry_delay:
                break
        return delay

    def get_retry_predicate(self) -> AsyncRetryPredicate[T]:
        """Return which outcomes are retried."""
        return self._predicate


def _require_positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if number <= 0:
            raise ArgumentError(f"{name} should be greater than zero, not {number!r}")


#: The strategy of calls that are never retried.
NO_RETRY_STRATEGY: AsyncRetryStrategy[Any] = NoRetryStrategy()
