"""Values as texts: casts to CHAR and VARCHAR."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.common._java_numbers import double_text, float_text
from scurry.sql import types
from scurry.sql.functions.bitmaps import unpacked
from scurry.sql.functions.definition import Column, EvaluationContext
from scurry.sql.functions.java_text import plain_decimal
from scurry.sql.functions.kernels import on_values
from scurry.sql.functions.time_zones import offset_at, utc_to_local, zone
from scurry.sql.types.arrow import timestamp_unit, units_per_second
from scurry.sql.types.atomic_types import MAX_LENGTH
from scurry.sql.types.families import BINARY, CHARACTER, STRING, TIMESTAMP

_FIRST_YEAR: Final = np.datetime64("0001-01-01", "D")
_AFTER_LAST_YEAR: Final = np.datetime64("10000-01-01", "D")

Cast = Callable[[Column], Column]
Text = Callable[[Any], str]


def text_cast(source: types.DataType, target: types.CharType | types.VarCharType, session: EvaluationContext) -> Cast:
    plain = _plain_cast(source, session)
    fit = fitted_text(target)
    return plain if fit is None else lambda column: fit(plain(column))


def fitted_text(target: types.CharType | types.VarCharType) -> Cast | None:
    """Return the cast of texts to the length of a type: cut, and padded with blanks for CHAR; None without effect."""
    length = target.length
    if length == MAX_LENGTH:
        return None
    if isinstance(target, types.CharType):
        return lambda column: pc.utf8_rpad(pc.utf8_slice_codeunits(column, 0, length), length, " ")
    return lambda column: pc.utf8_slice_codeunits(column, 0, length)


def fitted_constant(target: types.CharType | types.VarCharType) -> Cast | None:
    """Return the same for constants, which Flink's planner pads by their length in UTF-16."""
    length = target.length
    if not isinstance(target, types.CharType) or length == MAX_LENGTH:
        return fitted_text(target)
    return on_values(lambda text: text[:length] + " " * (length - len(text.encode("utf-16-le")) // 2), STRING)


def _plain_cast(source: types.DataType, session: EvaluationContext) -> Cast:
    if isinstance(source, CHARACTER):
        return lambda column: column
    if isinstance(source, types.IntegralType):
        return lambda column: pc.cast(column, pa.string())
    if isinstance(source, types.BooleanType):
        return lambda column: pc.if_else(column, "TRUE", "FALSE")
    if isinstance(source, BINARY):
        return on_values(lambda value: value.decode("utf-8", "replace"), STRING)
    by_value = on_values(text_of(source, session), STRING)
    if isinstance(source, (types.DateType, *TIMESTAMP)):
        return _of_points(source, session, by_value)
    return by_value


def _of_points(source: Any, session: EvaluationContext, by_value: Cast) -> Cast:
    length = 10 if isinstance(source, types.DateType) else 20 + source.precision if source.precision else 19

    def cast(column: Column) -> Column:
        shown = iso_text(column, source, session.time_zone)
        return (
            by_value(column)
            if shown is None
            else pc.replace_substring(pc.utf8_slice_codeunits(shown, 0, length), "T", " ")
        )

    return cast


def iso_text(column: Column, source: Any, time_zone: str, days_only: bool = False) -> Column | None:
    """Return the wall clocks of a column as `2020-02-29T13:14:15.678`.

    Args:
        column: A column of DATE, TIMESTAMP or TIMESTAMP_LTZ.
        source: Its type.
        days_only: Whether the days are enough: there are few, of which each is formatted once.

    Returns:
        The texts; None if a year is not one of four digits.
    """
    if isinstance(column, pa.Scalar):
        return None
    unit = "D" if isinstance(source, types.DateType) else timestamp_unit(source.precision)
    plain = column.view(pa.int32() if unit == "D" else pa.int64())
    numbers = np.asarray(pc.fill_null(plain, 0)).astype(np.int64)
    if isinstance(source, types.LocalZonedTimestampType):
        numbers = utc_to_local(numbers, units_per_second(source), time_zone)
    points = numbers.astype(f"datetime64[{unit}]")
    if len(points) and not (_FIRST_YEAR <= points.min() and points.max() < _AFTER_LAST_YEAR):
        return None
    nulls = np.asarray(column.is_null())
    if not days_only:
        return pa.array(np.datetime_as_string(points), pa.string(), mask=nulls)
    days, places = np.unique(points.astype("datetime64[D]"), return_inverse=True)
    return pa.array(np.datetime_as_string(days), pa.string()).take(pa.array(places, mask=nulls))


def text_of(source: types.DataType, session: EvaluationContext) -> Text:
    """Return the function from a value of a type that is not null to its text."""
    make = _TEXTS.get(type(source))
    if make is None:
        raise AssertionError(f"{source.as_summary_string()} has no text")
    return make(source, session)


def _date_text(days: int) -> str:
    return str(np.datetime64(days, "D"))


def _time_text(milliseconds: int, precision: int) -> str:
    seconds, fraction = divmod(milliseconds, 1000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    # A TIME shows its fraction without zeros at the end.
    shown = f"{fraction:03d}"[:precision].rstrip("0")
    return f"{text}.{shown}" if shown else text


def timestamp_text(value: int, units: int, precision: int) -> str:
    """Return a wall clock as SQL writes it.

    Args:
        value: Units since 1970.
        units: Units of a second.
        precision: The number of digits after the second to show.
    """
    seconds, fraction = divmod(value, units)
    text = str(np.datetime64(seconds, "s")).replace("T", " ")
    if not precision:
        return text
    return f"{text}.{str(fraction).rjust(len(str(units)) - 1, '0').ljust(precision, '0')[:precision]}"


def _timestamp(source: Any, session: EvaluationContext) -> Text:
    units, precision = units_per_second(source), source.precision
    return lambda value: timestamp_text(value, units, precision)


def _local_timestamp(source: Any, session: EvaluationContext) -> Text:
    units, precision, time_zone = units_per_second(source), source.precision, zone(session.time_zone)

    def text(value: int) -> str:
        return timestamp_text(value + offset_at(value // units, time_zone) * units, units, precision)

    return text


def months_text(months: int) -> str:
    """Return an interval of months as years and months."""
    years, rest = divmod(abs(months), 12)
    return f"{'-' if months < 0 else '+'}{years}-{rest:02d}"


def _milliseconds_text(milliseconds: int) -> str:
    seconds, fraction = divmod(abs(milliseconds), 1000)
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:03d}"
    return f"{'-' if milliseconds < 0 else '+'}{days} {clock}"


def _or_null(text: Text) -> Text:
    return lambda value: "NULL" if value is None else text(value)


def _array(source: Any, session: EvaluationContext) -> Text:
    element = _or_null(text_of(source.element_type, session))
    return lambda values: f"[{', '.join(map(element, values))}]"


def _pairs(key: Text, value: Text) -> Text:
    return lambda pairs: "{" + ", ".join(f"{key(name)}={value(item)}" for name, item in pairs) + "}"


def _map(source: Any, session: EvaluationContext) -> Text:
    return _pairs(_or_null(text_of(source.key_type, session)), _or_null(text_of(source.value_type, session)))


def _multiset(source: Any, session: EvaluationContext) -> Text:
    return _pairs(_or_null(text_of(source.element_type, session)), str)


def _row(source: Any, session: EvaluationContext) -> Text:
    fields = [_or_null(text_of(field.data_type, session)) for field in source.fields]
    return lambda row: f"({', '.join(text(value) for text, value in zip(fields, row, strict=True))})"


def _structured(source: Any, session: EvaluationContext) -> Text:
    names = [field.name for field in source.fields]
    texts = [_or_null(text_of(field.data_type, session)) for field in source.fields]
    return lambda row: (
        f"({', '.join(f'{name}={text(value)}' for name, text, value in zip(names, texts, row, strict=True))})"
    )


def _always(text: Text) -> Callable[[Any, EvaluationContext], Text]:
    return lambda source, session: text


_TEXTS: dict[type[types.DataType], Callable[[Any, EvaluationContext], Text]] = {
    types.RawType: _always(lambda value: repr(pickle.loads(value))),
    types.NullType: _always(lambda value: "NULL"),
    types.BooleanType: _always(lambda value: "TRUE" if value else "FALSE"),
    **dict.fromkeys(types.IntegralType.__subclasses__(), _always(str)),
    **dict.fromkeys(CHARACTER, _always(str)),
    **dict.fromkeys(BINARY, _always(lambda value: value.decode("utf-8", "replace"))),
    types.DoubleType: _always(double_text),
    types.FloatType: _always(float_text),
    types.DecimalType: _always(plain_decimal),
    types.DateType: _always(_date_text),
    types.TimeType: lambda source, session: lambda value: _time_text(value, source.precision),
    types.TimestampType: _timestamp,
    types.LocalZonedTimestampType: _local_timestamp,
    types.YearMonthIntervalType: _always(months_text),
    types.DayTimeIntervalType: _always(_milliseconds_text),
    types.ArrayType: _array,
    types.MapType: _map,
    types.MultisetType: _multiset,
    types.RowType: _row,
    types.StructuredType: _structured,
    types.BitmapType: _always(lambda value: "{" + ",".join(map(str, unpacked(value))) + "}"),
}
