"""Parsers of the options of models that no table has."""

from __future__ import annotations

import math


def decimal_number(text: str) -> float:
    """Return a finite number.

    Raises:
        ValueError: It is none.
    """
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f'For input string: "{text}"')
    return found
