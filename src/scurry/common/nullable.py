"""Conversion of values that may be None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["nullable"]


def nullable(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a conversion that keeps None, and leaves other values to `convert`."""
    return lambda value: None if value is None else convert(value)
