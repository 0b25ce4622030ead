"""Asynchronous functions and when to retry them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from scurry.common._type_variables import IN, OUT
from scurry.datastream.functions.base import Function, RuntimeContext

if TYPE_CHECKING:
    from scurry.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy, FixedDelayRetryStrategy

__all__ = ["AsyncFunction", "AsyncRetryPredicate", "AsyncRetryStrategy"]


class AsyncFunction(Function, Generic[IN, OUT]):
    """Call an external system for each record, with many calls in flight at once.

    All calls of a subtask run on one event loop, which lives as long as its copy of the function.

    Notes:
        `open` and `close` may be declared `async def`; they then run on that loop, as asyncio clients require.
    """

    def open(self, runtime_context: RuntimeContext) -> Any:
        """Prepare the function, as in `Function`."""

    def close(self) -> Any:
        """Release what `open` acquired, as in `Function`."""

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


class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Decide which outcomes of a call are retried."""

    @abstractmethod
    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        """Return the test of results, None if results are never retried."""

    @abstractmethod
    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        """Return the test of exceptions, None if exceptions are never retried."""


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
        from scurry.datastream.async_retry_strategies import NO_RETRY_STRATEGY

        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[Any]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> FixedDelayRetryStrategy[Any]:
        """Return a strategy that waits equally long (ms) before each retry."""
        from scurry.datastream.async_retry_strategies import FixedDelayRetryStrategy

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
        from scurry.datastream.async_retry_strategies import ExponentialBackoffDelayRetryStrategy

        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )
