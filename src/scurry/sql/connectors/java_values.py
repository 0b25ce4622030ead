"""The texts that Java's `toString` gives for values of tables, as the `print` connector shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scurry.common._java_numbers import double_text, float_text
from scurry.common._types import java_text
from scurry.sql.types import (
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
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    YearMonthIntervalType,
)
from scurry.sql.values.texts import date_text, nanos_of_timestamp

Text = Callable[[Any], str]

_NANOS_PER_DAY = 86_400_000_000_000


def field_texts(types: Sequence[DataType]) -> list[Text]:
    """Return the function for the values of each type; the values are those of `logical_types.values`."""
    return list(map(_text, types))


def _nullable(text: Text) -> Text:
    return lambda value: "null" if value is None else text(value)


def _text(data_type: DataType) -> Text:
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        precision = data_type.precision
        end = "Z" if isinstance(data_type, LocalZonedTimestampType) else ""
        return lambda value: _timestamp(nanos_of_timestamp(value, precision), bool(end)) + end
    if isinstance(data_type, ArrayType):
        element = _nullable(_text(data_type.element_type))
        return lambda values: "[" + ", ".join(map(element, values)) + "]"
    if isinstance(data_type, MapType):
        return _map(_text(data_type.key_type), _text(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return _map(_text(data_type.element_type), _text(IntType()))
    if isinstance(data_type, RowType):
        fields = [_nullable(_text(field.data_type)) for field in data_type.fields]
        return lambda row: "+I[" + ", ".join(f(v) for f, v in zip(fields, row, strict=True)) + "]"
    return _SIMPLE.get(type(data_type), str)


def _map(key: Text, item: Text) -> Text:
    key, item = _nullable(key), _nullable(item)
    return lambda pairs: "{" + ", ".join(f"{key(k)}={item(v)}" for k, v in dict(pairs).items()) + "}"


def _timestamp(nanos: int, instant: bool) -> str:
    days, of_day = divmod(nanos, _NANOS_PER_DAY)
    return f"{date_text(days)}T{_local_time(of_day, seconds_always=instant)}"


def _local_time(nanos: int, seconds_always: bool = False) -> str:
    """Return the text of a `LocalTime`: seconds only if needed, fractions in groups of three digits."""
    seconds, fraction = divmod(nanos, 1_000_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    if not (seconds % 60 or fraction or seconds_always):
        return text
    text += f":{seconds % 60:02d}"
    if not fraction:
        return text
    digits = 3 if fraction % 1_000_000 == 0 else 6 if fraction % 1_000 == 0 else 9
    return f"{text}.{f'{fraction:09d}'[:digits]}"


def _bytes(value: bytes) -> str:
    return "[" + ", ".join(str(byte - 256 if byte > 127 else byte) for byte in value) + "]"


def _period(months: int) -> str:
    """Return the text of a `java.time.Period` of years and months."""
    years, rest = int(months / 12), months - int(months / 12) * 12
    return "P" + (f"{years}Y" if years else "") + (f"{rest}M" if rest else "") if months else "P0D"


def _duration(millis: int) -> str:
    """Return the text of a `java.time.Duration`."""
    if not millis:
        return "PT0S"
    sign, left = (-1, -millis) if millis < 0 else (1, millis)
    hours, left = divmod(left, 3_600_000)
    minutes, left = divmod(left, 60_000)
    text = "PT" + (f"{sign * hours}H" if hours else "") + (f"{sign * minutes}M" if minutes else "")
    if left:
        fraction = f"{left % 1000:03d}".rstrip("0")
        text += ("-" if sign < 0 else "") + str(left // 1000) + (f".{fraction}" if fraction else "") + "S"
    return text


_SIMPLE: dict[type[DataType], Text] = {
    BooleanType: java_text.boolean,
    FloatType: float_text,
    DoubleType: double_text,
    BinaryType: _bytes,
    VarBinaryType: _bytes,
    DateType: date_text,
    TimeType: lambda value: _local_time(value * 1_000_000),
    YearMonthIntervalType: _period,
    DayTimeIntervalType: _duration,
}
