"""Frequency of Python's garbage collection while records are processed."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Thresholds of the collector. Records and state are many objects with hardly any cycles: looking at all of them for
#: each 700 new ones takes longer than making them.
RARELY = (1_000_000, 100, 100)


class _Inside:
    """Threads that process records, and the thresholds outside."""

    lock = threading.Lock()
    threads = 0
    outside = gc.get_threshold()


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Look for garbage rarely, in the whole process, until the last of the threads that ask for it leaves."""
    with _Inside.lock:
        if not _Inside.threads:
            _Inside.outside = gc.get_threshold()
            gc.set_threshold(*RARELY)
        _Inside.threads += 1
    try:
        yield
    finally:
        with _Inside.lock:
            _Inside.threads -= 1
            if not _Inside.threads:
                gc.set_threshold(*_Inside.outside)
