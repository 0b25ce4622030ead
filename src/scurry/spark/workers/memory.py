"""Return unused memory to the operating system after large micro-batches."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

#: Minimum time between two calls, each of which takes some milliseconds.
INTERVAL_SECONDS = 1.0


def _trimmer() -> Callable[[int], int]:
    """Return glibc's function that returns free memory, or one that does nothing with other C libraries."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return lambda _: 0
    return trim


_trim = _trimmer()
_next = 0.0


def give_back() -> None:
    """Return free memory to the operating system, after a task.

    A worker runs a source in one micro-batch and a level in the next. Without this, each worker would keep the most
    memory that any of them has ever needed.
    """
    global _next
    now = time.monotonic()
    if now < _next:
        return
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    _trim(0)
    _next = now + INTERVAL_SECONDS
