"""Hints after SELECT: those on how to join change no result; those that would, and are not there, are refused."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.errors import UnsupportedError
from scurry.sql import nodes

__all__ = ["check_hints"]

_RETRIES = {"retry-predicate", "retry-strategy", "fixed-delay", "max-attempts"}


def check_hints(hints: Sequence[nodes.Hint], is_streaming: bool) -> None:
    """Check the hints of a SELECT.

    Raises:
        UnsupportedError: STREAMING would give other results with the hint, which scurry does not have.
    """
    for hint in hints if is_streaming else ():
        name, place = hint.name.upper(), hint.span.describe()
        where = f"{place}: " if place else ""
        if name == "STATE_TTL":
            raise UnsupportedError(
                f"{where}the hint STATE_TTL is not supported; set 'table.exec.state.ttl' for the query"
            )
        if name == "LOOKUP" and any(option.key in _RETRIES for option in hint.options):
            raise UnsupportedError(
                f"{where}the hint LOOKUP does not retry missing rows; set 'lookup.max-retries' on the table for errors"
            )
