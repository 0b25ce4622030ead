"""Convert Python values to their declared types: types of single values.

In PyFlink, a value crosses to Java and back between operators, encoded by its declared type. This module has the same
observable effect without that trip. There are two forms of each conversion:

* a *converter* takes one value and returns it converted, or raises `TypeMismatchError`;
* a *column converter* takes a list or tuple of values and returns **the same object** if no value has to be
  converted. It runs for every record of a job, so it decides that with a few C loops over the whole column. It may
  raise anything on a bad value: the caller finds the bad value with the plain converter.
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Callable, Sequence
from operator import countOf, is_
from typing import Any, TypeAlias

from scurry.common.time import Instant
from scurry.errors import TypeMismatchError

Converter: TypeAlias = Callable[[Any], Any]
Column: TypeAlias = Sequence[Any]
ColumnConverter: TypeAlias = Callable[[Column], Column]


def all_of(column: Column, cls: type) -> bool:
    """Return whether every value is exactly of one class."""
    return countOf(map(type, column), cls) == len(column)


def convert_each(convert: Converter, column: Column) -> Column:
    """Convert value by value; return the same column if nothing changes."""
    converted = [convert(value) for value in column]
    return column if all(map(is_, converted, column)) else converted


def column_of(cls: type, convert: Converter) -> ColumnConverter:
    """Return the column converter of a type that stands for exactly the values of one Python class."""

    def column_converter(column: Column) -> Column:
        return column if all_of(column, cls) else convert_each(convert, column)

    return column_converter


def column_each(convert: Converter) -> ColumnConverter:
    """Return the column converter of a rare type: value by value."""
    return lambda column: convert_each(convert, column)


# --- numbers


def integer(declared: object, bits: int) -> Converter:
    """Return the converter of BYTE, SHORT, INT or LONG; fractions are cut off, as PyFlink's coders do."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def convert(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        number = _to_int(declared, value)
        if low <= number <= high:
            return number
        raise TypeMismatchError(declared, value, f"outside {low}..{high}")

    return convert


def integer_column(convert: Converter, bits: int) -> ColumnConverter:
    """Return the column converter of BYTE, SHORT, INT or LONG."""
    code = {8: "b", 16: "h", 32: "i", 64: "q"}[bits]

    def column_converter(column: Column) -> Column:
        if countOf(map(type, column), int) < len(column):
            return convert_each(convert, column)
        # Packing is the fastest way to compare every value with both limits.
        struct.Struct(f"{len(column)}{code}").pack(*column)
        return column

    return column_converter


def big_int(declared: object) -> Converter:
    """Return the converter of BIG_INT: any int, unlike PyFlink, whose coder cuts it to 64 bits."""
    return lambda value: value if type(value) is int else _to_int(declared, value)


def _to_int(declared: object, value: Any) -> int:
    if not isinstance(value, (str, bytes, bytearray)) and hasattr(value, "__int__"):
        try:
            return int(value)
        except (ValueError, OverflowError, TypeError) as error:
            raise TypeMismatchError(declared, value, str(error)) from None
    raise TypeMismatchError(declared, value)


def boolean(declared: object) -> Converter:
    """Return the converter of BOOLEAN: bools, and numbers from 0 to 255, of which 0 is False."""

    def convert(value: Any) -> bool:
        if value is True or value is False:
            return bool(value)
        number = _to_int(declared, value)
        if 0 <= number <= 255:
            return number != 0
        raise TypeMismatchError(declared, value, "outside 0..255")

    return convert


def double(declared: object) -> Converter:
    """Return the converter of DOUBLE: any number."""

    def convert(value: Any) -> float:
        if type(value) is float:
            return value
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeMismatchError(declared, value)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeMismatchError(declared, value, str(error)) from None

    return convert


