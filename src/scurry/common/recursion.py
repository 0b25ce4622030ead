"""Deep recursion: statements whose expressions are nested more deeply than Python's default limit allows."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from scurry.errors import ValidationError

__all__ = ["deep_recursion"]

#: Frames of Python. Each takes less than 700 bytes of the 8 MiB of a thread's stack.
_LIMIT: Final = 10_000

_lock = threading.Lock()
_inside = 0
_before = 0


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let functions call themselves more often than Python's default limit allows, for as long as any thread asks.

    Raises:
        ValidationError: That is not deep enough.
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_LIMIT, _before))
        _inside += 1
    try:
        yield
    except RecursionError:
        raise ValidationError(
            f"A query or an expression of the statement is nested too deeply: more than {_LIMIT:,} calls of Python\n"
            "  hint: split it into views, or compute a part of it in a subquery"
        ) from None
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _restore(_before)


def _restore(limit: int) -> None:
    try:
        sys.setrecursionlimit(limit)
    except RecursionError:  # this thread is deeper than the limit already: who called it will be asked again
        pass
