"""Comparisons of NaN, as Java makes them and Flink's planner changes them."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from scurry.sql.types import DoubleType
from sql.functions.evaluation import value, values

COLUMNS = {
    "x": (DoubleType(), pa.array([math.nan, math.nan, 1.0, 0.0, None])),
    "y": (DoubleType(), pa.array([math.nan, 1.0, math.nan, -0.0, 1.0])),
}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x = y", [False, False, False, True, None]),
        ("x <> y", [True, True, True, False, None]),
        ("x >= y", [False, False, False, True, None]),
        ("x < y", [False, False, False, False, None]),
        ("NOT (x <= y)", [False, False, False, False, None]),
        ("NOT (x = y)", [True, True, True, False, None]),
        ("x BETWEEN y AND y", [False, False, False, True, None]),
        ("x = x", [True, True, True, True, None]),
        ("x <> x", [False, False, False, False, None]),
        ("x <= x", [True, True, True, True, None]),
    ],
)
def test_nan_is_compared_as_in_flink(condition: str, expected: list[bool | None]) -> None:
    assert values(condition, **COLUMNS) == expected


def test_a_constant_is_equal_to_itself() -> None:
    assert value("CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)") is True
