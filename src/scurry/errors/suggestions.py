"""Suggestions of names that are similar to one that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["alternatives", "did_you_mean", "similar_name", "similar_names"]


def similar_name(given: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to one, None if none is.

    Args:
        given: The name.
        known: The names there are.
        cutoff: How similar they have to be, from 0 to 1. Case does not count.
    """
    return next(iter(similar_names(given, known, cutoff, most=1)), None)


def similar_names(given: str, known: Iterable[str], cutoff: float = 0.6, most: int = 3) -> list[str]:
    """Return the known names that are similar to one, the most similar first; one that differs in case is alone.

    Args:
        given: The name.
        known: The names there are.
        cutoff: How similar they have to be, from 0 to 1. Case does not count.
        most: Most names.
    """
    by_folded: dict[str, str] = {}
    for name in known:
        by_folded.setdefault(name.casefold(), name)
    wanted = given.casefold()
    found = [wanted] if wanted in by_folded else get_close_matches(wanted, by_folded, n=most, cutoff=cutoff)
    return [by_folded[each] for each in found]


def did_you_mean(given: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `did you mean 'known'?`, empty if no known name is similar.

    Args:
        given: The name that there is not.
        known: The names there are.
        cutoff: How similar they have to be, from 0 to 1.
    """
    found = similar_name(given, known, cutoff)
    return f"did you mean '{found}'?" if found is not None else ""


def alternatives(missing: str, names: Iterable[str]) -> str:
    """Return the names that there are instead of a missing one, worded as the end of a message."""
    there = list(names)
    close = similar_name(missing, there)
    listed = ", ".join(there[:20]) + (", ..." if len(there) > 20 else "") or "none"
    return f"; did you mean {close!r}? There are {listed}" if close else f"; there are {listed}"
