"""Asynchronous calls for each record of a stream."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

from scurry.common.time import TimeAmount, to_millis
from scurry.datastream._functions import require_function
from scurry.datastream._type_info import declared_type
from scurry.datastream.async_retry_strategies import NO_RETRY_STRATEGY
from scurry.datastream.data_stream import DataStream
from scurry.datastream.functions import AsyncFunction, AsyncRetryStrategy
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an AsyncFunction to a stream, with many calls in flight at once (Flink's `AsyncDataStream`).

    Notes:
        Not offered yet: the arguments are checked, then each method raises `UnsupportedError`.
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: Any = None,
    ) -> DataStream:
        """Emit results as soon as they are there.

        Args:
            data_stream: The stream.
            async_function: Called for each record.
            timeout: How long one call may take (int: ms).
            capacity: Most calls in flight.
            output_type: Declared type of the results.
        """
        return _apply(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: Any = None,
    ) -> DataStream:
        """Emit results as soon as they are there, retrying calls; `timeout` covers all attempts."""
        return _apply(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type)

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: TimeAmount,
        capacity: int = 100,
        output_type: Any = None,
    ) -> DataStream:
        """Emit results in the order of the records; arguments as in `unordered_wait`."""
        return _apply(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: TimeAmount,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: Any = None,
    ) -> DataStream:
        """Emit results in the order of the records, retrying calls; `timeout` covers all attempts."""
        return _apply(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type)


def _apply(
    data_stream: DataStream, function: Any, timeout: TimeAmount, strategy: Any, capacity: int, output_type: Any
) -> NoReturn:
    require_function(function, (AsyncFunction,))
    if not inspect.iscoroutinefunction(function.async_invoke):
        raise ArgumentTypeError(f"{type(function).__name__}.async_invoke should be declared as 'async def'")
    if not isinstance(strategy, AsyncRetryStrategy):
        raise ArgumentTypeError(f"expected an AsyncRetryStrategy, got {strategy!r}")
    if strategy is not NO_RETRY_STRATEGY and to_millis(timeout) <= 0:
        raise ArgumentError("calls that are retried need a timeout above 0 ms")
    if capacity < 1:
        raise ArgumentError(f"capacity must be at least 1, not {capacity}")
    declared_type(output_type)
    raise UnsupportedError(
        "AsyncDataStream is not offered yet; until then call the service from a FlatMapFunction (a thread pool "
        "opened in open() keeps several calls in flight)"
    )
