"""Ready-made strategies for retrying asynchronous calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

from scurry.common._type_variables import T
from scurry.datastream.functions.asynchronous import AsyncRetryPredicate, AsyncRetryStrategy
from scurry.errors import ArgumentError

__all__ = [
    "NO_RETRY_STRATEGY",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]


class RetryPredicate(AsyncRetryPredicate[T], Generic[T]):
    """A predicate made of two functions, either of which may be None."""

    def __init__(
        self,
        result_predicate: Callable[[list[T]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        """Take the tests of results and of exceptions."""
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
