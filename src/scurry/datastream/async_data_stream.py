"""Asynchronous calls for each record of a stream."""

from __future__ import annotations

import inspect
from typing import Any, overload

from scurry.common._api import ApiObject
from scurry.common._type_variables import R, T
from scurry.common.time import TimeAmount, to_millis
from scurry.datastream._functions import DeclaredType, require_function
from scurry.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from scurry.datastream.data_stream import DataStream
from scurry.datastream.functions import AsyncFunction, AsyncRetryStrategy
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph import operators as ops

__all__ = ["AsyncDataStream"]


class AsyncDataStream(ApiObject):
    """Apply an AsyncFunction to a stream, with many calls in flight at once (Flink's `AsyncDataStream`).

    Results carry the timestamp of their record and never overtake a watermark.

    Notes:
        All calls end before the watermark advances and before a micro-batch is committed. Unlike in Flink, a checkpoint
        therefore contains no calls in flight. If a micro-batch is repeated after a failure, so are its calls.
    """

    @overload
    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: DeclaredType[R] = ...,
    ) -> DataStream[R]: ...
    @staticmethod
    def unordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Return the results in the order in which calls end.

        Args:
            data_stream: The stream.
            async_function: Called for each record.
            timeout: How long one call may take (int: ms), 0 for no limit. A call that takes longer is cancelled, and
                the function's `timeout` method returns the results or raises.
            capacity: Maximum number of calls in flight per subtask.
            output_type: Declared type of the results.

        Raises:
            ArgumentTypeError: The function is not an AsyncFunction, or its `async_invoke` is not declared `async def`.
            ArgumentError: The capacity is less than 1.
        """
        return _apply(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, ordered=False)

    @overload
    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[R],
        capacity: int = 100,
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: DeclaredType[R] = ...,
    ) -> DataStream[R]: ...
    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Return the results in the order in which calls end, with retries as the strategy decides.

        Args:
            data_stream: The stream.
            async_function: Called for each record.
            timeout: How long all attempts for one record together may take (int: ms), above 0.
            async_retry_strategy: Which outcomes are retried, how often and how soon.
            capacity: Maximum number of records in progress per subtask, including those that wait for a retry.
            output_type: Declared type of the results.

        Raises:
            ArgumentTypeError: As for `unordered_wait`, or the strategy is not an AsyncRetryStrategy.
            ArgumentError: The timeout is not above 0, or the capacity is less than 1.
        """
        return _apply(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=False)

    @overload
    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: DeclaredType[R] = ...,
    ) -> DataStream[R]: ...
    @staticmethod
    def ordered_wait(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Return the results in the order of the records; arguments and errors are those of `unordered_wait`."""
        return _apply(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, ordered=True)

    @overload
    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, R],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[R],
        capacity: int = 100,
        output_type: None = None,
    ) -> DataStream[R]: ...
    @overload
    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: DeclaredType[R] = ...,
    ) -> DataStream[R]: ...
    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream[T],
        async_function: AsyncFunction[T, Any],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: DeclaredType[Any] | None = None,
    ) -> DataStream[Any]:
        """Return the results in the order of the records; see `unordered_wait_with_retry`."""
        return _apply(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=True)


def _apply(
    stream: DataStream[T],
    function: AsyncFunction[T, Any],
    timeout: TimeAmount,
    strategy: AsyncRetryStrategy[Any],
    capacity: int,
    output_type: DeclaredType[Any] | None,
    ordered: bool,
) -> DataStream[Any]:
    require_function(function, (AsyncFunction,))
    if not inspect.iscoroutinefunction(function.async_invoke):
        raise ArgumentTypeError(
            f"{type(function).__name__}.async_invoke should be declared as 'async def' and return a list of results"
        )
    if not isinstance(strategy, AsyncRetryStrategy):
        raise ArgumentTypeError(f"expected an AsyncRetryStrategy, got {strategy!r}")
    millis, retried = to_millis(timeout), strategy is not NO_RETRY_STRATEGY
    if retried and millis <= 0:
        raise ArgumentError("calls that are retried need a timeout above 0 ms")
    if strategy.get_retry_predicate() is None:
        raise ArgumentTypeError(f"get_retry_predicate() of {type(strategy).__name__} returned None, not a predicate")
    if not isinstance(capacity, int) or capacity < 1:
        raise ArgumentError(f"capacity must be at least 1, not {capacity!r}")
    operator = ops.AsyncWait(function, millis, capacity, strategy if retried else None, ordered)
    return stream._transform(operator, "async wait operator", output_type)