def single(declared: object) -> Converter:
    """Return the converter of FLOAT: any number, rounded to 32 bits; too large becomes infinity."""
    to_double = double(declared)

    def convert(value: Any) -> float:
        number = to_double(value)
        rounded = float32(number)
        return number if rounded == number else rounded

    return convert


_FLOAT = struct.Struct("f")


def float32(number: float) -> float:
    """Round to the nearest 32-bit float."""
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return rounded


def single_column(convert: Converter) -> ColumnConverter:
    def column_converter(column: Column) -> Column:
        if not all_of(column, float):
            return convert_each(convert, column)
        packed = struct.Struct(f"{len(column)}f")
        try:
            rounded = packed.unpack(packed.pack(*column))
        except OverflowError:
            return convert_each(convert, column)
        return column if rounded == tuple(column) else list(rounded)

    return column_converter


def big_decimal(declared: object) -> Converter:
    """Return the converter of BIG_DEC: any value that reads as a finite decimal number; it has no negative zero."""

    def convert(value: Any) -> decimal.Decimal:
        try:
            number = value if type(value) is decimal.Decimal else decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            raise TypeMismatchError(declared, value) from None
        if not number.is_finite():
            raise TypeMismatchError(declared, value, "Java's BigDecimal is finite")
        return number if number or not number.is_signed() else number.copy_abs()

    return convert


# --- text and bytes


def string(declared: object) -> Converter:
    def convert(value: Any) -> str:
        if isinstance(value, str):
            return str.__str__(value)
        raise TypeMismatchError(declared, value)

    return convert


def char(declared: object) -> Converter:
    """Return the converter of CHAR: a str of one character."""

    def convert(value: Any) -> str:
        if isinstance(value, str) and len(value) == 1:
            return str.__str__(value)
        raise TypeMismatchError(declared, value, "a CHAR is a str of length 1")

    return convert


def byte_string(declared: object) -> Converter:
    """Return the converter of an array of BYTE, which in Python is `bytes`."""

    def convert(value: Any) -> bytes:
        if isinstance(value, (bytes, bytearray)):
            return bytes(value)
        raise TypeMismatchError(declared, value, "an array of BYTE is a bytes or bytearray")

    return convert


# --- time


def date(declared: object) -> Converter:
    """Return the converter of SQL_DATE: the date of a date or datetime."""

    def convert(value: Any) -> datetime.date:
        if type(value) is datetime.date:
            return value
        if isinstance(value, datetime.date):
            return datetime.date(value.year, value.month, value.day)
        raise TypeMismatchError(declared, value)

    return convert


def time_of_day(declared: object) -> Converter:
    """Return the converter of SQL_TIME: the time of a time or datetime, cut to milliseconds, without zone."""

    def convert(value: Any) -> datetime.time:
        if not isinstance(value, (datetime.time, datetime.datetime)):
            raise TypeMismatchError(declared, value)
        micros = value.microsecond
        if type(value) is datetime.time and value.tzinfo is None and not value.fold and micros % 1000 == 0:
            return value
        return datetime.time(value.hour, value.minute, value.second, micros - micros % 1000)

    return convert


def timestamp(declared: object) -> Converter:
    """Return the converter of SQL_TIMESTAMP: a datetime cut to milliseconds; a zone is dropped, not converted."""

    def convert(value: Any) -> datetime.datetime:
        if not isinstance(value, datetime.datetime):
            raise TypeMismatchError(declared, value)
        micros = value.microsecond
        if type(value) is datetime.datetime and value.tzinfo is None and not value.fold and micros % 1000 == 0:
            return value
        return datetime.datetime(
            value.year, value.month, value.day, value.hour, value.minute, value.second, micros - micros % 1000
        )

    return convert


def instant(declared: object) -> Converter:
    """Return the converter of INSTANT, the one scalar that may be None anywhere."""

    def convert(value: Any) -> Instant | None:
        if value is None or isinstance(value, Instant):
            return value
        raise TypeMismatchError(declared, value)

    return convert
