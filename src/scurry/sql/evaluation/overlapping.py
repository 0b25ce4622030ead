"""Calls of coroutines that overlap: of asynchronous functions, and of models."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def overlapping(calls: Iterable[Coroutine[Any, Any, T]], places: asyncio.Semaphore) -> list[T]:
    """Return the results of calls, in their order; the first that fails cancels the others.

    Args:
        places: How many of them run at a time.
    """

    async def one(call: Coroutine[Any, Any, T]) -> T:
        async with places:
            return await call

    waiting = list(calls)
    tasks = [asyncio.ensure_future(one(call)) for call in waiting]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for call in waiting:  # those that did not begin
            call.close()
        raise


async def timed(call: Coroutine[Any, Any, T], seconds: float | None, values: Sequence[Any]) -> T:
    """Return the result of a call that may take some time.

    Args:
        seconds: The most seconds that it may take; None for no limit.

    Raises:
        TimeoutError: It took longer.
    """
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await call
    except TimeoutError as error:
        if not limit.expired():
            raise
        shown = ", ".join(map(repr, values))
        raise TimeoutError(f"Async function call has timed out for input: {shown}") from error
