"""TO_TIMESTAMP_LTZ of numbers: exact, and NULL outside the years 0 to 9999."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scurry.errors import EvaluationError
from scurry.sql.types import BigIntType, IntType
from sql.functions.evaluation import value, values

_EDGES = [-62_167_219_200_000, 253_402_300_799_999]


@given(number=st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**14), 10**15), precision=st.integers(0, 6))
@example(number=_EDGES[0], precision=3)
@example(number=_EDGES[0] - 1, precision=3)
@example(number=_EDGES[1], precision=3)
@example(number=_EDGES[1] + 1, precision=3)
@example(number=_EDGES[1] * 1000 + 999, precision=6)
@settings(max_examples=200, deadline=None)
def test_a_column_of_numbers_has_the_times_of_its_values(number: int, precision: int) -> None:
    units = 10 ** (3 if precision <= 3 else 6)
    time = number * units // 10**precision
    known = _EDGES[0] * units // 1000 <= time <= _EDGES[1] * units // 1000
    column = (BigIntType(), pa.array([number, None]))
    assert values(f"TO_TIMESTAMP_LTZ(n, {precision})", n=column) == [time if known else None, None]


@pytest.mark.parametrize(("number", "time"), [(0, 0), (-1, -1000), (2, 2000)])
def test_seconds_are_milliseconds_of_the_result(number: int, time: int) -> None:
    assert values("TO_TIMESTAMP_LTZ(n, 0)", n=(IntType(), pa.array([number], pa.int32()))) == [time]


@pytest.mark.parametrize(("number", "time"), [("Infinity", None), ("-Infinity", None), ("NaN", 0)])
def test_a_double_that_is_no_number_is_no_time_as_in_java(number: str, time: int | None) -> None:
    assert value(f"TO_TIMESTAMP_LTZ(CAST('{number}' AS DOUBLE), 3)") == time


def test_a_precision_that_is_computed_is_checked_for_each_row() -> None:
    with pytest.raises(EvaluationError, match="must be between 0 and 9 but was -1"):
        values("TO_TIMESTAMP_LTZ(100, p)", p=(IntType(), pa.array([-1], pa.int32())))
