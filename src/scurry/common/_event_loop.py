"""An asyncio event loop for operators, which are not asynchronous themselves."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

from scurry.common._process import threads

T = TypeVar("T")

#: Seconds between two checks while a result is awaited.
_CHECK_SECONDS = 0.1


class EventLoopThread:
    """An event loop in its own thread.

    It also runs between blocks, so that what user code keeps on it, such as connections with heartbeats, stays alive.
    Without threads, it only runs while a result is awaited.
    """

    def __init__(self, name: str) -> None:
        if not threads.THREADS:
            self._here = _CallersLoop()
            return
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
        if not threads.THREADS:
            return self._here.run(coroutine, check)
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
        if not threads.THREADS:
            self._here.shut_down()
            return
        self._stop()
        self._thread.join()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


class _CallersLoop(asyncio.BaseEventLoop):
    """An event loop without sockets, and so with timers only, that runs in its caller, also within another loop."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self

    def select(self, timeout: float | None) -> tuple[()]:
        """Wait for the next timer; nothing else can come without threads and sockets."""
        if timeout is None:
            raise RuntimeError("a coroutine waits for what cannot come: there are no threads and no sockets here")
        time.sleep(timeout)
        return ()

    def _process_events(self, event_list: object) -> None:
        return

    def _write_to_self(self) -> None:
        return

    def run(self, coroutine: Coroutine[Any, Any, T], check: Callable[[], None] | None) -> T:
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            return self.run_until_complete(_checked(coroutine, check))
        finally:
            asyncio._set_running_loop(outer)

    def shut_down(self) -> None:
        self.run(_cancel_others(), None)
        self.close()


async def _checked(coroutine: Coroutine[Any, Any, T], check: Callable[[], None] | None) -> T:
    if check is None:
        return await coroutine
    task = asyncio.ensure_future(coroutine)
    while not (await asyncio.wait([task], timeout=_CHECK_SECONDS))[0]:
        try:
            check()
        except BaseException:
            task.cancel()
            raise
    return task.result()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
