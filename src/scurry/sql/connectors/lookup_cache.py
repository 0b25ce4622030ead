"""LookupCache: rows that were looked up lately, by key."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["CacheSettings", "LookupCache"]

T = TypeVar("T")


@dataclass(frozen=True)
class CacheSettings:
    """The settings of a lookup cache.

    Attributes:
        max_rows: Number of keys; None for no limit. The one that was not used for longest is removed first.
        expire_after_write: How long after it was looked up a key is removed, in milliseconds; None for never.
        expire_after_access: How long after its last use a key is removed, in milliseconds; None for never.
        missing_keys: Whether keys without rows are kept.
    """

    max_rows: int | None = None
    expire_after_write: int | None = None
    expire_after_access: int | None = None
    missing_keys: bool = True


class LookupCache(Generic[T]):
    """Keep the rows of keys, as Flink's `DefaultLookupCache` does; for one thread."""

    def __init__(self, settings: CacheSettings, now: Callable[[], float] = time.monotonic) -> None:
        """Take the settings and a clock of seconds."""
        self._settings = settings
        self._now = now
        self._kept: OrderedDict[Hashable, _Entry[T]] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of keys, those that expired since their last use among them."""
        return len(self._kept)

    def get(self, key: Hashable) -> list[T] | None:
        """Return the rows of a key, None if they are not kept."""
        entry = self._kept.get(key)
        if entry is None:
            return None
        now = self._now()
        settings = self._settings
        if _passed(settings.expire_after_write, entry.written, now) or _passed(
            settings.expire_after_access, entry.used, now
        ):
            del self._kept[key]
            return None
        entry.used = now
        self._kept.move_to_end(key)
        return entry.rows

    def put(self, key: Hashable, rows: list[T]) -> None:
        """Keep the rows of a key, unless it has none and such keys are not kept."""
        if not rows and not self._settings.missing_keys:
            return
        now = self._now()
        self._kept.pop(key, None)
        self._kept[key] = _Entry(rows, now, now)
        while self._settings.max_rows is not None and len(self._kept) > self._settings.max_rows:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Remove all keys."""
        self._kept.clear()


@dataclass
class _Entry(Generic[T]):
    rows: list[T]
    written: float
    used: float


def _passed(milliseconds: int | None, since: float, now: float) -> bool:
    return milliseconds is not None and (now - since) * 1000 >= milliseconds
