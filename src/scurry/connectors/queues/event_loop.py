"""EventLoop: clients that are asynchronous run in a thread, and are called from others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class EventLoop:
    """An event loop in a thread of its own."""

    def __init__(self, name: str) -> None:
        """Start the thread.

        Args:
            name: The name of the thread.
        """
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """Return the result of a coroutine.

        Raises:
            TimeoutError: It takes longer; it is cancelled.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        finally:
            future.cancel()

    def stop(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
