"""What real Flink 2.3 reads as a number or a point in time."""

from __future__ import annotations

import pytest

from sql.functions.corpus import answer


@pytest.mark.parametrize(
    ("text", "number"),
    [("T", "0.0"), ("12a", "12.0"), ("1.5x", "1.5"), (".", "0.0"), ("-x", "0.0"), ("1e", "1.0"), ("1x ", "1.0")],
)
def test_a_decimal_of_few_digits_is_read_up_to_one_character_that_is_none(text: str, number: str) -> None:
    assert answer({"expr": f"CAST('{text}' AS DECIMAL(5, 1))"}).value == number
    assert answer({"expr": f"TRY_CAST('{text}' AS DECIMAL(20, 1))"}).value is None


@pytest.mark.parametrize("text", ["", "+", "ab", "1..", "1.2.3", "12 3", "x5", "é", "１"])
def test_other_texts_are_no_decimal(text: str) -> None:
    assert answer({"expr": f"CAST('{text}' AS DECIMAL(5, 1))"}).error == "runtime"


@pytest.mark.parametrize("data_type", ["INT", "DOUBLE", "DATE", "TIME(0)"])
def test_digits_of_other_scripts_are_no_digits(data_type: str) -> None:
    assert answer({"expr": f"CAST('12' AS {data_type})"}).value is not None
    assert answer({"expr": f"TRY_CAST('１２' AS {data_type})"}).value is None
