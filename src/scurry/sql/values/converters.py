"""Parts that conversions of values to Python share."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["Convert", "converted", "naive_datetime"]

Convert: TypeAlias = Callable[[Any], Any]

_EPOCH = datetime.datetime(1970, 1, 1)


def naive_datetime(per_second: int) -> Convert:
    """Return the conversion of points of time, counted in parts of a second, to datetimes without a zone."""

    def convert(value: int) -> datetime.datetime:
        seconds, rest = divmod(value, per_second)
        return _EPOCH + datetime.timedelta(seconds=seconds, microseconds=rest * 1_000_000 // per_second)

    return convert


def converted(convert: Convert | None) -> Convert:
    """Return a conversion that keeps None; without `convert`, one that keeps all values."""
    return lambda value: value if convert is None or value is None else convert(value)
