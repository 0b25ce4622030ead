"""Values of BSON and columns."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest
from bson import Binary, Code, Decimal128, Int64, MaxKey, ObjectId, Regex
from bson.timestamp import Timestamp

from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.connectors.mongodb.values import check_type, reader, writer
from scurry.errors import TypeMismatchError, UnsupportedError
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BooleanType,
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
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

TEXT = VarCharType(100)
DAY = datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)
MILLIS = 1709168523456


@pytest.mark.parametrize(
    ("kind", "bson", "record"),
    [
        (TEXT, "a", "a"),
        (TEXT, ObjectId("5f5f5f5f5f5f5f5f5f5f5f5f"), "5f5f5f5f5f5f5f5f5f5f5f5f"),
        (TEXT, {"a": 1}, '{"a": 1}'),
        (TEXT, 7, "7"),
        (BooleanType(), True, True),
        (IntType(), 7, 7),
        (IntType(), 7.0, 7),
        (BigIntType(), Int64(1 << 40), 1 << 40),
        (BigIntType(), Decimal128("7"), 7),
        (DoubleType(), 0.5, 0.5),
        (DoubleType(), 7, 7.0),
        (DecimalType(10, 2), Decimal128("1.25"), decimal.Decimal("1.25")),
        (DecimalType(10, 2), 1.25, decimal.Decimal("1.25")),
        (VarBinaryType(9), Binary(b"ab"), b"ab"),
        (TimestampType(3), DAY, DAY),
        (TimestampType(3), Timestamp(0, 1), datetime.datetime(1970, 1, 1)),
        (LocalZonedTimestampType(3), DAY, Instant.of_epoch_milli(MILLIS)),
        (ArrayType(IntType()), [1, None], [1, None]),
        (MapType(TEXT, IntType()), {"a": 1}, {"a": 1}),
        (RowType([RowField("a", IntType()), RowField("b", TEXT)]), {"a": 1}, Row(a=1, b=None)),
        (IntType(), None, None),
    ],
)
def test_bson_is_read(kind: DataType, bson: Any, record: Any) -> None:
    found = reader(kind)(bson)
    assert found == record
    assert type(found) is type(record)


@pytest.mark.parametrize(
    ("kind", "bson"),
    [(IntType(), "a"), (IntType(), 1.5), (IntType(), float("nan")), (BooleanType(), 1), (DoubleType(), "1"),
     (VarBinaryType(1), "a"), (TimestampType(3), "2024"), (ArrayType(IntType()), {"a": 1}), (DecimalType(5, 2), True),
     (RowType([RowField("a", IntType())]), [1]), (MapType(TEXT, TEXT), "a"), (BigIntType(), MaxKey())],
)  # fmt: skip
def test_bson_that_does_not_fit_is_named(kind: DataType, bson: Any) -> None:
    with pytest.raises(TypeMismatchError, match="of BSON"):
        reader(kind)(bson)


@pytest.mark.parametrize("bson", [Regex("a+"), Code("f()"), [1, 2], DAY])
def test_other_bson_is_a_text_of_extended_json(bson: Any) -> None:
    assert isinstance(reader(TEXT)(bson), str)


@pytest.mark.parametrize(
    ("kind", "record", "bson"),
    [
        (IntType(), 7, 7),
        (BigIntType(), 7, Int64(7)),
        (DecimalType(10, 2), decimal.Decimal("1.25"), Decimal128("1.25")),
        (LocalZonedTimestampType(3), Instant.of_epoch_milli(MILLIS), DAY),
        (ArrayType(BigIntType()), [7, None], [Int64(7), None]),
        (MapType(TEXT, BigIntType()), {"a": 7}, {"a": Int64(7)}),
        (RowType([RowField("a", BigIntType())]), Row(7), {"a": Int64(7)}),
        (IntType(), None, None),
    ],
)
def test_records_are_written_as_bson(kind: DataType, record: Any, bson: Any) -> None:
    found = writer(kind)(record)
    assert found == bson
    assert type(found) is type(bson)


@pytest.mark.parametrize(
    "kind",
    [DateType(), TimeType(), FloatType(), TinyIntType(), SmallIntType(), ArrayType(DateType()),
     RowType([RowField("a", DateType())]), MapType(TEXT, DateType())],
)  # fmt: skip
def test_types_without_a_value_of_bson_are_refused(kind: DataType) -> None:
    with pytest.raises(UnsupportedError, match="column 'c' is .*, for which BSON has no value; declare INT"):
        check_type(kind, "c")


def test_keys_of_maps_are_texts() -> None:
    with pytest.raises(UnsupportedError, match="declare MAP<STRING"):
        check_type(MapType(IntType(), IntType()), "c")
