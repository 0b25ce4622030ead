"""Families of types (numbers, texts, points of time ...), and nullable instances of the most used types."""

from __future__ import annotations

from typing import Final

from scurry.sql.types.atomic_types import (
    MAX_LENGTH,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    NumericType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.intervals import DayTimeIntervalType, YearMonthIntervalType
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType

NUMERIC: Final = (NumericType,)
INTEGER: Final = (IntegralType,)
EXACT: Final = (IntegralType, DecimalType)
APPROXIMATE: Final = (FloatType, DoubleType)
CHARACTER: Final = (CharType, VarCharType)
BINARY: Final = (BinaryType, VarBinaryType)
TIMESTAMP: Final = (TimestampType, LocalZonedTimestampType)
DATETIME: Final = (DateType, TimeType, TimestampType, LocalZonedTimestampType)
INTERVAL: Final = (YearMonthIntervalType, DayTimeIntervalType)
COLLECTION: Final = (ArrayType, MapType, MultisetType)

BOOLEAN: Final = BooleanType()
TINYINT: Final = TinyIntType()
SMALLINT: Final = SmallIntType()
INT: Final = IntType()
BIGINT: Final = BigIntType()
FLOAT: Final = FloatType()
DOUBLE: Final = DoubleType()
STRING: Final = VarCharType(MAX_LENGTH)
BYTES: Final = VarBinaryType(MAX_LENGTH)
DATE: Final = DateType()
#: The only intervals of the planner, for literals of any unit: months, and milliseconds.
YEAR_MONTH_INTERVAL: Final = YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.MONTH)
DAY_TIME_INTERVAL: Final = DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.SECOND, fractional_precision=3)


def planner_interval(data_type: DataType) -> DataType:
    """Return the interval that the planner has for one of any units, and other types as they are."""
    if isinstance(data_type, YearMonthIntervalType):
        return YEAR_MONTH_INTERVAL.with_nullability(data_type.is_nullable)
    if isinstance(data_type, DayTimeIntervalType):
        return DAY_TIME_INTERVAL.with_nullability(data_type.is_nullable)
    return data_type


def is_rowtime(data_type: DataType) -> bool:
    """Return whether a type is that of an event-time attribute."""
    return isinstance(data_type, TIMESTAMP) and data_type.is_rowtime


def is_proctime(data_type: DataType) -> bool:
    """Return whether a type is that of a processing-time attribute."""
    return isinstance(data_type, TIMESTAMP) and data_type.is_proctime


def is_time_attribute(data_type: DataType) -> bool:
    """Return whether a type is that of a time attribute."""
    return is_rowtime(data_type) or is_proctime(data_type)


def without_time_attribute(data_type: DataType) -> DataType:
    """Return the type of the same values that are no time attribute."""
    return data_type.as_time_attribute(None) if isinstance(data_type, TIMESTAMP) else data_type


def same_type(left: DataType, right: DataType) -> bool:
    """Return whether two types have the same values, null and time attributes aside."""
    return _plain(left) == _plain(right)


def _plain(data_type: DataType) -> DataType:
    return without_time_attribute(data_type).nullable()
