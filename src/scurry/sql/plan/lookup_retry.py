"""Retries of lookup joins: the options of the hint `LOOKUP`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LookupRetry:
    """The retry strategy for keys without rows in the table.

    Attributes:
        delay: After how many milliseconds the table is asked again.
        retries: How often, after the first time.
    """

    delay: int
    retries: int
