"""Declared types: what a stream's values are converted to, and how they print.

`Types` makes them. A `TypeInformation` is immutable, hashable and small to pickle; besides naming a type it converts
Python values to it, with the effect PyFlink's trip to Java and back has (see `converter`).
"""

from __future__ import annotations

import datetime
import decimal
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from scurry.common import _composite_conversion, _conversion, _java_text
from scurry.common._conversion import ColumnConverter, Converter
from scurry.common.time import Instant
from scurry.common.types import Row

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "RowTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
    "type_info_from_hint",
]


class TypeInformation:
    """A declared type, as Flink's `TypeInformation`. Equal types compare equal and hash alike."""

    __slots__ = ()

    def converter(self) -> Converter | None:
        """Return the function that converts one value to this type, or None if any value will do.

        The result is what the next Python function sees in PyFlink: FLOAT is rounded to 32 bits, numbers declared as
        integers lose their fraction, timestamps are cut to milliseconds, a Row gets the declared field names.

        Returns:
            A function that raises `TypeMismatchError` for a value that does not fit.
        """
        raise NotImplementedError(type(self).__name__)

    def block_converter(self) -> Callable[[list[Any]], list[Any]] | None:
        """Return the function that converts a list of values, or None if any value will do.

        It is far quicker than converting one by one, and returns the very list it was given if every value fits.

        Returns:
            A function that raises `TypeMismatchError`, whose `index` is the position of the first bad value.
        """
        column, converter = self._column(), self.converter()
        return None if column is None or converter is None else _composite_conversion.block(converter, column)

    def to_string(self, value: Any) -> str:
        """Return the text Flink's print sink shows for a converted value: Java's `toString` in most cases.

        Doubles and floats show the shortest digits that identify them, as on JDK 19 and later; older ones may show
        more.
        """
        return self.to_java_string(value)

    def to_java_string(self, value: Any) -> str:
        """Return the text of a converted value as Java's `toString` has it, which is what text files contain.

        It differs from `to_string` in rows, e.g. `+I[a, null]`. Values of undeclared type are shown as Python does.
        """
        return "null" if value is None else self._java_text(value)

    def _column(self) -> ColumnConverter | None:
        """Return the conversion of a column of values, see `_conversion`."""
        raise NotImplementedError(type(self).__name__)

    def _java_text(self, value: Any) -> str:
        """Return the text of a value that is not None, alone or within another."""
        return str(value)

    def _java_hash(self, value: Any) -> int | None:
        """Return Java's hash code, or None if unknown: maps with such keys print in insertion order."""
        return None


class BasicType(Enum):
    """The types that are one value; the value is Java's class name."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}

_CONVERTERS: dict[BasicType, Callable[[object], Converter]] = {
    BasicType.STRING: _conversion.string,
    BasicType.BOOLEAN: _conversion.boolean,
    BasicType.FLOAT: _conversion.single,
    BasicType.DOUBLE: _conversion.double,
    BasicType.CHAR: _conversion.char,
    BasicType.BIG_INT: _conversion.big_int,
    BasicType.BIG_DEC: _conversion.big_decimal,
    BasicType.INSTANT: _conversion.instant,
}

_EXACT_CLASSES: dict[BasicType, type] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: bool,
    BasicType.DOUBLE: float,
    BasicType.BIG_INT: int,
}

_TEXTS: dict[BasicType, Callable[[Any], str]] = {
    BasicType.BOOLEAN: _java_text.boolean,
    BasicType.FLOAT: _java_text.single,
    BasicType.DOUBLE: _java_text.double,
    BasicType.BIG_DEC: _java_text.big_decimal,
    BasicType.INSTANT: _java_text.instant,
}

_HASHES: dict[BasicType, Callable[[Any], int]] = {
    BasicType.STRING: _java_text.hash_of_string,
    BasicType.CHAR: _java_text.hash_of_string,
    BasicType.BOOLEAN: _java_text.hash_of_boolean,
    BasicType.BYTE: lambda value: value & 0xFFFFFFFF,
    BasicType.SHORT: lambda value: value & 0xFFFFFFFF,
    BasicType.INT: lambda value: value & 0xFFFFFFFF,
    BasicType.LONG: _java_text.hash_of_long,
    BasicType.FLOAT: _java_text.hash_of_float,
    BasicType.DOUBLE: _java_text.hash_of_double,
}


@dataclass(frozen=True, slots=True, repr=False)
class BasicTypeInfo(TypeInformation):
    """A single value: a number, text, boolean or instant.

    Attributes:
        basic_type: Which one.
    """

    basic_type: BasicType

    def __repr__(self) -> str:
        """Return Java's class name, as PyFlink does."""
        return self.basic_type.value

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        if bits := _BITS.get(self.basic_type):
            return _conversion.integer(self, bits)
        return _CONVERTERS[self.basic_type](self)

    def _column(self) -> ColumnConverter:
        convert = self.converter()
        if bits := _BITS.get(self.basic_type):
            return _conversion.integer_column(convert, bits)
        if exact := _EXACT_CLASSES.get(self.basic_type):
            return _conversion.column_of(exact, convert)
        if self.basic_type is BasicType.FLOAT:
            return _conversion.single_column(convert)
        return _conversion.column_each(convert)

    def _java_text(self, value: Any) -> str:
        return _TEXTS.get(self.basic_type, str)(value)

    def _java_hash(self, value: Any) -> int | None:
        hash_of = _HASHES.get(self.basic_type)
        return None if hash_of is None else hash_of(value)


