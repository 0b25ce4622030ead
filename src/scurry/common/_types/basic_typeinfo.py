"""`TypeInformation`, the base of declared types, and the types of single values."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common._java_numbers import double_text, float_text
from scurry.common._type_variables import T_co
from scurry.common._types import composite_conversion, conversion, java_text
from scurry.common._types.conversion import ColumnConverter, Converter


class TypeInformation(Generic[T_co]):
    """A declared type of Python values that are `T_co`, as Flink's `TypeInformation`.

    Equal types compare equal and hash alike.
    """

    __slots__ = ()

    def converter(self) -> Converter | None:
        """Return the function that converts one value to this type, or None if every value fits.

        The result is what the next Python function sees in PyFlink: FLOAT is rounded to 32 bits, numbers declared as
        integers lose their fraction, timestamps are cut to milliseconds, a Row gets the declared field names.

        Returns:
            A function that raises `TypeMismatchError` for a value that does not fit.
        """
        raise NotImplementedError(type(self).__name__)

    def block_converter(self) -> Callable[[list[Any]], list[Any]] | None:
        """Return the function that converts a list of values, or None if every value fits.

        It is far faster than converting one by one, and returns the same list if no value has to be converted.

        Returns:
            A function that raises `TypeMismatchError`, whose `index` is the position of the first bad value.
        """
        column, converter = self._column(), self.converter()
        return None if column is None or converter is None else composite_conversion.block(converter, column)

    def to_string(self, value: Any) -> str:
        """Return the text Flink's print sink shows for a converted value: Java's `toString` in most cases.

        Doubles and floats show the shortest digits that identify them, as on JDK 19 and later; older ones may show
        more.
        """
        return self.to_java_string(value)

    def to_java_string(self, value: Any) -> str:
        """Return the text of a converted value as Java's `toString` has it, as in text files.

        It differs from `to_string` in rows, e.g. `+I[a, null]`. Values of undeclared type are shown as Python does.
        """
        return "null" if value is None else self._java_text(value)

    def _with_names(self) -> TypeInformation[T_co]:
        """Return this type with the names f0, f1, ... in rows that declare none, as types come back from Java."""
        return self._rebuilt(lambda part: part._with_names())

    def _of_collections(self) -> TypeInformation[T_co]:
        """Return the type that converts elements of a collection as PyFlink does: numbers become texts, as in Java."""
        return self._rebuilt(lambda part: part._of_collections())

    def _is_immutable(self) -> bool:
        """Return whether no converted value can change, so that it need not be copied."""
        return False

    def _rebuilt(self, change: Change) -> TypeInformation[T_co]:
        """Return this type with the types in it changed."""
        return self

    def _column(self) -> ColumnConverter | None:
        """Return the conversion of a column of values, see `conversion`."""
        raise NotImplementedError(type(self).__name__)

    def _java_text(self, value: Any) -> str:
        """Return the text of a value that is not None, alone or within another."""
        return str(value)

    def _java_hash(self, value: Any) -> int | None:
        """Return Java's hash code, or None if unknown: maps with such keys print in insertion order."""
        return None


#: Turns the types in a type into others.
Change: TypeAlias = Callable[[TypeInformation], TypeInformation]


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
    BasicType.STRING: conversion.string,
    BasicType.BOOLEAN: conversion.boolean,
    BasicType.FLOAT: conversion.single,
    BasicType.DOUBLE: conversion.double,
    BasicType.CHAR: conversion.char,
    BasicType.BIG_INT: conversion.big_int,
    BasicType.BIG_DEC: conversion.big_decimal,
    BasicType.INSTANT: conversion.instant,
}

_EXACT_CLASSES: dict[BasicType, type] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: bool,
    BasicType.DOUBLE: float,
    BasicType.BIG_INT: int,
}

_TEXTS: dict[BasicType, Callable[[Any], str]] = {
    BasicType.BOOLEAN: java_text.boolean,
    BasicType.FLOAT: float_text,
    BasicType.DOUBLE: double_text,
    BasicType.BIG_DEC: java_text.big_decimal,
    BasicType.INSTANT: java_text.instant,
}

_HASHES: dict[BasicType, Callable[[Any], int]] = {
    BasicType.STRING: java_text.hash_of_string,
    BasicType.CHAR: java_text.hash_of_string,
    BasicType.BOOLEAN: java_text.hash_of_boolean,
    BasicType.BYTE: lambda value: value & 0xFFFFFFFF,
    BasicType.SHORT: lambda value: value & 0xFFFFFFFF,
    BasicType.INT: lambda value: value & 0xFFFFFFFF,
    BasicType.LONG: java_text.hash_of_long,
    BasicType.FLOAT: java_text.hash_of_float,
    BasicType.DOUBLE: java_text.hash_of_double,
}


