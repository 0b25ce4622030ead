"""How many random cases a property is tested with: some in each run, all with SCURRY_CASES (`make test-nightly`)."""

from __future__ import annotations

import os

_ASKED_FOR = os.environ.get("SCURRY_CASES")
#: Cases of a model of `tests/runtime/models`.
CASES = int(_ASKED_FOR or "30")


def cases(full: int) -> int:
    """Return the number of cases of a property: a third of `full` if SCURRY_CASES is not set."""
    return full if _ASKED_FOR else max(full // 3, 1)