@dataclass(frozen=True, slots=True, repr=False)
class InstantTypeInfo(BasicTypeInfo):
    """A point in time with nanoseconds; `Instant` in Python."""


@dataclass(frozen=True, slots=True, repr=False)
class DateTypeInfo(TypeInformation):
    """A `java.sql.Date`; `datetime.date` in Python."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "DateTypeInfo"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return _conversion.date(self)

    def _column(self) -> ColumnConverter:
        return _conversion.column_of(datetime.date, self.converter())


@dataclass(frozen=True, slots=True, repr=False)
class TimeTypeInfo(TypeInformation):
    """A `java.sql.Time`; `datetime.time` in whole milliseconds in Python."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "TimeTypeInfo"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return _conversion.time_of_day(self)

    def _column(self) -> ColumnConverter:
        return _conversion.column_each(self.converter())

    def _java_text(self, value: Any) -> str:
        return _java_text.time_of_day(value)


@dataclass(frozen=True, slots=True, repr=False)
class TimestampTypeInfo(TypeInformation):
    """A `java.sql.Timestamp`; `datetime.datetime` in whole milliseconds and without zone in Python."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "TimestampTypeInfo"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return _conversion.timestamp(self)

    def _column(self) -> ColumnConverter:
        return _conversion.column_each(self.converter())

    def _java_text(self, value: Any) -> str:
        return _java_text.timestamp(value)


@dataclass(frozen=True, slots=True, repr=False)
class PickledBytesTypeInfo(TypeInformation):
    """Any Python object, untouched; the type of streams whose type was not declared."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "PickledByteArrayTypeInfo"

    def converter(self) -> None:
        """Return None: any value will do."""

    def to_string(self, value: Any) -> str:
        """Return Python's `str(value)`."""
        return str(value)

    def _column(self) -> None:
        return None


@dataclass(frozen=True, slots=True, repr=False)
class _SequenceTypeInfo(TypeInformation):
    """What lists and the three kinds of array share.

    Attributes:
        elem_type: The type of the elements.
    """

    elem_type: TypeInformation

    _NULLABLE = False
    _BYTES = False

    def __repr__(self) -> str:
        """Return for example `ListTypeInfo<Long>`."""
        return f"{type(self).__name__}<{self.elem_type}>"

    def _of_bytes(self) -> bool:
        return self._BYTES and self.elem_type == _BYTE

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        if self._of_bytes():
            return _conversion.byte_string(self)
        return _composite_conversion.list_of(self, self.elem_type.converter(), self._NULLABLE)

    def _column(self) -> ColumnConverter:
        convert = self.converter()
        if self._of_bytes():
            return _conversion.column_of(bytes, convert)
        element = self.elem_type._column()
        if element is not None and self._NULLABLE:
            element = _composite_conversion.nullable_column(element)
        return _composite_conversion.list_column(convert, element)

    def _java_text(self, value: Any) -> str:
        if self._of_bytes():
            return _java_text.byte_array(value)
        return _java_text.sequence(map(self.elem_type.to_java_string, value))


