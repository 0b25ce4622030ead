"""Values of BSON as records of columns, and back."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from scurry.connectors.mongodb.client import library
from scurry.errors import UnsupportedError
from scurry.sql import types
from scurry.sql.values.stored import Convert, StoredValues, instant_of, moment_of


def check_type(kind: types.DataType, column: str) -> None:
    """Check that a column has a type that BSON has a value for.

    Raises:
        UnsupportedError: It has none.
    """
    if isinstance(kind, types.ArrayType):
        return check_type(kind.element_type, column)
    if isinstance(kind, types.RowType):
        for each in kind.fields:
            check_type(each.data_type, column)
        return None
    if isinstance(kind, types.MapType):
        if not isinstance(kind.key_type, (types.CharType, types.VarCharType)):
            raise UnsupportedError(
                f"column '{column}': keys of a MAP are fields of a document; declare MAP<STRING, ...>"
            )
        return check_type(kind.value_type, column)
    if type(kind) not in _READERS:
        raise UnsupportedError(
            f"column '{column}' is {kind}, for which BSON has no value; declare INT, BIGINT, DOUBLE, DECIMAL, STRING, "
            "BOOLEAN, BYTES, TIMESTAMP, TIMESTAMP_LTZ, ARRAY, MAP or ROW"
        )
    return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, library("bson").ObjectId):
        return str(value)
    text: str = library("bson.json_util").dumps(value)
    return text[1:-1] if text.startswith('"') and text.endswith('"') else text


def _whole(value: Any) -> int:
    if isinstance(value, library("bson").Decimal128):
        value = value.to_decimal()
    if isinstance(value, str) or int(value) != value:
        raise TypeError("it is no whole number")
    return int(value)


def _floating(value: Any) -> float:
    if isinstance(value, library("bson").Decimal128):
        value = value.to_decimal()
    if isinstance(value, (str, bool)):
        raise TypeError("it is no number")
    return float(value)


def _decimal(value: Any) -> decimal.Decimal:
    if isinstance(value, library("bson").Decimal128):
        found: decimal.Decimal = value.to_decimal()
        return found
    if isinstance(value, (str, bool)):
        raise TypeError("it is no number")
    return decimal.Decimal(str(value))


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("it is no boolean")
    return value


def _binary(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("it has no bytes")
    return bytes(value)


def _moment(value: Any) -> datetime.datetime:
    if isinstance(value, library("bson.timestamp").Timestamp):
        found: datetime.datetime = value.as_datetime()
        return found.replace(tzinfo=None)
    if not isinstance(value, datetime.datetime):
        raise TypeError("it is no date")
    return value.replace(tzinfo=None)


_READERS: dict[type[types.DataType], Convert] = {
    types.CharType: _text,
    types.VarCharType: _text,
    types.BooleanType: _boolean,
    types.BinaryType: _binary,
    types.VarBinaryType: _binary,
    types.IntType: _whole,
    types.BigIntType: _whole,
    types.DoubleType: _floating,
    types.DecimalType: _decimal,
    types.TimestampType: _moment,
    types.LocalZonedTimestampType: lambda value: instant_of(_moment(value)),
}


reader = StoredValues("BSON", _READERS).reader


def writer(kind: types.DataType) -> Convert:
    """Return the function that makes a value of BSON of a record's value; None for None."""
    convert = _writer(kind)
    return lambda value: None if value is None else convert(value)


def _writer(kind: types.DataType) -> Convert:
    if isinstance(kind, types.ArrayType):
        element = writer(kind.element_type)
        return lambda value: list(map(element, value))
    if isinstance(kind, types.MapType):
        of_value = writer(kind.value_type)
        return lambda value: {key: of_value(each) for key, each in value.items()}
    if isinstance(kind, types.RowType):
        fields = list(zip(kind.names, map(writer, kind.field_types()), strict=True))
        return lambda row: {name: write(value) for (name, write), value in zip(fields, row, strict=True)}
    return _WRITERS.get(type(kind), lambda value: value)


_WRITERS: dict[type[types.DataType], Convert] = {
    types.BigIntType: lambda value: library("bson").Int64(value),
    types.DecimalType: lambda value: library("bson").Decimal128(value),
    types.LocalZonedTimestampType: moment_of,
}
