"""How many cases a property is tested with: some in each run, all with SCURRY_CASES (`make test-nightly`)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_ASKED_FOR = os.environ.get("SCURRY_CASES")
#: Cases of a model of `tests/runtime/models`.
CASES = int(_ASKED_FOR or "30")


def cases(full: int) -> int:
    """Return the number of cases of a property: a third of `full` if SCURRY_CASES is not set."""
    return full if _ASKED_FOR else max(full // 3, 1)


#: Set by `make test`, a number that grows by one each day: some tests and cases have their turn on one day of several.
_TURN = os.environ.get("SCURRY_TURN")
#: On how many days each test marked `in_turn` has its turn once.
DAYS = 3


def sample(listed: Sequence[T], one_in: int) -> list[T]:
    """Return every `one_in`-th of some cases, others each day, where SCURRY_TURN is set; else all of them."""
    return list(listed) if _TURN is None else list(listed[int(_TURN) % one_in :: one_in])


def has_turn(module: str, number: int, turn: str | None = _TURN) -> bool:
    """Return whether a test has its turn: one day of three, those of a module one after the other.

    Args:
        module: Name of its module; by it, modules begin on different days.
        number: Which of the tests `in_turn` of the module it is.
        turn: SCURRY_TURN; without it, all tests have their turn.
    """
    return turn is None or (zlib.adler32(module.encode()) + number - int(turn)) % DAYS == 0