class ListTypeInfo(_SequenceTypeInfo):
    """A `java.util.List`; a list without None in Python."""

    __slots__ = ()


class PrimitiveArrayTypeInfo(_SequenceTypeInfo):
    """An array such as `long[]`: a list without None in Python, or `bytes` if the elements are BYTE."""

    __slots__ = ()

    _BYTES = True

    def __init__(self, element_type: TypeInformation) -> None:
        """Declare an array of primitives.

        Raises:
            TypeError: `element_type` is not BOOLEAN, CHAR or a number of fixed size.
        """
        _check_element("PRIMITIVE_ARRAY", element_type, _PRIMITIVES)
        super().__init__(element_type)


class BasicArrayTypeInfo(_SequenceTypeInfo):
    """An array such as `Long[]` or `String[]`; a list that may hold None in Python."""

    __slots__ = ()

    _NULLABLE = True

    def __init__(self, element_type: TypeInformation) -> None:
        """Declare an array of boxed values.

        Raises:
            TypeError: `element_type` is not STRING, BOOLEAN, CHAR or a number of fixed size.
        """
        _check_element("BASIC_ARRAY", element_type, (*_PRIMITIVES, BasicType.STRING))
        super().__init__(element_type)


class ObjectArrayTypeInfo(_SequenceTypeInfo):
    """An array of any type; a list that may hold None in Python."""

    __slots__ = ()

    _NULLABLE = True


_PRIMITIVES = (
    BasicType.BOOLEAN,
    BasicType.BYTE,
    BasicType.SHORT,
    BasicType.INT,
    BasicType.LONG,
    BasicType.FLOAT,
    BasicType.DOUBLE,
    BasicType.CHAR,
)


def _check_element(array: str, element_type: TypeInformation, allowed: Sequence[BasicType]) -> None:
    if not isinstance(element_type, BasicTypeInfo) or element_type.basic_type not in allowed:
        names = ", ".join(basic.name for basic in allowed)
        raise TypeError(f"{array} takes elements of {names}, not {element_type!r}; use OBJECT_ARRAY or LIST")


@dataclass(frozen=True, slots=True, repr=False)
class MapTypeInfo(TypeInformation):
    """A `java.util.Map`; a dict, whose values may be None, in Python.

    Attributes:
        key_type: The type of the keys.
        value_type: The type of the values.
    """

    key_type: TypeInformation
    value_type: TypeInformation

    def __repr__(self) -> str:
        """Return for example `MapTypeInfo<String, Long>`."""
        return f"MapTypeInfo<{self.key_type}, {self.value_type}>"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return _composite_conversion.map_of(self, self.key_type.converter(), self.value_type.converter())

    def _column(self) -> ColumnConverter:
        value = self.value_type._column()
        if value is not None:
            value = _composite_conversion.nullable_column(value)
        return _composite_conversion.map_column(self.converter(), self.key_type._column(), value)

    def _java_text(self, value: Any) -> str:
        """Return the entries in the order of a Java HashMap, where the keys' hash codes are known."""
        items = list(value.items())
        codes = [code for key, _ in items if (code := self.key_type._java_hash(key)) is not None]
        if len(codes) == len(items):
            items = [items[position] for position in _java_text.hash_map_order(codes)]
        key, content = self.key_type.to_java_string, self.value_type.to_java_string
        return f"{{{', '.join(f'{key(k)}={content(v)}' for k, v in items)}}}"


