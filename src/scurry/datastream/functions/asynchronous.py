"""Asynchronous functions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic

from scurry.common._type_variables import IN, OUT
from scurry.datastream.functions.base import Function, RuntimeContext

__all__ = ["AsyncFunction"]


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
