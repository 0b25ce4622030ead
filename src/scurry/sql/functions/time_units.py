"""The units of dates and times."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from scurry.errors import EvaluationError
from scurry.sql.functions.calendar import Integers
from scurry.sql.functions.definition import CallSite, Signature, SignatureError
from scurry.sql.functions.signatures import Infer

DAY: Final = 86_400_000
#: Milliseconds of the units of a time of day, and of the next greater one.
TIME_PARTS: Final = {"HOUR": (3_600_000, DAY), "MINUTE": (60_000, 3_600_000), "SECOND": (1000, 60_000)}
FRACTIONS: Final = {"MILLISECOND": 1_000, "MICROSECOND": 1_000_000, "NANOSECOND": 1_000_000_000}
MONTHS: Final = {
    "MONTH": 1,
    "QUARTER": 3,
    "YEAR": 12,
    "ISOYEAR": 12,
    "DECADE": 120,
    "CENTURY": 1200,
    "MILLENNIUM": 12_000,
}
#: Units that say where a day lies, and have no length.
POSITIONS: Final = ("DOW", "ISODOW", "DOY", "EPOCH")
_LARGEST: Final = 2.0**63
SMALLEST: Final = ("MICROSECOND", "NANOSECOND")


def divided(values: Integers, divisor: int) -> Integers:
    """Divide as Java does, towards zero: for times before 1970 Flink's parts are those of the next day or second."""
    quotients: Integers = np.sign(values) * (np.abs(values) // divisor)
    return quotients


def remainder(values: Integers, divisor: int) -> Integers:
    """Return the remainder of a division towards zero."""
    rest: Integers = np.fmod(values, divisor)
    return rest


def refuse_overflow(estimate: np.ndarray[Any, np.dtype[Any]], units: int) -> None:
    """Refuse timestamps that 64 bits do not hold.

    Args:
        estimate: The timestamps, as floats.
        units: Their units per second.

    Raises:
        EvaluationError: One is too far from 1970.
    """
    if estimate.size and float(np.abs(estimate).max()) >= _LARGEST:
        some, years = (
            ("of more than 6 digits after the second ", "1677 and 2262")
            if units == 10**9
            else ("", "-290308 and 294247")
        )
        raise EvaluationError(f"a TIMESTAMP {some}is between the years {years}")


def with_count(infer: Infer, count: int) -> Infer:
    """Refuse calls with another number of arguments, in Calcite's words."""

    def checked(site: CallSite) -> Signature:
        if len(site.arguments) != count:
            raise SignatureError(
                f"Invalid number of arguments to function '{site.name}'. Was expecting {count} arguments"
            )
        return infer(site)

    return checked
