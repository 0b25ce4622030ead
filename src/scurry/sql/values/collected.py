"""Conversion of values of columns to the values of `collect()`, which are PyFlink's."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from typing import Any

from scurry.common._java_numbers import float_text
from scurry.common._types import java_text
from scurry.common.types import Row
from scurry.sql import types
from scurry.sql.values.converters import Convert, Entries, ToPython, converted

_CHANGEABLE = (types.ArrayType, types.MapType, types.MultisetType, types.RowType, types.BinaryType, types.VarBinaryType)


def python_value(data_type: types.DataType) -> Convert:
    """Return the function that makes PyFlink's Python value of a value, None of NULL."""
    return converted(_COLLECTED.converter(data_type))


class _Collected(ToPython):
    simple = {
        types.BinaryType: bytearray,
        types.VarBinaryType: bytearray,
        types.RawType: pickle.loads,
        # PyFlink gets the text that Java shows: 1.1, not 1.10000002384185791015625.
        types.FloatType: lambda value: float(float_text(value)),
        types.DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
    }

    def dictionary(self, key_type: types.DataType, item_type: types.DataType) -> Convert:
        key, item = converted(self.converter(key_type)), converted(self.converter(item_type))
        if isinstance(key_type, _CHANGEABLE):
            return lambda pairs: dict(in_order_of_java([(_hashable(key(k)), item(v)) for k, v in pairs], key_type))
        return lambda pairs: dict(in_order_of_java([(key(k), item(v)) for k, v in pairs], key_type))

    def row(self, data_type: types.RowType, fields: list[Convert]) -> Convert:
        return lambda values: Row(*[one(each) for one, each in zip(fields, values, strict=True)])


_COLLECTED = _Collected()


def _hashable(value: Any) -> Any:
    """Return a value as the key of a dict: a tuple for a list, bytes for a bytearray."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((key, _hashable(each)) for key, each in value.items())
    if isinstance(value, Row):
        return Row(*map(_hashable, value))
    return bytes(value) if isinstance(value, bytearray) else value


def in_order_of_java(entries: Entries, key_type: types.DataType) -> Entries:
    """Return the entries of a map in the order of Java's HashMap, if the hash codes of its keys are known."""
    return _ordered(entries, _HASHES.get(type(key_type)))


def as_tables_keep(entries: Entries, key_type: types.DataType) -> Entries:
    """Return the entries of a dict in the order that they have in Flink's tables.

    It comes there as a HashMap of Java, of which Flink makes one whose keys are of its own types.
    """
    entries = in_order_of_java(entries, key_type)
    return (
        _ordered(entries, java_text.hash_of_string_data)
        if isinstance(key_type, types.CharType | types.VarCharType)
        else entries
    )


def _ordered(entries: Entries, code: Callable[[Any], int] | None) -> Entries:
    keys = [key for key, _ in entries]
    if code is None or len(keys) < 2 or None in keys:
        return entries
    return [entries[place] for place in java_text.hash_map_order([*map(code, keys)], slots=16)]


#: The hash codes of keys, as far as they are known: the entries of a map come in the order of Java's HashMap.
_HASHES: dict[type[types.DataType], Callable[[Any], int]] = {
    **dict.fromkeys((types.CharType, types.VarCharType), java_text.hash_of_string),
    **dict.fromkeys((types.TinyIntType, types.SmallIntType, types.IntType), lambda value: value & 0xFFFFFFFF),
    types.BigIntType: java_text.hash_of_long,
    types.BooleanType: java_text.hash_of_boolean,
    types.DoubleType: java_text.hash_of_double,
}
