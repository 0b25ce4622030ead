"""Timestamps that 64 bits do not hold are refused, never another time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.errors import EvaluationError
from scurry.sql.types import IntType, TimestampType
from sql.functions.evaluation import values

_LAST = int(np.datetime64("2262-04-11T23:47:16", "s").astype(np.int64)) * 10**9
#: Expressions of a timestamp `t` and a number `n` whose results lie years away.
MOVED = [
    "TIMESTAMPADD(YEAR, n, t)",
    "TIMESTAMPADD(MONTH, n, t)",
    "TIMESTAMPADD(DAY, n * 365, t)",
    "TIMESTAMPADD(HOUR, n * 8760, t)",
    "t + INTERVAL '300' YEAR(3)",
    "t - INTERVAL '99999' DAY(5)",
    "CEIL(t TO CENTURY)",
    "CEIL(t TO MILLENNIUM)",
    "FLOOR(t TO MILLENNIUM)",
    "CAST(CAST(t AS TIMESTAMP(3)) AS TIMESTAMP(9))",
]


@pytest.mark.parametrize("expression", MOVED)
@given(time=st.integers(-_LAST, _LAST), number=st.integers(-3000, 3000))
@settings(max_examples=25, deadline=None)
def test_a_moved_timestamp_of_nine_digits_is_that_of_six_digits_or_refused(
    expression: str, time: int, number: int
) -> None:
    time = time // 1000 * 1000
    count = (IntType(), pa.array([number], pa.int32()))
    short = (TimestampType(6), pa.array([time // 1000], pa.timestamp("us")))
    (expected,) = values(f"CAST({expression} AS STRING)".replace("(9)", "(6)"), t=short, n=count)
    long = (TimestampType(9), pa.array([time], pa.timestamp("ns")))
    try:
        (found,) = values(f"CAST({expression} AS STRING)", t=long, n=count)
    except EvaluationError as error:
        assert str(error).endswith("is between the years 1677 and 2262")
        assert not "1678" <= expected[:4] <= "2261" or expected.startswith(("-", "+")), expected
    else:
        assert found == f"{expected}000"


def test_a_timestamp_of_six_digits_does_not_wrap_either() -> None:
    time = (TimestampType(6), pa.array([0], pa.timestamp("us")))
    with pytest.raises(EvaluationError, match="between the years -290308 and 294247"):
        values("TIMESTAMPADD(DAY, 2147483647, t)", t=time)