@dataclass(frozen=True, slots=True, repr=False)
class BasicTypeInfo(TypeInformation):
    """A single value: a number, text, boolean or instant.

    Attributes:
        basic_type: The type.
    """

    basic_type: BasicType

    def __repr__(self) -> str:
        """Return Java's class name, as PyFlink does."""
        return self.basic_type.value

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        if bits := _BITS.get(self.basic_type):
            return conversion.integer(self, bits)
        return _CONVERTERS[self.basic_type](self)

    def _of_collections(self) -> TypeInformation:
        return _CollectionText(self.basic_type) if self.basic_type is BasicType.STRING else self

    def _is_immutable(self) -> bool:
        return True

    def _column(self) -> ColumnConverter:
        convert = self.converter()
        if bits := _BITS.get(self.basic_type):
            return conversion.integer_column(convert, bits)
        if exact := _EXACT_CLASSES.get(self.basic_type):
            return conversion.column_of(exact, convert)
        if self.basic_type is BasicType.FLOAT:
            return conversion.single_column(convert)
        return conversion.column_each(convert)

    def _java_text(self, value: Any) -> str:
        return _TEXTS.get(self.basic_type, str)(value)

    def _java_hash(self, value: Any) -> int | None:
        hash_of = _HASHES.get(self.basic_type)
        return None if hash_of is None else hash_of(value)

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.STRING()` returns."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.BOOLEAN()` returns."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.BYTE()` returns."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.SHORT()` returns."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.INT()` returns."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.LONG()` returns."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.FLOAT()` returns."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.DOUBLE()` returns."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.CHAR()` returns."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.BIG_INT()` returns."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        """Return the type that `Types.BIG_DEC()` returns."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> InstantTypeInfo:
        """Return the type that `Types.INSTANT()` returns."""
        return InstantTypeInfo(BasicType.INSTANT)


class _CollectionText(BasicTypeInfo):
    """STRING of the elements of a collection, where a boolean or a number becomes the text that Java has for it."""

    __slots__ = ()

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        convert = conversion.string(self)

        def text(value: Any) -> str:
            java = _NUMBERS_OF_COLLECTIONS.get(type(value))
            return convert(value) if java is None else java(value)

        return text


_NUMBERS_OF_COLLECTIONS: dict[type, Callable[[Any], str]] = {
    bool: java_text.boolean,
    int: str,
    float: double_text,
    decimal.Decimal: java_text.big_decimal,
}


@dataclass(frozen=True, slots=True, repr=False)
class InstantTypeInfo(BasicTypeInfo):
    """A point in time with nanoseconds; `Instant` in Python."""


@dataclass(frozen=True, slots=True, repr=False)
class DateTypeInfo(TypeInformation[datetime.date]):
    """A `java.sql.Date`; `datetime.date` in Python."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "DateTypeInfo"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return conversion.date(self)

    def _column(self) -> ColumnConverter:
        return conversion.column_of(datetime.date, self.converter())


@dataclass(frozen=True, slots=True, repr=False)
class TimeTypeInfo(TypeInformation[datetime.time]):
    """A `java.sql.Time`; `datetime.time` in whole milliseconds in Python."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "TimeTypeInfo"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return conversion.time_of_day(self)

    def _column(self) -> ColumnConverter:
        return conversion.column_each(self.converter())

    def _java_text(self, value: Any) -> str:
        return java_text.time_of_day(value)


@dataclass(frozen=True, slots=True, repr=False)
class TimestampTypeInfo(TypeInformation[datetime.datetime]):
    """A `java.sql.Timestamp`; `datetime.datetime` in whole milliseconds and without zone in Python."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "TimestampTypeInfo"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return conversion.timestamp(self)

    def _column(self) -> ColumnConverter:
        return conversion.column_each(self.converter())

    def _java_text(self, value: Any) -> str:
        return java_text.timestamp(value)


class SqlTimeTypeInfo:
    """Create the types of `java.sql`: `Types.SQL_DATE()`, `SQL_TIME()` and `SQL_TIMESTAMP()`."""

    @staticmethod
    def DATE() -> DateTypeInfo:
        """Return the type of dates."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """Return the type of times of day."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """Return the type of local timestamps."""
        return TimestampTypeInfo()


@dataclass(frozen=True, slots=True, repr=False)
class PickledBytesTypeInfo(TypeInformation):
    """Any Python object, not converted; the type of streams without a declared type."""

    def __repr__(self) -> str:
        """Return the name of the type."""
        return "PickledByteArrayTypeInfo"

    def converter(self) -> None:
        """Return None: every value fits."""

    def to_string(self, value: Any) -> str:
        """Return Python's `str(value)`."""
        return str(value)

    def _column(self) -> None:
        return None


@dataclass(frozen=True, slots=True, repr=False)
class DataclassTypeInfo(PickledBytesTypeInfo):
    """Instances of a dataclass, not converted; state evolution knows their class.

    Attributes:
        cls: The dataclass.
    """

    cls: type

    def __repr__(self) -> str:
        """Return the name of the class."""
        return self.cls.__qualname__
