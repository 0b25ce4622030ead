"""Conversion of results to and from the JSON of Flink's gateway: column types and values."""

from __future__ import annotations

import base64
import decimal
import json
import math
import re
import secrets
from collections.abc import Callable
from typing import Any

from scurry.common._java_numbers import double_text, float_text
from scurry.sql import types
from scurry.sql.statements.display.values import shown_value
from scurry.sql.values.parsing import atom_parser
from scurry.sql.values.texts import date_text, nanos_of_timestamp, time_text, timestamp_text

_SIMPLE: dict[type[types.DataType], str] = {
    types.BooleanType: "BOOLEAN",
    types.TinyIntType: "TINYINT",
    types.SmallIntType: "SMALLINT",
    types.IntType: "INTEGER",
    types.BigIntType: "BIGINT",
    types.FloatType: "FLOAT",
    types.DoubleType: "DOUBLE",
    types.DateType: "DATE",
    types.NullType: "NULL",
}
_LENGTHS: dict[type[types.DataType], str] = {
    types.CharType: "CHAR",
    types.VarCharType: "VARCHAR",
    types.BinaryType: "BINARY",
    types.VarBinaryType: "VARBINARY",
}
_PRECISIONS: dict[type[types.DataType], str] = {
    types.TimeType: "TIME_WITHOUT_TIME_ZONE",
    types.TimestampType: "TIMESTAMP_WITHOUT_TIME_ZONE",
    types.LocalZonedTimestampType: "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
}

#: Their resolution is not described.
_INTERVALS: dict[str, types.DataType] = {
    "INTERVAL_YEAR_MONTH": types.YearMonthIntervalType(types.YearMonthIntervalType.YearMonthResolution.MONTH),
    "INTERVAL_DAY_TIME": types.DayTimeIntervalType(
        types.DayTimeIntervalType.DayTimeResolution.SECOND, fractional_precision=3
    ),
}


def logical_type(data_type: types.DataType) -> dict[str, Any]:
    """Return the JSON of a type; a type that Flink's gateway cannot describe is that of texts."""
    kind, nullable = type(data_type), {"nullable": data_type.is_nullable}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind], **nullable}
    if kind in _LENGTHS:
        return {"type": _LENGTHS[kind], **nullable, "length": getattr(data_type, "length", 1)}
    if kind in _PRECISIONS:
        return {"type": _PRECISIONS[kind], **nullable, "precision": getattr(data_type, "precision", 0)}
    if isinstance(data_type, types.DecimalType):
        return {"type": "DECIMAL", **nullable, "precision": data_type.precision, "scale": data_type.scale}
    if isinstance(data_type, types.YearMonthIntervalType):
        return {"type": "INTERVAL_YEAR_MONTH", **nullable, "precision": 2, "resolution": "MONTH"}
    if isinstance(data_type, types.DayTimeIntervalType):
        parts = {"precision": 2, "fractionalPrecision": 3, "resolution": "SECOND"}
        return {"type": "INTERVAL_DAY_TIME", **nullable, **parts}
    if isinstance(data_type, types.ArrayType):
        return {"type": "ARRAY", **nullable, "elementType": logical_type(data_type.element_type)}
    if isinstance(data_type, types.MultisetType):
        return {"type": "MULTISET", **nullable, "elementType": logical_type(data_type.element_type)}
    if isinstance(data_type, types.MapType):
        parts_of_map = {"keyType": logical_type(data_type.key_type), "valueType": logical_type(data_type.value_type)}
        return {"type": "MAP", **nullable, **parts_of_map}
    if isinstance(data_type, types.RowType):
        fields = [{"name": field.name, "fieldType": logical_type(field.data_type)} for field in data_type.fields]
        return {"type": "ROW", **nullable, "fields": fields}
    return {"type": "VARCHAR", **nullable, "length": types.MAX_LENGTH}


def data_type_of(described: dict[str, Any]) -> types.DataType:
    """Return the type that a gateway describes; that of texts if it is unknown here."""
    name, nullable = described["type"], bool(described.get("nullable", True))
    for kinds, argument in ((_LENGTHS, "length"), (_PRECISIONS, "precision")):
        for kind, known in kinds.items():
            if known == name:
                return kind(described[argument], nullable)  # type: ignore[call-arg]
    for kind, known in _SIMPLE.items():
        if known == name:
            return kind() if kind is types.NullType else kind(nullable)
    if name == "DECIMAL":
        return types.DecimalType(described["precision"], described["scale"], nullable)
    if name == "ARRAY":
        return types.ArrayType(data_type_of(described["elementType"]), nullable)
    if name == "MULTISET":
        return types.MultisetType(data_type_of(described["elementType"]), nullable)
    if name in _INTERVALS:
        return _INTERVALS[name].with_nullability(nullable)
    if name == "MAP":
        return types.MapType(data_type_of(described["keyType"]), data_type_of(described["valueType"]), nullable)
    if name == "ROW":
        fields = [types.RowField(field["name"], data_type_of(field["fieldType"])) for field in described["fields"]]
        return types.RowType(fields, nullable)
    return types.VarCharType(types.MAX_LENGTH, nullable)


