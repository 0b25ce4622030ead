"""Return unused memory to the operating system after large micro-batches."""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from collections.abc import Callable

#: Minimum time between two calls, each of which takes some milliseconds.
INTERVAL_SECONDS = 1.0

#: The memory of this process in pages; the third number is of mapped files.
_STATM = "/proc/self/statm"


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


def resident_files() -> int | None:
    """Return how many bytes of mapped files are in the memory of this process, None if the system does not tell."""
    try:
        handle = os.open(_STATM, os.O_RDONLY)
    except OSError:
        return None
    try:
        return int(os.read(handle, 256).split()[2]) * mmap.PAGESIZE
    finally:
        os.close(handle)
