"""Unique names of columns in plans."""

from __future__ import annotations

from collections.abc import Iterable


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return names of which those that are there already have a number behind them, as `a`, `a0`, `a1`."""
    found: dict[str, None] = {}
    for name in names:
        number, new = 0, name
        while new in found:
            new, number = f"{name}{number}", number + 1
        found[new] = None
    return list(found)