# Numbers that Python's JSON would write with other digits travel as texts that begin with this; no value can know it.
_MARK = secrets.token_hex(16)
_NUMBER = re.compile(f'"{_MARK}([^"]*)"')


def dumps(content: Any) -> str:
    """Return the JSON of an answer, with numbers as `json_value` has marked them."""
    return _NUMBER.sub(r"\1", json.dumps(content))


def _number(text: str) -> str:
    return f"{_MARK}{text}"


def json_value(data_type: types.DataType) -> Callable[[Any], Any]:
    """Return the function that makes of a value one that `dumps` writes as Flink does."""
    convert = _converter(data_type)
    return lambda value: None if value is None else convert(value)


def _converter(data_type: types.DataType) -> Callable[[Any], Any]:
    if isinstance(data_type, types.TimestampType):
        return lambda value: timestamp_text(nanos_of_timestamp(value, data_type.precision), "T")
    if isinstance(data_type, types.LocalZonedTimestampType):
        return lambda value: timestamp_text(nanos_of_timestamp(value, data_type.precision), "T") + "Z"
    if isinstance(data_type, types.ArrayType):
        element = json_value(data_type.element_type)
        return lambda values: list(map(element, values))
    if isinstance(data_type, types.MapType):
        return _object(data_type.key_type, data_type.value_type)
    if isinstance(data_type, types.MultisetType):
        return _object(data_type.element_type, types.IntType())
    if isinstance(data_type, types.RowType):
        fields = [(field.name, json_value(field.data_type)) for field in data_type.fields]
        return lambda row: {name: field(value) for (name, field), value in zip(fields, row, strict=True)}
    return _VALUES.get(type(data_type)) or shown_value(data_type, "UTC")


def _object(key_type: types.DataType, value_type: types.DataType) -> Callable[[Any], Any]:
    key, item = shown_value(key_type, "UTC"), json_value(value_type)
    return lambda pairs: {"null" if k is None else key(k): item(v) for k, v in pairs}


def _same(value: Any) -> Any:
    return value


def _float(value: float) -> str:

    return _number(float_text(value)) if math.isfinite(value) else float_text(value)


def _double(value: float) -> str:

    return _number(double_text(value)) if math.isfinite(value) else double_text(value)


_VALUES: dict[type[types.DataType], Callable[[Any], Any]] = {
    **dict.fromkeys(
        (
            types.BooleanType,
            types.TinyIntType,
            types.SmallIntType,
            types.IntType,
            types.BigIntType,
            types.CharType,
            types.VarCharType,
        ),
        _same,
    ),
    types.FloatType: _float,
    types.DoubleType: _double,
    types.DecimalType: lambda value: _number(format(value, "f")),
    types.DateType: date_text,
    types.TimeType: lambda millis: time_text(millis * 1_000_000),
    types.BinaryType: lambda value: base64.b64encode(value).decode(),
    types.VarBinaryType: lambda value: base64.b64encode(value).decode(),
    types.YearMonthIntervalType: _same,
    types.DayTimeIntervalType: _same,
}


def value_of_json(data_type: types.DataType) -> Callable[[Any], Any]:
    """Return the inverse of `json_value`, which reads a value of a column.

    Numbers with a fraction have to come as `decimal.Decimal`.
    """
    read = _reader(data_type)
    return lambda value: None if value is None else read(value)


def _reader(data_type: types.DataType) -> Callable[[Any], Any]:
    if isinstance(data_type, types.ArrayType):
        element = value_of_json(data_type.element_type)
        return lambda values: list(map(element, values))
    if isinstance(data_type, types.MapType):
        return _entries(data_type.key_type, data_type.value_type)
    if isinstance(data_type, types.MultisetType):
        return _entries(data_type.element_type, types.IntType())
    if isinstance(data_type, types.RowType):
        fields = [(field.name, value_of_json(field.data_type)) for field in data_type.fields]
        return lambda row: tuple([read(row[name]) for name, read in fields])
    return _READERS.get(type(data_type)) or _atom_reader(data_type)


def _atom_reader(data_type: types.DataType) -> Callable[[Any], Any]:
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        return atom_parser(data_type, iso=True) or _same
    if isinstance(data_type, types.DateType | types.TimeType | types.BinaryType | types.VarBinaryType):
        return atom_parser(data_type) or _same
    return _same


def _entries(key_type: types.DataType, value_type: types.DataType) -> Callable[[Any], Any]:
    # Keys are texts, as they are shown.
    key, item = atom_parser(key_type) or _same, value_of_json(value_type)
    return lambda found: [(None if k == "null" else key(k), item(v)) for k, v in found.items()]


_READERS: dict[type[types.DataType], Callable[[Any], Any]] = {
    types.FloatType: float,
    types.DoubleType: float,
    types.DecimalType: decimal.Decimal,
}
