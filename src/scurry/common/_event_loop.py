"""An asyncio event loop for operators, which are not asynchronous themselves."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds between two checks while a result is awaited.
_CHECK_SECONDS = 0.1


class EventLoopThread:
    """An event loop in its own thread.

    It also runs between blocks, so that what user code keeps on it, such as connections with heartbeats, stays alive.
    """

    def __init__(self, name: str) -> None:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_serve, args=(loop,), name=name, daemon=True)
        self._thread.start()
        # the instances of a failed job are dropped without being closed
        self._stop = weakref.finalize(self, loop.call_soon_threadsafe, loop.stop)

    def run(self, coroutine: Coroutine[Any, Any, T], check: Callable[[], None] | None = None) -> T:
        """Run a coroutine on the loop and wait for its result.

        Args:
            check: Called while the result is awaited; what it raises cancels the coroutine.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        while check is not None and not wait([future], _CHECK_SECONDS).done:
            try:
                check()
            except BaseException:
                future.cancel()
                raise
        return future.result()

    def close(self) -> None:
        """Cancel the remaining tasks and end the thread."""
        self._stop()
        self._thread.join()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()
