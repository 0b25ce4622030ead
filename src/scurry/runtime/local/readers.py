"""Read the splits of a micro-batch: side by side in threads where several wait for a network, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from typing import TYPE_CHECKING, TypeVar

from scurry.common._process import threads as process

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

S = TypeVar("S")
T = TypeVar("T")

#: Maximum number of splits that are read at once.
_MOST = 32


class Readers:
    """Read splits.

    Args:
        threads: Whether threads may read; without, or if there is one split, the present thread reads.
    """

    def __init__(self, threads: bool) -> None:
        self._threads = threads and process.THREADS
        self._pool: ThreadPoolExecutor | None = None
        #: what readers set for their own use; the job's thread has other values
        self._context = Context()

    def map(self, read: Callable[[S], T], splits: Sequence[S]) -> Iterator[T]:
        """Begin to read splits; yield the results in their order."""
        if not self._threads or len(splits) <= 1:
            return (self._context.run(read, each) for each in splits)
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(_MOST)
        return self._pool.map(read, splits)

    def close(self) -> None:
        """Wait for the splits that are being read."""
        if self._pool is not None:
            self._pool.shutdown()
