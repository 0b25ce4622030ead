"""Conversion of result values to PyFlink's Python values."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from typing import Any

from scurry.common._java_numbers import float_text
from scurry.common._types import java_text
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RawType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

__all__ = ["as_tables_keep", "in_order_of_java", "python_value"]

Convert = Callable[[Any], Any]
Entries = list[tuple[Any, Any]]

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_PER_SECOND = (1_000, 1_000, 1_000, 1_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000_000, 1_000_000_000, 1_000_000_000)


def python_value(data_type: DataType) -> Convert:
    """Return the function that makes PyFlink's Python value of a value, None of NULL."""
    convert = _python(data_type)
    return lambda value: None if value is None else convert(value)


def _python(data_type: DataType) -> Convert:
    if isinstance(data_type, TimestampType):
        per_second = _PER_SECOND[data_type.precision]
        return lambda value: _datetime(value, per_second)
    if isinstance(data_type, LocalZonedTimestampType):
        per_second = _PER_SECOND[data_type.precision]
        return lambda value: _instant(value, per_second)
    if isinstance(data_type, ArrayType):
        element = python_value(data_type.element_type)
        return lambda values: list(map(element, values))
    if isinstance(data_type, MapType):
        return _dict(data_type.key_type, data_type.value_type)
    if isinstance(data_type, MultisetType):
        return _dict(data_type.element_type, IntType())
    if isinstance(data_type, RowType):
        fields = [python_value(field.data_type) for field in data_type.fields]
        return lambda row: Row(*[field(value) for field, value in zip(fields, row, strict=True)])
    return _PYTHON.get(type(data_type), _same)


def _same(value: Any) -> Any:
    return value


def _dict(key_type: DataType, value_type: DataType) -> Convert:
    key, item = python_value(key_type), python_value(value_type)
    if isinstance(key_type, ArrayType | MapType | MultisetType | RowType | BinaryType | VarBinaryType):
        return lambda pairs: dict(in_order_of_java([(_hashable(key(k)), item(v)) for k, v in pairs], key_type))
    return lambda pairs: dict(in_order_of_java([(key(k), item(v)) for k, v in pairs], key_type))


def _hashable(value: Any) -> Any:
    """Return a value as the key of a dict: a tuple for a list, bytes for a bytearray."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((key, _hashable(each)) for key, each in value.items())
    if isinstance(value, Row):
        return Row(*map(_hashable, value))
    return bytes(value) if isinstance(value, bytearray) else value


def in_order_of_java(entries: Entries, key_type: DataType) -> Entries:
    """Return the entries of a map in the order of Java's HashMap, if the hash codes of its keys are known."""
    return _ordered(entries, _HASHES.get(type(key_type)))


def as_tables_keep(entries: Entries, key_type: DataType) -> Entries:
    """Return the entries of a dict in the order that they have in Flink's tables.

    It comes there as a HashMap of Java, of which Flink makes one whose keys are of its own types.
    """
    entries = in_order_of_java(entries, key_type)
    return _ordered(entries, java_text.hash_of_string_data) if isinstance(key_type, CharType | VarCharType) else entries


def _ordered(entries: Entries, code: Callable[[Any], int] | None) -> Entries:
    keys = [key for key, _ in entries]
    if code is None or len(keys) < 2 or None in keys:
        return entries
    return [entries[place] for place in java_text.hash_map_order([*map(code, keys)], slots=16)]


def _datetime(value: int, per_second: int) -> datetime.datetime:
    seconds, rest = divmod(value, per_second)
    return _EPOCH + datetime.timedelta(seconds=seconds, microseconds=rest * 1_000_000 // per_second)


def _instant(value: int, per_second: int) -> Instant:
    seconds, rest = divmod(value, per_second)
    return Instant(seconds, rest * (1_000_000_000 // per_second))


_PYTHON: dict[type[DataType], Convert] = {
    BinaryType: bytearray,
    VarBinaryType: bytearray,
    RawType: pickle.loads,
    # PyFlink gets the text that Java shows: 1.1, not 1.10000002384185791015625.
    FloatType: lambda value: float(float_text(value)),
    DateType: lambda days: datetime.date.fromordinal(_EPOCH_DAY + days),
    TimeType: lambda millis: (_EPOCH + datetime.timedelta(milliseconds=millis)).time(),
    DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
}

#: The hash codes of keys, as far as they are known: the entries of a map come in the order of Java's HashMap.
_HASHES: dict[type[DataType], Callable[[Any], int]] = {
    **dict.fromkeys((CharType, VarCharType), java_text.hash_of_string),
    **dict.fromkeys((TinyIntType, SmallIntType, IntType), lambda value: value & 0xFFFFFFFF),
    BigIntType: java_text.hash_of_long,
    BooleanType: java_text.hash_of_boolean,
    DoubleType: java_text.hash_of_double,
}
