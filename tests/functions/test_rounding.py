"""Numbers are rounded and truncated as real Flink 2.3 does it."""

from __future__ import annotations

import pytest

from functions.corpus import answer


@pytest.mark.parametrize(("number", "truncated"), [("1.29", "1.2"), ("-1.29", "-1.2"), ("1e19", "1e+19")])
def test_a_double_is_truncated_towards_zero(number: str, truncated: str) -> None:
    assert answer({"expr": f"TRUNCATE(CAST('{number}' AS DOUBLE), 1)"}).value == truncated


@pytest.mark.parametrize("number", ["1e20", "1e300", "NaN"])
def test_a_double_that_is_no_decimal_of_38_digits_is_not_truncated(number: str) -> None:
    assert answer({"expr": f"TRUNCATE(CAST('{number}' AS DOUBLE))"}).error == "runtime"


def test_a_double_of_any_size_is_rounded() -> None:
    assert answer({"expr": "ROUND(CAST('1e300' AS DOUBLE), 1)"}).value == "1e+300"
