"""How a lookup join asks again: the retry options of the hint `LOOKUP`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LookupRetry"]


@dataclass(frozen=True)
class LookupRetry:
    """What is done for keys of which a table has no rows.

    Attributes:
        delay: After how many milliseconds the table is asked again.
        retries: How often, after the first time.
    """

    delay: int
    retries: int
