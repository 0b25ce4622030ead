"""Keys whose state is divided into parts although they have little of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scurry.runtime.operators import interval_join, joined_records, window_variants
from scurry.runtime.state import divided


@contextmanager
def dividing_early(windows: int = 1, per_part: int = 2, records: int = 2) -> Iterator[None]:
    """Divide keys with more open windows than these, or more records of one side of a join, entries or elements.

    Args:
        per_part: How many windows, records, entries or elements a part holds.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window_variants, "_UNDIVIDED", windows)
        patch.setattr(window_variants, "_TIMES", 0)
        patch.setattr(window_variants, "_WINDOWS", per_part)
        patch.setattr(interval_join, "UNDIVIDED", records)
        patch.setattr(joined_records, "PART_RECORDS", per_part)
        patch.setattr(divided, "MOST_IN_ENTRY", records)
        patch.setattr(divided, "MOST_IN_PART", per_part)
        yield
