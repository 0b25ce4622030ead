"""Conversion of the values of `from_elements` to values of columns: with checks, or as PyFlink does without them."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
from collections.abc import Callable, Iterable
from typing import Any

from scurry.common._epoch import days_of_date, micros_of_datetime, millis_of_time
from scurry.common._java_numbers import double_text
from scurry.common._types import java_text
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.errors import TypeMismatchError
from scurry.sql import types
from scurry.sql.types.arrow import units_per_second
from scurry.sql.values.collected import as_tables_keep
from scurry.sql.values.converters import Convert, Entries, FromPython, units_of_instant


def internal_value(data_type: types.DataType, text: Convert | None = None) -> Convert:
    """Return the conversion of Python values to values of columns; it raises `TypeMismatchError` for those of others.

    Args:
        text: Makes texts of values of any kind; None to take only texts.
    """
    return (_VERIFIED if text is None else _Verified(text)).part(data_type)


def unverified_value(data_type: types.DataType) -> Convert:
    """Return the conversion of Python values to values of columns without checks, as in PyFlink.

    Whole numbers lose their upper bits, texts are made of anything, and what is of another kind is NULL. It raises
    `TypeMismatchError` for a row that has not as many values as columns, and for a date or time that is none.
    """
    return _UNVERIFIED.part(data_type)


def without_dataclasses(value: Any) -> Any:
    """Return a value with rows in place of instances of dataclasses, also of those in its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "__UDT__"):
        fields = (each.name for each in dataclasses.fields(value) if each.init)
        return Row(**{name: without_dataclasses(getattr(value, name)) for name in fields})
    if type(value) is list:
        return [without_dataclasses(each) for each in value]
    if type(value) is dict:
        return {key: without_dataclasses(each) for key, each in value.items()}
    return value


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Return the attributes of an object, which is a row of them; None of an object without attributes."""
    return None if isinstance(value, Row | tuple | list | dict) else getattr(value, "__dict__", None)


class _Verified(FromPython):
    def __init__(self, text: Convert | None = None) -> None:
        self._text = text

    def part(self, data_type: types.DataType, field: str = "") -> Convert:
        convert, declared = self.converter(data_type, field), data_type.as_summary_string()

        def checked(value: Any) -> Any:
            if value is None:
                if not data_type.is_nullable:
                    raise TypeMismatchError(declared, value, field=field)
                return None
            try:
                return convert(value)
            except TypeMismatchError:
                raise
            except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
                raise TypeMismatchError(declared, value, str(error), field=field) from None

        return checked

    def atom(self, data_type: types.DataType) -> Convert:
        if isinstance(data_type, types.IntegralType):
            return lambda value: _whole(data_type, value)
        if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
            return _point_of_time(units_per_second(data_type))
        if isinstance(data_type, types.DecimalType):
            return _decimal(data_type)
        if isinstance(data_type, types.CharType | types.VarCharType):
            return self._text or (lambda value: str(_of_length(data_type, _instance(value, str))))
        if isinstance(data_type, types.BinaryType | types.VarBinaryType):
            return lambda value: bytes(_of_length(data_type, _instance(value, (bytes, bytearray))))
        return _SIMPLE.get(type(data_type)) or _no_values(data_type)

    def of_user(self, data_type: types.UserDefinedType, convert: Convert) -> Convert:
        def checked(value: Any) -> Any:
            if type(getattr(value, "__UDT__", None)) is not type(data_type):
                raise TypeError(f"its class says no `__UDT__ = {type(data_type).__name__}()`")
            return convert(data_type.serialize(value))

        return checked

    def elements(self, value: Any) -> Iterable[Any]:
        found: Iterable[Any] = _instance(value, (list, tuple, array.array))
        return found

    def items(self, value: Any) -> Iterable[tuple[Any, Any]]:
        found: Iterable[tuple[Any, Any]] = _instance(value, dict).items()
        return found

    def ordered(self, entries: Entries, key_type: types.DataType) -> Entries:
        return as_tables_keep(entries, key_type)

    def fields(self, data_type: types.RowType) -> Callable[[Any], list[Any]]:
        names = data_type.field_names()

        def values_of(value: Any) -> list[Any]:
            named = value if isinstance(value, dict) else attributes_of(value)
            if named is not None:
                return [named.get(name) for name in names]
            if isinstance(value, Row):
                values = value.get_fields_by_names(names)
            else:
                values = list(_instance(value, (tuple, list)))
            if len(values) != len(names):
                raise ValueError(
                    f"Length of object ({len(values)}) does not match with length of fields ({len(names)})"
                )
            return values

        return values_of


def _instance(value: Any, kinds: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kinds):
        names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        raise TypeError(f"expected {' or '.join(names)}")
    return value


def _no_values(data_type: types.DataType) -> Convert:
    def refuse(value: Any) -> Any:
        raise TypeError(f"there are no Python values of {data_type.as_summary_string()}")

    return refuse


def _whole(data_type: types.IntegralType, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("expected an int")
    if not -data_type.limit <= value < data_type.limit:
        raise ValueError(f"object of {type(data_type).__name__} out of range")
    return value


def _decimal(data_type: types.DecimalType) -> Convert:
    unit = decimal.Decimal(1).scaleb(-data_type.scale)
    context = decimal.Context(prec=data_type.precision, rounding=decimal.ROUND_HALF_UP)
    return lambda value: decimal.Decimal(_instance(value, (decimal.Decimal, int))).quantize(unit, context=context)


def _of_length(
    data_type: types.CharType | types.VarCharType | types.BinaryType | types.VarBinaryType, value: Any
) -> Any:
    fixed = isinstance(data_type, types.CharType | types.BinaryType)
    if len(value) > data_type.length or (fixed and len(value) < data_type.length):
        rule = "is not" if fixed else "exceeds"
        raise ValueError(f"length of object ({value!r}) of {type(data_type).__name__} {rule}: {data_type.length}")
    return value


def _point_of_time(per_second: int) -> Convert:
    def convert(value: Any) -> int:
        if isinstance(value, Instant):
            return units_of_instant(value, per_second)
        return micros_of_datetime(_instance(value, datetime.datetime)) * per_second // 1_000_000

    return convert


_SIMPLE: dict[type[types.DataType], Convert] = {
    types.BooleanType: lambda value: _instance(value, bool),
    types.FloatType: lambda value: float(_instance(value, (float, int))),
    types.DoubleType: lambda value: float(_instance(value, (float, int))),
    types.DateType: lambda value: days_of_date(_instance(value, datetime.date)),
    types.TimeType: lambda value: millis_of_time(_instance(value, datetime.time)),
    types.YearMonthIntervalType: lambda value: _instance(value, int),
    types.DayTimeIntervalType: lambda value: _instance(value, datetime.timedelta) // datetime.timedelta(milliseconds=1),
    types.NullType: lambda value: None,
}


class _Unverified(FromPython):
    def converter(self, data_type: types.DataType, field: str = "") -> Convert:
        if isinstance(data_type, types.MultisetType):
            return _VERIFIED.part(data_type, field)
        convert = super().converter(data_type, field)
        wanted = _KINDS.get(type(data_type))
        return convert if wanted is None else lambda value: convert(value) if isinstance(value, wanted) else None

    def atom(self, data_type: types.DataType) -> Convert:
        if isinstance(data_type, types.IntegralType):
            return lambda value: None if type(value) is bool or not isinstance(value, int) else data_type.wrapped(value)
        if isinstance(data_type, types.CharType | types.VarCharType):
            return _any_text
        if isinstance(data_type, types.BinaryType | types.VarBinaryType):
            return _any_bytes
        return _VERIFIED.part(data_type)

    def fields(self, data_type: types.RowType) -> Callable[[Any], list[Any]]:
        names = data_type.field_names()

        def values_of(value: Any) -> list[Any]:
            named = value if isinstance(value, dict) else attributes_of(value)
            if named is not None:
                return [named.get(name) for name in names]
            if not isinstance(value, Row | tuple | list):
                raise TypeMismatchError(data_type.as_summary_string(), value, "expected a row")
            values = list(value)
            if len(values) != len(names):
                raise TypeMismatchError(
                    data_type.as_summary_string(),
                    value,
                    "Input row doesn't have expected number of values required by the schema. "
                    f"{len(names)} fields are required while {len(values)} values are provided.",
                )
            return values

        return values_of


#: The Python types of values; those of others are NULL.
_KINDS: dict[type[types.DataType], type | tuple[type, ...]] = {
    types.BooleanType: bool,
    types.FloatType: float,
    types.DoubleType: float,
    types.DecimalType: decimal.Decimal,
    types.ArrayType: (list, tuple, array.array),
    types.MapType: dict,
}


def _any_text(value: Any) -> str:
    if isinstance(value, bool):
        return java_text.boolean(value)
    return double_text(value) if isinstance(value, float) else str(value)


def _any_bytes(value: Any) -> bytes | None:
    if isinstance(value, str):
        return value.encode()
    return bytes(value) if isinstance(value, bytes | bytearray) else None


_VERIFIED, _UNVERIFIED = _Verified(), _Unverified()
