"""Declared types: conversion and text of a stream's values.

`Types` creates them. A `TypeInformation` is immutable, hashable and small to pickle. It also converts Python values to
its type, with the same effect as PyFlink's trip to Java and back (see `converter`).
"""

from __future__ import annotations

import datetime
import decimal
import typing
from collections.abc import Sequence
from typing import Any

from scurry.common._api import ApiObject
from scurry.common._type_variables import K, T, V
from scurry.common._types.basic_typeinfo import (
    BasicType,
    BasicTypeInfo,
    DataclassTypeInfo,
    DateTypeInfo,
    InstantTypeInfo,
    PickledBytesTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)
from scurry.common._types.composite_typeinfo import (
    BasicArrayTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    SequenceTypeInfo,
    TupleTypeInfo,
)
from scurry.common.time import Instant

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DataclassTypeInfo",
    "DateTypeInfo",
    "ExternalTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "SequenceTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
    "type_info_from_hint",
]

_STRING = BasicTypeInfo(BasicType.STRING)
_BYTE = BasicTypeInfo(BasicType.BYTE)
_BOOLEAN = BasicTypeInfo(BasicType.BOOLEAN)
_SHORT = BasicTypeInfo(BasicType.SHORT)
_INT = BasicTypeInfo(BasicType.INT)
_LONG = BasicTypeInfo(BasicType.LONG)
_FLOAT = BasicTypeInfo(BasicType.FLOAT)
_DOUBLE = BasicTypeInfo(BasicType.DOUBLE)
_CHAR = BasicTypeInfo(BasicType.CHAR)
_BIG_INT = BasicTypeInfo(BasicType.BIG_INT)
_BIG_DEC = BasicTypeInfo(BasicType.BIG_DEC)
_INSTANT = InstantTypeInfo(BasicType.INSTANT)


class Types(ApiObject):
    """Create declared types, as Flink's `Types`. Each method names the Python values that its type accepts."""

    @staticmethod
    def STRING() -> TypeInformation[str]:
        """Return the type of text: `str`."""
        return _STRING

    @staticmethod
    def BYTE() -> TypeInformation[int]:
        """Return the type of 8-bit integers: numbers, whose fraction is cut off."""
        return _BYTE

    @staticmethod
    def BOOLEAN() -> TypeInformation[bool]:
        """Return the type of booleans: `bool`, or a number from 0 to 255."""
        return _BOOLEAN

    @staticmethod
    def SHORT() -> TypeInformation[int]:
        """Return the type of 16-bit integers: numbers, whose fraction is cut off."""
        return _SHORT

    @staticmethod
    def INT() -> TypeInformation[int]:
        """Return the type of 32-bit integers: numbers, whose fraction is cut off."""
        return _INT

    @staticmethod
    def LONG() -> TypeInformation[int]:
        """Return the type of 64-bit integers: numbers, whose fraction is cut off."""
        return _LONG

    @staticmethod
    def FLOAT() -> TypeInformation[float]:
        """Return the type of 32-bit floats: numbers, rounded."""
        return _FLOAT

    @staticmethod
    def DOUBLE() -> TypeInformation[float]:
        """Return the type of 64-bit floats: numbers."""
        return _DOUBLE

    @staticmethod
    def CHAR() -> TypeInformation[str]:
        """Return the type of one character: `str` of length 1."""
        return _CHAR

    @staticmethod
    def BIG_INT() -> TypeInformation[int]:
        """Return the type of integers of any size: numbers, whose fraction is cut off."""
        return _BIG_INT

    @staticmethod
    def BIG_DEC() -> TypeInformation[decimal.Decimal]:
        """Return the type of exact decimals: `Decimal`, or a value that can be read as one."""
        return _BIG_DEC

    @staticmethod
    def INSTANT() -> TypeInformation[Instant]:
        """Return the type of points in time: `Instant` or None."""
        return _INSTANT

    @staticmethod
    def SQL_DATE() -> TypeInformation[datetime.date]:
        """Return the type of dates: `datetime.date`, or the date of a `datetime.datetime`."""
        return DateTypeInfo()

    @staticmethod
    def SQL_TIME() -> TypeInformation[datetime.time]:
        """Return the type of times of day: `datetime.time`, cut to milliseconds."""
        return TimeTypeInfo()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation[datetime.datetime]:
        """Return the type of local timestamps: `datetime.datetime`, cut to milliseconds, its zone dropped."""
        return TimestampTypeInfo()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Return the type of any Python object."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of rows with fields of these types, named f0, f1, ...: `Row`, tuple or list."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of rows with named fields: `Row`, tuple, list, dict or an object with such attributes."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """Return the type of tuples: tuple, list or `Row` of as many values."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of arrays without null: a list, or `bytes` if the elements are BYTE."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Return the type of arrays of numbers, booleans or text that may hold null: a list."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Return the type of arrays of anything that may hold null: a list."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> TypeInformation[dict[K, V]]:
        """Return the type of maps: a dict."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation[T]) -> TypeInformation[list[T]]:
        """Return the type of lists without null: a list."""
        return ListTypeInfo(element_type_info)


_HINTS: dict[Any, TypeInformation] = {
    int: _LONG,
    float: _DOUBLE,
    str: _STRING,
    bool: _BOOLEAN,
    bytes: PrimitiveArrayTypeInfo(_BYTE),
    decimal.Decimal: _BIG_DEC,
    datetime.date: DateTypeInfo(),
    datetime.time: TimeTypeInfo(),
    datetime.datetime: TimestampTypeInfo(),
    Instant: _INSTANT,
}


def type_info_from_hint(hint: Any) -> TypeInformation | None:
    """Return the declared type that matches a Python annotation.

    Args:
        hint: An evaluated annotation, such as `int`, `tuple[int, str]`, `list[float]` or `dict[str, int]`.

    Returns:
        The type, or None if values with this annotation stay Python objects: dataclasses, `Row`, optional types, types
        of open length, and unknown ones.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return type_info_from_hint(args[0])
    if origin not in (tuple, list, dict):
        return _HINTS.get(hint) if isinstance(hint, type) and origin is None else None
    parts = [None if arg is Ellipsis else type_info_from_hint(arg) for arg in args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    if origin is tuple:
        return TupleTypeInfo(known)
    return ListTypeInfo(known[0]) if origin is list else MapTypeInfo(known[0], known[1])
