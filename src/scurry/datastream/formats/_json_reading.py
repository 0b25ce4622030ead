"""Convert JSON to values of declared types, as leniently as Flink (Jackson) does."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import re
from collections.abc import Callable, Collection
from typing import Any

from scurry.common import typeinfo
from scurry.common._charsets import text_of
from scurry.common._epoch import micros_of_datetime
from scurry.common.time import Instant
from scurry.common.typeinfo import BasicType, BasicTypeInfo, TypeInformation, Types
from scurry.common.types import Row
from scurry.connectors.files.formats.csv.schema import scalar_parser
from scurry.errors import UnsupportedError
from scurry.errors.suggestions import alternatives
from scurry.sql.values.type_information import value_type

Reader = Callable[[Any], Any]

_BLANKS = re.compile(r"[ \t\r\n]*")


class _Number(float):
    """A JSON number with a fraction that keeps its text."""

    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_float=_Number, parse_constant=_no_constant)


def parse(message: bytes) -> Any:
    """Return the first JSON value of a message; ignore further text.

    Raises:
        ValueError: It does not begin with JSON.
    """
    text = text_of(message)
    blanks = _BLANKS.match(text)
    try:
        value, _ = _DECODER.raw_decode(text, blanks.end() if blanks else 0)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


class Reading:
    """Create readers that share the handling of missing and wrong fields."""

    def __init__(self, fail_on_missing_field: bool, ignore_parse_errors: bool) -> None:
        """Set whether a missing field is an error, and whether a wrong one becomes None."""
        self._fail_on_missing = fail_on_missing_field
        self._ignore = ignore_parse_errors

    def reader(self, declared: TypeInformation) -> Reader:
        """Return the function that makes a value of the declared type from parsed JSON; null becomes None.

        The function raises ValueError if the JSON is not such a value.

        Raises:
            UnsupportedError: JSON does not support the type.
        """
        read, ignore = self._reader(declared), self._ignore

        def nullable(value: Any) -> Any:
            if value is None:
                return None
            try:
                return read(value)
            except (ValueError, TypeError, AttributeError):
                if ignore:
                    return None
                raise

        return nullable

    def _reader(self, declared: TypeInformation) -> Reader:
        if isinstance(declared, typeinfo.RowTypeInfo):
            return self.row(declared)
        if isinstance(declared, typeinfo.PrimitiveArrayTypeInfo) and declared.elem_type == Types.BYTE():
            return base64.b64decode
        if isinstance(declared, typeinfo.SequenceTypeInfo):
            element = self.reader(declared.elem_type)
            return lambda values: list(map(element, _of_kind(list, values)))
        if isinstance(declared, typeinfo.MapTypeInfo):
            key, item = self.reader(declared.key_type), self.reader(declared.value_type)
            return lambda values: {key(k): item(v) for k, v in _of_kind(dict, values).items()}
        return _scalar(declared)

    def row(self, declared: typeinfo.RowTypeInfo, required: Collection[str] = ()) -> Reader:
        """Return the function that makes a row from a JSON object.

        Args:
            declared: The type of the row.
            required: Fields that the object must have, even if others may be missing.
        """
        names = tuple(declared.get_field_names())
        fields = [(name, self.reader(field)) for name, field in zip(names, declared.get_field_types(), strict=True)]
        needed = frozenset(names if self._fail_on_missing else required)

        def row(value: Any) -> Row:
            given = _of_kind(dict, value)
            if needed and not given.keys() >= needed:
                missing = next(name for name in names if name in needed and name not in given)
                optional = f"; if it may be missing, declare it as {missing}: ... | None" if missing in required else ""
                raise ValueError(f"there is no field {missing!r}{alternatives(missing, given)}{optional}")
            return Row._from_values([read(given.get(name)) for name, read in fields], names)

        return row


def _of_kind(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        expected = "an object" if kind is dict else "an array"
        raise ValueError(f"{_text(value)!r} is not {expected}")
    return value


def _text(value: Any) -> str:
    """Return a value as the text that Jackson reads."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, _Number):
        return Types.DOUBLE().to_string(float(value))
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)


def _scalar(declared: TypeInformation) -> Reader:
    if isinstance(declared, typeinfo.InstantTypeInfo):
        return _instant
    if isinstance(declared, BasicTypeInfo):
        return _basic(declared)
    if isinstance(declared, typeinfo.DateTypeInfo):
        return lambda value: datetime.date.fromisoformat(_text(value))
    if isinstance(declared, typeinfo.TimeTypeInfo):
        return lambda value: datetime.time.fromisoformat(_utc(value, _TIME))
    if isinstance(declared, typeinfo.TimestampTypeInfo):
        return lambda value: datetime.datetime.fromisoformat(_utc(value, _TIMESTAMP))
    raise UnsupportedError(f"JSON messages cannot hold {declared!r}; declare the field as STRING and convert it")


def _basic(declared: BasicTypeInfo) -> Reader:
    basic = declared.basic_type
    if basic in (BasicType.STRING, BasicType.CHAR):
        return _text
    if basic is BasicType.BOOLEAN:
        return lambda value: value if isinstance(value, bool) else _text(value).strip().lower() == "true"
    if basic is BasicType.BIG_DEC:
        return _decimal
    if basic is BasicType.BIG_INT:
        return lambda value: int(_text(value).strip())
    from_text = scalar_parser(value_type(declared))
    if basic in (BasicType.INT, BasicType.LONG):
        # Jackson cuts the fraction of a number, but not of a text
        return lambda value: from_text(str(int(value)) if isinstance(value, _Number) else _text(value))
    return lambda value: from_text(value.text if isinstance(value, _Number) else _text(value))


def _decimal(value: Any) -> decimal.Decimal:
    try:
        if not isinstance(value, _Number):
            return decimal.Decimal(_text(value).strip())
        # without trailing zeros, if the value stays the same
        exact, short = decimal.Decimal(value.text), decimal.Decimal(repr(float(value)))
    except decimal.InvalidOperation:
        raise ValueError(f"{_text(value)!r} is no decimal number") from None
    return short if short == exact else exact


_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{1,9})?Z")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")


def _utc(value: Any, form: re.Pattern[str]) -> str:
    """Return a time in UTC, without the Z and with at most six digits after the second."""
    text = _text(value)
    found = form.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no time in UTC such as 10:11:12Z or 2020-01-02T10:11:12Z")
    fraction = found[1] or ""
    return text[: len(text) - 1 - len(fraction)] + fraction[:7].ljust(7, "0") if fraction else text[:-1]


def _instant(value: Any) -> Instant:
    moment = datetime.datetime.fromisoformat(_utc(value, _TIMESTAMP)).replace(tzinfo=datetime.UTC)
    micros = micros_of_datetime(moment)
    return Instant(micros // 1_000_000, micros % 1_000_000 * 1000)
