"""Tables of Python values: type inference as in PyFlink, and conversion to columns."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.errors import ArgumentError, ArgumentTypeError, TypeMismatchError
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.table._values import as_tables_keep

__all__ = ["attributes_of", "inferred_row_type", "internal_value", "without_dataclasses"]

_LONGEST = 0x7FFFFFFF
_INFERRED: dict[type, DataType] = {
    bool: BooleanType(),
    int: BigIntType(),
    float: DoubleType(),
    str: VarCharType(_LONGEST),
    bytes: VarBinaryType(_LONGEST),
    bytearray: VarBinaryType(_LONGEST),
    decimal.Decimal: DecimalType(38, 18),
    datetime.date: DateType(),
    datetime.datetime: LocalZonedTimestampType(6),
    Instant: LocalZonedTimestampType(6),
    datetime.time: TimeType(0),
}
#: The types of the elements of arrays of Python by their type codes; of those without a sign, one with a bit more.
_OF_TYPE_CODES: dict[str, DataType] = {
    "f": FloatType(),
    "d": DoubleType(),
    "b": TinyIntType(),
    "h": SmallIntType(),
    "i": IntType(),
    "l": BigIntType(),
    "B": SmallIntType(),
    "H": IntType(),
    "I": BigIntType(),
}
_BITS: dict[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()


def inferred_row_type(elements: Sequence[Any], names: Sequence[str] | None) -> RowType:
    """Return the type that all elements have in common.

    Args:
        elements: Tuples, lists, rows or dicts.
        names: Names of the columns; None for their own, or `_1`, `_2` ...

    Raises:
        ArgumentError: There are no elements, or a column has only None.
        ArgumentTypeError: A value has no SQL type, or values of a column have none in common.
    """
    if not elements:
        raise ArgumentError("can not infer schema from empty data set; pass DataTypes.ROW([...]) as the schema")
    twice = [name for place, name in enumerate(names or ()) if name in (names or ())[:place]]
    if twice:
        raise ArgumentError(f"Field names must be unique. Found duplicates: [{', '.join(map(str, twice))}]")
    merged = reduce(_common, (_row_type(element, names) for element in elements))
    unknown = [field.name for field in merged.fields if _is_unknown(field.data_type)]
    if unknown:
        raise ArgumentError(
            f"Some column types cannot be determined after inferring: {', '.join(unknown)}; pass DataTypes.ROW([...])"
        )
    return merged


def without_dataclasses(value: Any) -> Any:
    """Return a value with rows in place of instances of dataclasses, also of those in its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (each.name for each in dataclasses.fields(value) if each.init)
        return Row(**{name: without_dataclasses(getattr(value, name)) for name in fields})
    if type(value) is list:
        return [without_dataclasses(each) for each in value]
    if type(value) is dict:
        return {key: without_dataclasses(each) for key, each in value.items()}
    return value


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Return the attributes of an object, which is a row of them; None of what has none."""
    return None if isinstance(value, Row | tuple | list | dict) else getattr(value, "__dict__", None)


def _row_type(element: Any, names: Sequence[str] | None) -> RowType:
    named = element if isinstance(element, dict) else attributes_of(element)
    if named is not None:
        return RowType([RowField(str(key), _inferred(value)) for key, value in sorted(named.items())])
    if not isinstance(element, Row | tuple | list):
        raise ArgumentTypeError(
            f"Can not infer schema for type: {type(element)}; elements are tuples, rows, dicts or objects"
        )
    own = getattr(element, "_fields", None) or names or ()
    chosen = [own[i] if i < len(own) else f"_{i + 1}" for i in range(len(element))]
    for name in chosen:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"names of columns are texts, got {name!r}; pass DataTypes.ROW([...]) for types")
    return RowType([RowField(name, _inferred(value)) for name, value in zip(chosen, element, strict=True)])


def _inferred(value: Any) -> DataType:
    if value is None:
        return NullType()
    known = _INFERRED.get(type(value))
    if known is not None:
        return known
    if isinstance(value, dict):
        pair = next(((k, v) for k, v in value.items() if k is not None and v is not None), None)
        if pair is None:
            return MapType(NullType(), NullType())
        return MapType(_inferred(pair[0]).not_null(), _inferred(pair[1]))
    if isinstance(value, list):
        return ArrayType(next((_inferred(each) for each in value if each is not None), NullType()))
    if isinstance(value, array.array) and value.typecode in _OF_TYPE_CODES:
        return ArrayType(_OF_TYPE_CODES[value.typecode].not_null())
    if isinstance(value, Row | tuple) or attributes_of(value) is not None:
        return _row_type(value, None)
    raise ArgumentTypeError(f"not supported type: {type(value)}; pass DataTypes.ROW([...]) as the schema")


def _common(left: RowType, right: RowType) -> RowType:
    names = [field.name for field in left.fields]
    rights = {field.name: field.data_type for field in right.fields}
    fields = [RowField(f.name, _merged(f.data_type, rights.get(f.name, NullType()), f.name)) for f in left.fields]
    return RowType(fields + [field for field in right.fields if field.name not in names])


def _merged(left: DataType, right: DataType, name: str) -> DataType:
    if isinstance(left, NullType):
        return right
    if isinstance(right, NullType) or left == right:
        return left
    if isinstance(left, RowType) and isinstance(right, RowType):
        return _common(left, right)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return ArrayType(_merged(left.element_type, right.element_type, name))
    if isinstance(left, MapType) and isinstance(right, MapType):
        return MapType(
            _merged(left.key_type, right.key_type, name).not_null(), _merged(left.value_type, right.value_type, name)
        )
    raise ArgumentTypeError(
        f"field {name}: Can not merge type {left.as_summary_string()} and {right.as_summary_string()}; pass "
        "DataTypes.ROW([...]) as the schema"
    )


def _is_unknown(data_type: DataType) -> bool:
    if isinstance(data_type, RowType):
        return any(_is_unknown(field.data_type) for field in data_type.fields)
    if isinstance(data_type, ArrayType | MultisetType):
        return _is_unknown(data_type.element_type)
    if isinstance(data_type, MapType):
        return _is_unknown(data_type.key_type) or _is_unknown(data_type.value_type)
    return isinstance(data_type, NullType)


def internal_value(data_type: DataType, value: Any, field: str = "") -> Any:
    """Return a Python value as columns of a type have it.

    Args:
        data_type: The type.
        value: The value.
        field: What it is in a row, for messages.

    Raises:
        TypeMismatchError: It is no value of the type.
    """
    if value is None:
        if not data_type.is_nullable:
            raise TypeMismatchError(data_type.as_summary_string(), value, field=field)
        return None
    try:
        return _internal(data_type, value, field)
    except TypeMismatchError:
        raise
    except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise TypeMismatchError(data_type.as_summary_string(), value, str(error), field=field) from None


def _internal(data_type: DataType, value: Any, field: str) -> Any:
    if type(data_type) in _BITS:
        return _whole(data_type, value)
    if isinstance(data_type, ArrayType):
        return [
            internal_value(data_type.element_type, each, field) for each in _instance(value, (list, tuple, array.array))
        ]
    if isinstance(data_type, MapType):
        return _pairs(value, data_type.key_type, data_type.value_type)
    if isinstance(data_type, MultisetType):
        return _pairs(value, data_type.element_type, IntType())
    if isinstance(data_type, RowType):
        return _fields(data_type, value, field)
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return _point_of_time(data_type, value)
    if isinstance(data_type, DecimalType):
        unit = decimal.Decimal(1).scaleb(-data_type.scale)
        context = decimal.Context(prec=data_type.precision, rounding=decimal.ROUND_HALF_UP)
        return decimal.Decimal(_instance(value, (decimal.Decimal, int))).quantize(unit, context=context)
    if isinstance(data_type, CharType | VarCharType):
        return _text(data_type, value)
    if isinstance(data_type, BinaryType | VarBinaryType):
        return _bytes(data_type, value)
    return _SIMPLE[type(data_type)](value)


def _instance(value: Any, kinds: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"expected {getattr(kinds, '__name__', None) or ' or '.join(k.__name__ for k in kinds)}")  # type: ignore[union-attr]
    return value


def _whole(data_type: DataType, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("expected an int")
    limit = 1 << (_BITS[type(data_type)] - 1)
    if not -limit <= value < limit:
        raise ValueError(f"object of {type(data_type).__name__} out of range")
    return value


def _pairs(value: Any, key_type: DataType, value_type: DataType) -> list[tuple[Any, Any]]:
    items: Iterable[tuple[Any, Any]] = _instance(value, dict).items()
    return as_tables_keep([(internal_value(key_type, k), internal_value(value_type, v)) for k, v in items], key_type)


def _fields(data_type: RowType, value: Any, within: str) -> tuple[Any, ...]:
    names = data_type.field_names()
    named = value if isinstance(value, dict) else attributes_of(value)
    if named is not None:
        values = [named.get(name) for name in names]
    elif isinstance(value, Row):
        values = value.get_fields_by_names(names)
    else:
        values = list(_instance(value, (tuple, list)))
    if len(values) != len(names):
        raise ValueError(f"Length of object ({len(values)}) does not match with length of fields ({len(names)})")
    place = f" in {within}" if within else ""
    return tuple(
        internal_value(field.data_type, each, f"field {field.name}{place}")
        for field, each in zip(data_type.fields, values, strict=True)
    )


def _text(data_type: CharType | VarCharType, value: Any) -> str:
    _check_length(data_type, _instance(value, str))
    return str(value)


def _bytes(data_type: BinaryType | VarBinaryType, value: Any) -> bytes:
    _check_length(data_type, _instance(value, (bytes, bytearray)))
    return bytes(value)


def _check_length(data_type: CharType | VarCharType | BinaryType | VarBinaryType, value: str | bytes) -> None:
    fixed = isinstance(data_type, CharType | BinaryType)
    if len(value) > data_type.length or (fixed and len(value) < data_type.length):
        rule = "is not" if fixed else "exceeds"
        raise ValueError(f"length of object ({value!r}) of {type(data_type).__name__} {rule}: {data_type.length}")


def _point_of_time(data_type: TimestampType | LocalZonedTimestampType, value: Any) -> int:
    per_second = 1_000 if data_type.precision <= 3 else 1_000_000 if data_type.precision <= 6 else 1_000_000_000
    if isinstance(value, Instant):
        return value.seconds * per_second + value.nanos * per_second // 1_000_000_000
    moment: datetime.datetime = _instance(value, datetime.datetime)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    micros = (moment - _EPOCH) // datetime.timedelta(microseconds=1)
    return micros * per_second // 1_000_000


def _micros_of_day(value: datetime.time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


_SIMPLE: dict[type[DataType], Callable[[Any], Any]] = {
    BooleanType: lambda value: _instance(value, bool),
    FloatType: lambda value: float(_instance(value, (float, int))),
    DoubleType: lambda value: float(_instance(value, (float, int))),
    DateType: lambda value: _instance(value, datetime.date).toordinal() - _EPOCH_DAY,
    TimeType: lambda value: _micros_of_day(_instance(value, datetime.time)) // 1000,
    YearMonthIntervalType: lambda value: _instance(value, int),
    DayTimeIntervalType: lambda value: _instance(value, datetime.timedelta) // datetime.timedelta(milliseconds=1),
    NullType: lambda value: None,
}
