"""Types and values in JSON, beside those that tests/fixtures/gateway has of Flink."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from scurry.sql.gateway.layout import data_type_of, dumps, json_value, logical_type
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)


@pytest.mark.parametrize(
    ("data_type", "value", "written"),
    [
        (
            DecimalType(38, 18),
            Decimal("12345678901234567890.120000000000000000"),
            "12345678901234567890.120000000000000000",
        ),
        (FloatType(), 0.10000000149011612, "0.1"),
        (DoubleType(), 1e10, "1.0E10"),
        (DoubleType(), float("-inf"), '"-Infinity"'),
        (BigIntType(), 9223372036854775807, "9223372036854775807"),
        (TimestampType(9), 1, '"1970-01-01T00:00:00.000000001"'),
        (LocalZonedTimestampType(6), 1_840_000, '"1970-01-01T00:00:01.84Z"'),
        (ArrayType(DecimalType(2, 1)), [Decimal("1.5"), None], "[1.5, null]"),
        (MapType(DateType(), DoubleType()), [(0, 2.0)], '{"1970-01-01": 2.0}'),
    ],
)
def test_values_are_written_with_the_digits_of_flink(data_type: DataType, value: Any, written: str) -> None:
    assert dumps(json_value(data_type)(value)) == written


@pytest.mark.parametrize(
    "data_type",
    [
        IntType(nullable=False), BooleanType(), CharType(3), VarCharType(7), BinaryType(2), VarBinaryType(9),
        DateType(), DecimalType(10, 2), TimeType(3), TimestampType(3), LocalZonedTimestampType(9), ArrayType(IntType()),
        MapType(IntType(), DoubleType()), RowType([RowField("a", IntType()), RowField("b", VarCharType(4))]),
    ],
)  # fmt: skip
def test_a_type_is_read_as_it_was_written(data_type: DataType) -> None:
    assert data_type_of(logical_type(data_type)).as_summary_string() == data_type.as_summary_string()
