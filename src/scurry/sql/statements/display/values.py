"""Values as the texts that `print` and the SQL client show."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from scurry.common._java_numbers import double_text, float_text
from scurry.sql import types
from scurry.sql.functions.casts.texts import months_text
from scurry.sql.functions.time_zones import offset_at, zone

Text = Callable[[Any], str]

_NANOS = 1_000_000_000


def shown_value(data_type: types.DataType, time_zone: str) -> Text:
    """Return the function that makes the text of a value, as `print` shows it.

    Args:
        time_zone: The session's time zone, in which points of time are shown.
    """
    text = _text(data_type, time_zone)
    return lambda value: "NULL" if value is None else text(value)


def _text(data_type: types.DataType, time_zone: str) -> Text:
    from scurry.sql.values.texts import nanos_of_timestamp, timestamp_text

    if isinstance(data_type, types.TimestampType):
        precision = data_type.precision
        return lambda value: timestamp_text(nanos_of_timestamp(value, precision), digits=precision)
    if isinstance(data_type, types.LocalZonedTimestampType):
        return _local_timestamp(data_type.precision, time_zone)
    if isinstance(data_type, types.ArrayType):
        element = shown_value(data_type.element_type, time_zone)
        return lambda values: "[" + ", ".join(map(element, values)) + "]"
    if isinstance(data_type, types.MapType):
        return _shown_map(data_type.key_type, data_type.value_type, time_zone)
    if isinstance(data_type, types.MultisetType):
        return _shown_map(data_type.element_type, types.IntType(), time_zone)
    if isinstance(data_type, types.StructuredType):
        names = data_type.names
        parts = [shown_value(field.data_type, time_zone) for field in data_type.fields]
        return lambda row: "(" + ", ".join(f"{n}={f(v)}" for n, f, v in zip(names, parts, row, strict=True)) + ")"
    if isinstance(data_type, types.RowType):
        fields = [shown_value(field.data_type, time_zone) for field in data_type.fields]
        names = (
            [f"{name}=" for name in data_type.names]
            if isinstance(data_type, types.StructuredType)
            else [""] * len(fields)
        )
        return lambda row: "(" + ", ".join(n + f(v) for n, f, v in zip(names, fields, row, strict=True)) + ")"
    return _shown_simple(data_type)


def _local_timestamp(precision: int, time_zone: str) -> Text:
    from scurry.sql.values.texts import nanos_of_timestamp, timestamp_text

    local = zone(time_zone)

    def text(value: int) -> str:
        nanos = nanos_of_timestamp(value, precision)
        return timestamp_text(nanos + offset_at(nanos // _NANOS, local) * _NANOS, digits=precision)

    return text


def _shown_map(key_type: types.DataType, value_type: types.DataType, time_zone: str) -> Text:
    key, item = shown_value(key_type, time_zone), shown_value(value_type, time_zone)
    return lambda pairs: "{" + ", ".join(f"{key(k)}={item(v)}" for k, v in pairs) + "}"


def _shown_simple(data_type: types.DataType) -> Text:
    from scurry.sql.values.texts import date_text, time_text

    texts: dict[type[types.DataType], Text] = {
        types.BooleanType: lambda value: "TRUE" if value else "FALSE",
        types.FloatType: float_text,
        types.DoubleType: double_text,
        types.BinaryType: lambda value: f"x'{value.hex()}'",
        types.VarBinaryType: lambda value: f"x'{value.hex()}'",
        types.RawType: lambda value: repr(pickle.loads(value)),
        types.DateType: date_text,
        types.TimeType: lambda value: time_text(value * 1_000_000),
        types.YearMonthIntervalType: months_text,
        types.DayTimeIntervalType: _day_time,
    }
    return texts.get(type(data_type), _plain)


def _plain(value: Any) -> str:
    import decimal

    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def _day_time(millis: int) -> str:
    seconds, rest = divmod(abs(millis), 1000)
    clock = f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:03d}"
    return f"{'-' if millis < 0 else '+'}{seconds // 86_400} {clock}"
