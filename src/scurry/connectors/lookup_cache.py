"""LookupCache: rows that were looked up lately, by key."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from scurry._dataclasses import dataclass

T = TypeVar("T")


@dataclass(frozen=True)
class CacheSettings:
    """The settings of a lookup cache.

    Attributes:
        max_rows: Number of keys; None for no limit. The one that was not used for longest is removed first.
        expire_after_write: How long after it was looked up a key is removed, in milliseconds; None for never.
        expire_after_access: How long after its last use a key is removed, in milliseconds; None for never.
        missing_keys: Whether keys without rows are kept.
        count_rows: Whether `max_rows` counts the rows of keys, at least one each, in place of keys.
    """

    max_rows: int | None = None
    expire_after_write: int | None = None
    expire_after_access: int | None = None
    missing_keys: bool = True
    count_rows: bool = False


class LookupCache(Generic[T]):
    """Keep the rows of keys, as Flink's `DefaultLookupCache` does; for one thread."""

    def __init__(self, settings: CacheSettings, now: Callable[[], float] = time.monotonic) -> None:
        """Create an empty cache.

        Args:
            settings: Size of the cache, and how long it keeps rows.
            now: A clock of seconds.
        """
        from cachetools import LRUCache  # not needed by programs without lookups

        self._settings = settings
        self._now = now
        limit = math.inf if settings.max_rows is None else settings.max_rows
        self._kept: Any = LRUCache(limit, _rows if settings.count_rows else None)

    def __len__(self) -> int:
        """Return the number of keys, those that expired since their last use among them."""
        return len(self._kept)

    def get(self, key: Hashable) -> Sequence[T] | None:
        """Return the rows of a key, None if they are not kept."""
        entry: _Entry[T] | None = self._kept.get(key)
        if entry is None:
            return None
        now, settings = self._now(), self._settings
        if _passed(settings.expire_after_write, entry.written, now) or _passed(
            settings.expire_after_access, entry.used, now
        ):
            del self._kept[key]
            return None
        entry.used = now
        return entry.rows

    def put(self, key: Hashable, rows: Sequence[T]) -> None:
        """Keep the rows of a key, unless it has none and such keys are not kept, or they are more than `max_rows`."""
        if not rows and not self._settings.missing_keys:
            return
        now = self._now()
        entry = _Entry(rows, now, now)
        self._kept.pop(key, None)
        if self._kept.getsizeof(entry) <= self._kept.maxsize:
            self._kept[key] = entry

    def clear(self) -> None:
        """Remove all keys."""
        self._kept.clear()


@dataclass
class _Entry(Generic[T]):
    rows: Sequence[T]
    written: float
    used: float


def _rows(entry: _Entry[Any]) -> int:
    return len(entry.rows) or 1


def _passed(milliseconds: int | None, since: float, now: float) -> bool:
    return milliseconds is not None and (now - since) * 1000 >= milliseconds
