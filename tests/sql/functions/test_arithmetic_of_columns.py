"""Arithmetic over columns agrees with naive models, value by value."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from scurry.sql.types import DecimalType
from scurry.sql.types.families import BIGINT, INT
from sql.functions.evaluation import values

EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)
AMOUNTS = st.decimals(-(10**10) + 1, 10**10 - 1, places=2)
LARGE = st.integers(-(10**38) + 1, 10**38 - 1).map(lambda digits: Decimal(digits).scaleb(-18, EXACT))


def rounded(number: Decimal, data_type: DecimalType) -> Decimal | None:
    found = number.quantize(Decimal(1).scaleb(-data_type.scale), ROUND_HALF_UP, EXACT)
    return found if abs(found) < Decimal(10) ** (data_type.precision - data_type.scale) else None


def as_java(number: int, bits: int) -> int:
    low = number & ((1 << bits) - 1)
    return low - (1 << bits) if low >> (bits - 1) else low


@given(INTS, INTS.filter(bool))
def test_quotients_and_remainders_of_whole_numbers_are_those_of_java(left: int, right: int) -> None:
    columns = {"a": (INT, pa.array([left], pa.int32())), "b": (INT, pa.array([right], pa.int32()))}
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    assert values("a / b", **columns) == [as_java(quotient, 32)]
    assert values("a % b", **columns) == [left - quotient * right]


@given(LONGS, LONGS)
def test_whole_numbers_wrap_around(left: int, right: int) -> None:
    columns = {"a": (BIGINT, pa.array([left])), "b": (BIGINT, pa.array([right]))}
    assert values("a + b", **columns) == [as_java(left + right, 64)]
    assert values("a * b", **columns) == [as_java(left * right, 64)]


@given(AMOUNTS, AMOUNTS.filter(bool))
def test_decimals_are_exact_and_rounded_half_up(left: Decimal, right: Decimal) -> None:
    amount = DecimalType(12, 2)
    columns = {name: (amount, pa.array([each], pa.decimal128(12, 2))) for name, each in (("a", left), ("b", right))}
    assert values("a - b", **columns) == [left - right]
    assert values("a * b", **columns) == [EXACT.multiply(left, right)]
    assert values("a / b", **columns) == [rounded(EXACT.divide(left, right), DecimalType(27, 15))]
    assert values("CAST(a AS DECIMAL(9, 1))", **columns) == [rounded(left, DecimalType(9, 1))]
    assert values("CAST(a AS DOUBLE)", **columns) == [float(left)]


@given(LARGE, LARGE)
def test_decimals_with_too_many_digits_are_null(left: Decimal, right: Decimal) -> None:
    wide = DecimalType(38, 18)
    columns = {name: (wide, pa.array([each], pa.decimal128(38, 18))) for name, each in (("a", left), ("b", right))}
    assert values("a + b", **columns) == [rounded(EXACT.add(left, right), DecimalType(38, 17))]
    assert values("a * b", **columns) == [rounded(EXACT.multiply(left, right), DecimalType(38, 6))]
