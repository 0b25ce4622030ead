"""How many cases a property is tested with: some in each run, all with SCURRY_CASES (`make test-nightly`)."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_ASKED_FOR = os.environ.get("SCURRY_CASES")
#: Cases of a model of `tests/runtime/models`.
CASES = int(_ASKED_FOR or "30")


def cases(full: int) -> int:
    """Return the number of cases of a property: a third of `full` if SCURRY_CASES is not set."""
    return full if _ASKED_FOR else max(full // 3, 1)


def sample(listed: Sequence[T], one_in: int) -> list[T]:
    """Return every `one_in`-th of some cases, others each day; all of them if SCURRY_CASES is set.

    Commits of one day run the same cases. SCURRY_SEED, a number, decides instead of the day.
    """
    if _ASKED_FOR:
        return list(listed)
    seed = os.environ.get("SCURRY_SEED")
    return list(listed[(datetime.date.today().toordinal() if seed is None else int(seed)) % one_in :: one_in])
