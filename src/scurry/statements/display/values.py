"""Values as the texts that `print` and the SQL client show."""

from __future__ import annotations

import datetime
import functools
import pickle
import re
import zoneinfo
from collections.abc import Callable
from typing import Any

from scurry.common._java_numbers import double_text, float_text
from scurry.functions.casts.texts import months_text
from scurry.logical_types import (
    ArrayType,
    BinaryType,
    BooleanType,
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
    StructuredType,
    TimestampType,
    TimeType,
    VarBinaryType,
    YearMonthIntervalType,
)

__all__ = ["shown_value"]

Text = Callable[[Any], str]

_EPOCH = datetime.datetime(1970, 1, 1)


def shown_value(data_type: DataType, time_zone: str) -> Text:
    """Return the function that makes the text of a value, as `print` shows it.

    Args:
        data_type: The type of the values.
        time_zone: The session's time zone, in which points of time are shown.
    """
    text = _text(data_type, time_zone)
    return lambda value: "NULL" if value is None else text(value)


def _text(data_type: DataType, time_zone: str) -> Text:
    from scurry.formats.temporal_text import nanos_of_timestamp, timestamp_text

    if isinstance(data_type, TimestampType):
        precision = data_type.precision
        return lambda value: timestamp_text(nanos_of_timestamp(value, precision), digits=precision)
    if isinstance(data_type, LocalZonedTimestampType):
        precision = data_type.precision
        return lambda value: timestamp_text(_local_nanos(value, precision, time_zone), digits=precision)
    if isinstance(data_type, ArrayType):
        element = shown_value(data_type.element_type, time_zone)
        return lambda values: "[" + ", ".join(map(element, values)) + "]"
    if isinstance(data_type, MapType):
        return _shown_map(data_type.key_type, data_type.value_type, time_zone)
    if isinstance(data_type, MultisetType):
        return _shown_map(data_type.element_type, IntType(), time_zone)
    if isinstance(data_type, StructuredType):
        names = data_type.names
        parts = [shown_value(field.data_type, time_zone) for field in data_type.fields]
        return lambda row: "(" + ", ".join(f"{n}={f(v)}" for n, f, v in zip(names, parts, row, strict=True)) + ")"
    if isinstance(data_type, RowType):
        fields = [shown_value(field.data_type, time_zone) for field in data_type.fields]
        names = (
            [f"{name}=" for name in data_type.names] if isinstance(data_type, StructuredType) else [""] * len(fields)
        )
        return lambda row: "(" + ", ".join(n + f(v) for n, f, v in zip(names, fields, row, strict=True)) + ")"
    return _shown_simple(data_type)


def _shown_map(key_type: DataType, value_type: DataType, time_zone: str) -> Text:
    key, item = shown_value(key_type, time_zone), shown_value(value_type, time_zone)
    return lambda pairs: "{" + ", ".join(f"{key(k)}={item(v)}" for k, v in pairs) + "}"


def _local_nanos(value: int, precision: int, time_zone: str) -> int:
    from scurry.formats.temporal_text import nanos_of_timestamp

    nanos = nanos_of_timestamp(value, precision)
    moment = _EPOCH.replace(tzinfo=datetime.UTC) + datetime.timedelta(seconds=nanos // 1_000_000_000)
    offset = moment.astimezone(_zone(time_zone)).utcoffset() or datetime.timedelta()
    return nanos + offset // datetime.timedelta(microseconds=1) * 1_000


@functools.cache
def _zone(name: str) -> datetime.tzinfo:
    offset = re.fullmatch(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?", name)
    if offset is not None:
        amount = datetime.timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return datetime.timezone(-amount if offset[1] == "-" else amount)
    if name in ("UTC", "GMT", "Z"):
        return datetime.UTC
    return zoneinfo.ZoneInfo(name)


def _shown_simple(data_type: DataType) -> Text:
    from scurry.formats.temporal_text import date_text, time_text

    texts: dict[type[DataType], Text] = {
        BooleanType: lambda value: "TRUE" if value else "FALSE",
        FloatType: float_text,
        DoubleType: double_text,
        BinaryType: lambda value: f"x'{value.hex()}'",
        VarBinaryType: lambda value: f"x'{value.hex()}'",
        RawType: lambda value: repr(pickle.loads(value)),
        DateType: date_text,
        TimeType: lambda value: time_text(value * 1_000_000),
        YearMonthIntervalType: months_text,
        DayTimeIntervalType: _day_time,
    }
    return texts.get(type(data_type), _plain)


def _plain(value: Any) -> str:
    import decimal

    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def _day_time(millis: int) -> str:
    seconds, rest = divmod(abs(millis), 1000)
    clock = f"{seconds // 3600 % 24:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:03d}"
    return f"{'-' if millis < 0 else '+'}{seconds // 86_400} {clock}"
