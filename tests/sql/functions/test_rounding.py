"""Numbers are rounded and truncated as real Flink 2.3 does it."""

from __future__ import annotations

import pytest

from sql.functions.corpus import answer


@pytest.mark.parametrize(("number", "truncated"), [("1.29", "1.2"), ("-1.29", "-1.2"), ("1e19", "1e+19")])
def test_a_double_is_truncated_towards_zero(number: str, truncated: str) -> None:
    assert answer({"expr": f"TRUNCATE(CAST('{number}' AS DOUBLE), 1)"}).value == truncated


@pytest.mark.parametrize("number", ["1e20", "1e300", "NaN"])
def test_a_double_that_is_no_decimal_of_38_digits_is_not_truncated(number: str) -> None:
    assert answer({"expr": f"TRUNCATE(CAST('{number}' AS DOUBLE))"}).error == "runtime"


def test_a_double_of_any_size_is_rounded() -> None:
    assert answer({"expr": "ROUND(CAST('1e300' AS DOUBLE), 1)"}).value == "1e+300"


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        ("CAST(-128 AS TINYINT)", "126"),
        ("CAST(32767 AS SMALLINT)", "-32766"),
        ("2147483647", "-2147483646"),
        ("9223372036854775807", "-9223372036854775806"),
    ],
)
def test_a_whole_number_that_is_rounded_out_of_its_range_goes_round(number: str, rounded: str) -> None:
    assert answer({"expr": f"ROUND({number}, -1)"}).value == rounded


def test_more_digits_than_any_number_has_are_refused() -> None:
    assert answer({"expr": "ROUND(CAST(12.5 AS DOUBLE), -2147483648)"}).error == "runtime"
