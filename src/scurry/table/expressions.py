"""Expressions: not available yet; importing a name says so."""

from __future__ import annotations

from typing import NoReturn

from scurry.table._unavailable import unavailable


def __getattr__(name: str) -> NoReturn:
    raise unavailable("table.expressions", name)
