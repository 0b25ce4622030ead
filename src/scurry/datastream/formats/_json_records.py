"""JSON as values of records, and back: the differences of Flink's schemas of streams from its tables."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scurry.common._epoch import EPOCH_UTC
from scurry.common._types import java_text
from scurry.common.time import Instant
from scurry.common.typeinfo import RowTypeInfo, Types
from scurry.common.types import Row
from scurry.connectors.files.formats.json.reader import Converter, Fraction, JsonSettings, JsonValues, tree_text
from scurry.connectors.files.formats.json.writer import JsonTexts, JsonWriting
from scurry.errors import TypeMismatchError, UnsupportedError
from scurry.errors.suggestions import alternatives
from scurry.sql.types import (
    CharType,
    DataType,
    DateType,
    DecimalType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.values.parsing import parse_timestamp
from scurry.sql.values.records import values_of
from scurry.sql.values.texts import Text, base64_text
from scurry.sql.values.type_information import value_type


def row_writer(declared: RowTypeInfo) -> Text:
    """Return the function that writes a row as an object.

    Raises:
        UnsupportedError: JSON does not support a type.
    """
    names, types = declared.get_field_names(), list(map(value_type, declared.get_field_types()))
    return _RecordTexts(JsonWriting()).object(names, types)


def row_reader(declared: RowTypeInfo, settings: JsonSettings, required: Sequence[str] = ()) -> Converter:
    """Return the function that reads an object as a row; it raises ValueError.

    Args:
        declared: The type of the row.
        settings: How.
        required: Fields that the object must have, even if others may be missing.

    Raises:
        UnsupportedError: JSON does not support a type.
    """
    names, types = tuple(declared.get_field_names()), list(map(value_type, declared.get_field_types()))
    read = _RecordValues(settings, frozenset(required)).object(names, types)
    return lambda value: Row._from_values(read(value), names)


class _RecordTexts(JsonTexts):
    def atom(self, data_type: DataType) -> Text | None:
        return _TEXTS.get(type(data_type)) or super().atom(data_type)

    def values_of(self, names: Sequence[str]) -> Callable[[Any], Iterable[Any]]:
        return lambda row: values_of(row, names)

    def entries_of(self, key_type: DataType) -> Callable[[Any], Iterable[tuple[Any, Any]]]:
        texts, text = isinstance(key_type, CharType | VarCharType), self.atom(key_type)
        if text is None:
            raise UnsupportedError(f"JSON cannot hold {key_type.as_summary_string()} as key of a map")

        def entries(value: Any) -> Iterable[tuple[str, Any]]:
            if None in value:
                raise TypeMismatchError("MAP", value, "JSON has no key None")
            return value.items() if texts else [(text(key), item) for key, item in value.items()]

        return entries


def _time(value: datetime.time) -> str:
    return java_text.time_of_day(value) + "Z"


def _timestamp(value: datetime.datetime) -> str:
    text = value.isoformat() if value.tzinfo is None else value.replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if value.microsecond else text) + "Z"


_TEXTS: dict[type[DataType], Text] = {
    DecimalType: str,
    VarBinaryType: lambda value: base64_text(bytes(value)),
    DateType: datetime.date.isoformat,
    TimeType: _time,
    TimestampType: _timestamp,
    LocalZonedTimestampType: java_text.instant,
}


class _RecordValues(JsonValues):
    def __init__(self, settings: JsonSettings, required: frozenset[str]) -> None:
        super().__init__(settings)
        self._required = required

    def required(self, names: Sequence[str]) -> frozenset[str]:
        return super().required(names) or self._required.intersection(names)

    def missing(self, name: str, within: str, given: dict[str, Any]) -> str:
        optional = f"; if it may be missing, declare it as {name}: ... | None" if name in self._required else ""
        return f"there is no field {within + name!r}{alternatives(name, given)}{optional}"

    def atom(self, data_type: DataType) -> Converter | None:
        if data_type == _BIG_INT:
            return _whole
        return _VALUES.get(type(data_type)) or super().atom(data_type)

    def row(self, names: Sequence[str]) -> Converter:
        made = tuple(names)
        return lambda values: Row._from_values(values, made)

    def entries(self, key_type: DataType, item: Converter) -> Converter:
        if isinstance(key_type, CharType | VarCharType):
            return lambda value: {key: item(part) for key, part in value.items()}
        key = self.field(key_type, "key of a map")
        return lambda value: {key(name): item(part) for name, part in value.items()}


_BIG_INT = value_type(Types.BIG_INT())


def _text(value: Any) -> str:
    """Return a value as the text that Jackson's tree has: of a number as Java shows it."""
    return value if isinstance(value, str) else tree_text(value)


def _whole(value: Any) -> int:
    return int(_text(value).strip())


_EXACT = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def _decimal(value: Any) -> decimal.Decimal:
    try:
        if isinstance(value, Fraction):
            exact = decimal.Decimal(value.text)
            # without trailing zeros and a sign of zero
            return exact.normalize(_EXACT) if exact else decimal.Decimal(0)
        return decimal.Decimal(_text(value).strip())
    except decimal.InvalidOperation:
        raise ValueError(f"{_text(value)!r} is no decimal number") from None


_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d\d:\d\d:\d\d(?:\.\d{1,9})?Z")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z")
_OFFSET = re.compile(r"[+-]\d\d:\d\d$")


def _date(value: Any) -> datetime.date:
    text = _text(value)
    if _DATE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no date such as 2020-01-02")
    return datetime.date.fromisoformat(text)


def _utc(value: Any, form: re.Pattern[str]) -> str:
    """Return a time in UTC without the Z."""
    text = _text(value)
    if form.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no time in UTC such as 10:11:12Z or 2020-01-02T10:11:12Z")
    return text[:-1]


def _instant(value: Any) -> Instant:
    if isinstance(value, int | float) and not isinstance(value, bool):
        exact = decimal.Decimal(value.text if isinstance(value, Fraction) else value)
        return Instant(*divmod(int(exact.scaleb(9)), 1_000_000_000))
    text, away = _text(value), datetime.timedelta()
    if _OFFSET.search(text):
        found = datetime.datetime.fromisoformat(f"1970-01-01T00:00:00{text[-6:]}")
        text, away = f"{text[:-6]}Z", found - EPOCH_UTC
    if _TIMESTAMP.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no time in UTC such as 2020-01-02T10:11:12Z")
    seconds, nanos = divmod(parse_timestamp(text, iso=True, zoned=True), 1_000_000_000)
    return Instant(seconds + int(away.total_seconds()), nanos)


_VALUES: dict[type[DataType], Converter] = {
    CharType: _text,
    VarCharType: _text,
    DecimalType: _decimal,
    DateType: _date,
    TimeType: lambda value: datetime.time.fromisoformat(_utc(value, _TIME)),
    TimestampType: lambda value: datetime.datetime.fromisoformat(_utc(value, _TIMESTAMP)),
    LocalZonedTimestampType: _instant,
}