class TupleTypeInfo(TypeInformation):
    """A Flink tuple; a tuple in Python, without None except for INSTANT fields."""

    __slots__ = ("_field_types",)

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        """Declare a tuple of fields of these types."""
        self._field_types = tuple(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return list(self._field_types)

    def __eq__(self, other: object) -> bool:
        """Compare the field types."""
        return type(other) is TupleTypeInfo and self._field_types == other._field_types

    def __hash__(self) -> int:
        """Hash the field types."""
        return hash((TupleTypeInfo, self._field_types))

    def __repr__(self) -> str:
        """Return for example `TupleTypeInfo(String, Long)`."""
        return f"TupleTypeInfo({', '.join(map(str, self._field_types))})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return TupleTypeInfo, (self._field_types,)

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return _composite_conversion.tuple_of(self, [field.converter() for field in self._field_types])

    def _column(self) -> ColumnConverter:
        return _composite_conversion.tuple_column(self.converter(), [field._column() for field in self._field_types])

    def _java_text(self, value: Any) -> str:
        return f"({','.join(map(TypeInformation.to_java_string, self._field_types, value))})"

    def _java_hash(self, value: Any) -> int | None:
        codes = [
            code for field, v in zip(self._field_types, value, strict=True) if (code := field._java_hash(v)) is not None
        ]
        return _java_text.hash_of_tuple(codes) if len(codes) == len(self._field_types) else None


class RowTypeInfo(TypeInformation):
    """A `Row` with declared, possibly named, fields, any of which may be None."""

    __slots__ = ("_field_names", "_field_types")

    def __init__(self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None) -> None:
        """Declare a row.

        Args:
            field_types: The types of the fields.
            field_names: Their names; f0, f1, ... if not given, as in Flink.

        Raises:
            ValueError: The number of names is not that of types, or a name comes twice.
        """
        self._field_types = tuple(field_types)
        self._field_names = None if field_names is None else tuple(field_names)
        if self._field_names is not None:
            if len(self._field_names) != len(self._field_types):
                raise ValueError(f"{len(self._field_names)} names for {len(self._field_types)} field types")
            if len(set(self._field_names)) != len(self._field_names):
                raise ValueError(f"field names must differ: {', '.join(self._field_names)}")

    def get_field_names(self) -> list[str]:
        """Return the names of the fields: f0, f1, ... if none were declared."""
        return list(self._names())

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field, or -1 if no names were declared.

        Raises:
            ValueError: No field has that name.
        """
        return -1 if self._field_names is None else self._field_names.index(field_name)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return list(self._field_types)

    def _names(self) -> tuple[str, ...]:
        return self._field_names or tuple(f"f{i}" for i in range(len(self._field_types)))

    def __eq__(self, other: object) -> bool:
        """Compare the field types and names."""
        return (
            type(other) is RowTypeInfo and self._field_types == other._field_types and self._names() == other._names()
        )

    def __hash__(self) -> int:
        """Hash the field types and names."""
        return hash((self._field_types, self._names()))

    def __repr__(self) -> str:
        """Return for example `RowTypeInfo(name: String, age: Integer)`."""
        if self._field_names is None:
            return f"RowTypeInfo({', '.join(map(str, self._field_types))})"
        fields = zip(self._field_names, self._field_types, strict=True)
        return f"RowTypeInfo({', '.join(f'{name}: {field}' for name, field in fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call."""
        return RowTypeInfo, (self._field_types, self._field_names)

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return _composite_conversion.row_of(self, self._names(), [field.converter() for field in self._field_types])

    def _column(self) -> ColumnConverter:
        columns = [field._column() for field in self._field_types]
        nullable = [None if column is None else _composite_conversion.nullable_column(column) for column in columns]
        return _composite_conversion.row_column(self.converter(), self._names(), nullable)

    def to_string(self, value: Any) -> str:
        """Return the text PyFlink prints for a row: its kind, and Python's `str` of each field, e.g. `+I[a,None]`."""
        return f"{value.get_row_kind()}[{','.join(map(str, value))}]" if isinstance(value, Row) else "null"

    def _java_text(self, value: Any) -> str:
        fields = map(TypeInformation.to_java_string, self._field_types, value)
        return f"{value.get_row_kind()}{_java_text.sequence(fields)}"


_STRING = BasicTypeInfo(BasicType.STRING)
_BYTE = BasicTypeInfo(BasicType.BYTE)
_BOOLEAN = BasicTypeInfo(BasicType.BOOLEAN)
_SHORT = BasicTypeInfo(BasicType.SHORT)
_INT = BasicTypeInfo(BasicType.INT)
_LONG = BasicTypeInfo(BasicType.LONG)
_FLOAT = BasicTypeInfo(BasicType.FLOAT)
_DOUBLE = BasicTypeInfo(BasicType.DOUBLE)
_CHAR = BasicTypeInfo(BasicType.CHAR)
_BIG_INT = BasicTypeInfo(BasicType.BIG_INT)
_BIG_DEC = BasicTypeInfo(BasicType.BIG_DEC)
_INSTANT = InstantTypeInfo(BasicType.INSTANT)


class Types:
    """Makes declared types, as Flink's `Types`. What each accepts from Python is said with it."""

    @staticmethod
    def STRING() -> TypeInformation:
        """Return the type of text: `str`."""
        return _STRING

    @staticmethod
    def BYTE() -> TypeInformation:
        """Return the type of 8-bit integers: numbers, whose fraction is cut off."""
        return _BYTE

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        """Return the type of booleans: `bool`, or a number from 0 to 255."""
        return _BOOLEAN

    @staticmethod
    def SHORT() -> TypeInformation:
        """Return the type of 16-bit integers: numbers, whose fraction is cut off."""
        return _SHORT

    @staticmethod
    def INT() -> TypeInformation:
        """Return the type of 32-bit integers: numbers, whose fraction is cut off."""
        return _INT

    @staticmethod
    def LONG() -> TypeInformation:
        """Return the type of 64-bit integers: numbers, whose fraction is cut off."""
        return _LONG

    @staticmethod
    def FLOAT() -> TypeInformation:
        """Return the type of 32-bit floats: numbers, rounded."""
        return _FLOAT

    @staticmethod
    def DOUBLE() -> TypeInformation:
        """Return the type of 64-bit floats: numbers."""
        return _DOUBLE

    @staticmethod
    def CHAR() -> TypeInformation:
        """Return the type of one character: `str` of length 1."""
        return _CHAR

    @staticmethod
    def BIG_INT() -> TypeInformation:
        """Return the type of integers of any size: numbers, whose fraction is cut off."""
        return _BIG_INT

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        """Return the type of exact decimals: `Decimal`, or what reads as one."""
        return _BIG_DEC

    @staticmethod
    def INSTANT() -> TypeInformation:
        """Return the type of points in time: `Instant` or None."""
        return _INSTANT

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        """Return the type of dates: `datetime.date`, or the date of a `datetime.datetime`."""
        return DateTypeInfo()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        """Return the type of times of day: `datetime.time`, cut to milliseconds."""
        return TimeTypeInfo()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        """Return the type of local timestamps: `datetime.datetime`, cut to milliseconds, its zone dropped."""
        return TimestampTypeInfo()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Return the type of any Python object."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of rows with fields of these types, named f0, f1, ...: `Row`, tuple or list."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """Return the type of rows with named fields: `Row`, tuple, list, dict or an object with such attributes."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """Return the type of tuples: tuple, list or `Row` of as many values."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of arrays without null: a list, or `bytes` if the elements are BYTE."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of arrays of numbers, booleans or text that may hold null: a list."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of arrays of anything that may hold null: a list."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        """Return the type of maps: a dict."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        """Return the type of lists without null: a list."""
        return ListTypeInfo(element_type_info)


_HINTS: dict[Any, TypeInformation] = {
    int: _LONG,
    float: _DOUBLE,
    str: _STRING,
    bool: _BOOLEAN,
    bytes: PrimitiveArrayTypeInfo(_BYTE),
    decimal.Decimal: _BIG_DEC,
    datetime.date: DateTypeInfo(),
    datetime.time: TimeTypeInfo(),
    datetime.datetime: TimestampTypeInfo(),
    Instant: _INSTANT,
}


def type_info_from_hint(hint: Any) -> TypeInformation | None:
    """Return the declared type a Python annotation stands for.

    Args:
        hint: An evaluated annotation, such as `int`, `tuple[int, str]`, `list[float]` or `dict[str, int]`.

    Returns:
        The type, or None if values so annotated are best left as Python objects: dataclasses, `Row`, anything
        optional or of open length, and whatever is not known.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return type_info_from_hint(args[0])
    if origin not in (tuple, list, dict):
        return _HINTS.get(hint) if isinstance(hint, type) and origin is None else None
    parts = [None if arg is Ellipsis else type_info_from_hint(arg) for arg in args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    if origin is tuple:
        return TupleTypeInfo(known)
    return ListTypeInfo(known[0]) if origin is list else MapTypeInfo(known[0], known[1])
