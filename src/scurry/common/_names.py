"""Advice on names that are not there."""

from __future__ import annotations

from collections.abc import Iterable

from scurry.errors.suggestions import similar_name

__all__ = ["alternatives"]


def alternatives(missing: str, names: Iterable[str]) -> str:
    """Return the names that there are instead of a missing one, worded as the end of a message."""
    there = list(names)
    close = similar_name(missing, there)
    listed = ", ".join(there[:20]) + (", ..." if len(there) > 20 else "") or "none"
    return f"; did you mean {close!r}? There are {listed}" if close else f"; there are {listed}"
