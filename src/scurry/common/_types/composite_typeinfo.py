"""Declared types of lists, arrays, maps, tuples and rows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._types import composite_conversion, conversion, java_text
from scurry.common._types.basic_typeinfo import (
    BasicType,
    BasicTypeInfo,
    Change,
    DateTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)
from scurry.common._types.conversion import ColumnConverter, Converter
from scurry.common.types import Row


@dataclass(frozen=True, slots=True, repr=False)
class SequenceTypeInfo(TypeInformation):
    """Base of lists and the three kinds of array.

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
        return self._BYTES and self.elem_type == BasicTypeInfo(BasicType.BYTE)

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        if self._of_bytes():
            return conversion.byte_string(self)
        return composite_conversion.list_of(self, self.elem_type.converter(), self._NULLABLE)

    def _column(self) -> ColumnConverter:
        convert = self.converter()
        if self._of_bytes():
            return conversion.column_of(bytes, convert)
        element = self.elem_type._column()
        if element is not None and self._NULLABLE:
            element = composite_conversion.nullable_column(element)
        return composite_conversion.list_column(convert, element)

    def _rebuilt(self, change: Change) -> TypeInformation:
        return type(self)(change(self.elem_type))

    def _java_text(self, value: Any) -> str:
        if self._of_bytes():
            return java_text.byte_array(value)
        return java_text.sequence(map(self.elem_type.to_java_string, value))


class ListTypeInfo(SequenceTypeInfo):
    """A `java.util.List`; a list without None in Python."""

    __slots__ = ()

    def __init__(self, element_type: TypeInformation) -> None:
        """Declare a list."""
        super().__init__(element_type)


class PrimitiveArrayTypeInfo(SequenceTypeInfo):
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


class BasicArrayTypeInfo(SequenceTypeInfo):
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


class ObjectArrayTypeInfo(SequenceTypeInfo):
    """An array of any type; a list that may hold None in Python."""

    __slots__ = ()

    _NULLABLE = True

    def __init__(self, element_type: TypeInformation) -> None:
        """Declare an array of objects."""
        super().__init__(element_type)


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


@dataclass(frozen=True, slots=True, repr=False, init=False)
class MapTypeInfo(TypeInformation[dict[Any, Any]]):
    """A `java.util.Map`; a dict, whose values may be None, in Python.

    Attributes:
        key_type: The type of the keys.
        value_type: The type of the values.
    """

    key_type: TypeInformation
    value_type: TypeInformation

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        """Declare a map."""
        object.__setattr__(self, "key_type", key_type_info)
        object.__setattr__(self, "value_type", value_type_info)

    def __repr__(self) -> str:
        """Return for example `MapTypeInfo<String, Long>`."""
        return f"MapTypeInfo<{self.key_type}, {self.value_type}>"

    def converter(self) -> Converter:
        """Return the function that converts one value to this type."""
        return composite_conversion.map_of(self, self.key_type.converter(), self.value_type.converter())

    def _column(self) -> ColumnConverter:
        value = self.value_type._column()
        if value is not None:
            value = composite_conversion.nullable_column(value)
        return composite_conversion.map_column(self.converter(), self.key_type._column(), value)

    def _rebuilt(self, change: Change) -> TypeInformation:
        return MapTypeInfo(change(self.key_type), change(self.value_type))

    def _java_text(self, value: Any) -> str:
        """Return the entries in the order of a Java HashMap if the hash codes of the keys are known."""
        items = list(value.items())
        codes = [code for key, _ in items if (code := self.key_type._java_hash(key)) is not None]
        if len(codes) == len(items):
            items = [items[position] for position in java_text.hash_map_order(codes)]
        key, content = self.key_type.to_java_string, self.value_type.to_java_string
        return f"{{{', '.join(f'{key(k)}={content(v)}' for k, v in items)}}}"


class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
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
        return composite_conversion.tuple_of(self, [field.converter() for field in self._field_types])

    def _column(self) -> ColumnConverter:
        return composite_conversion.tuple_column(self.converter(), [field._column() for field in self._field_types])

    def _is_immutable(self) -> bool:
        return all(field._is_immutable() for field in self._field_types)

    def _rebuilt(self, change: Change) -> TypeInformation:
        return TupleTypeInfo([change(field) for field in self._field_types])

    def _java_text(self, value: Any) -> str:
        return f"({','.join(map(TypeInformation.to_java_string, self._field_types, value))})"

    def _java_hash(self, value: Any) -> int | None:
        codes = [
            code for field, v in zip(self._field_types, value, strict=True) if (code := field._java_hash(v)) is not None
        ]
        return java_text.hash_of_tuple(codes) if len(codes) == len(self._field_types) else None


class RowTypeInfo(TypeInformation[Row]):
    """A `Row` with declared, possibly named, fields, any of which may be None."""

    __slots__ = ("_field_names", "_field_types")

    def __init__(self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None) -> None:
        """Declare a row.

        Args:
            field_types: The types of the fields.
            field_names: Their names; f0, f1, ... if not given, as in Flink.

        Raises:
            ValueError: The numbers of names and types differ, or a name occurs twice.
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
        return -1 if self._field_names is None else self.get_field_names().index(field_name)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return list(self._field_types)

    def _names(self) -> tuple[str, ...]:
        return self._field_names or tuple(f"f{i}" for i in range(len(self._field_types)))

    def _rebuilt(self, change: Change) -> TypeInformation:
        return RowTypeInfo([change(field) for field in self._field_types], self._field_names)

    def _with_names(self) -> TypeInformation:
        return RowTypeInfo([field._with_names() for field in self._field_types], self._names())

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
        return composite_conversion.row_of(self, self._names(), [field.converter() for field in self._field_types])

    def _column(self) -> ColumnConverter:
        columns = [field._column() for field in self._field_types]
        nullable = [None if column is None else composite_conversion.nullable_column(column) for column in columns]
        return composite_conversion.row_column(self.converter(), self._names(), nullable)

    def to_string(self, value: Any) -> str:
        """Return the text PyFlink prints for a row: its kind, and Python's `str` of each field, e.g. `+I[a,None]`."""
        return f"{value.get_row_kind()}[{','.join(map(str, value))}]" if isinstance(value, Row) else "null"

    def _java_text(self, value: Any) -> str:
        fields = map(TypeInformation.to_java_string, self._field_types, value)
        return f"{value.get_row_kind()}{java_text.sequence(fields)}"


class _Alias(TypeInformation):
    """A type with the values of another type.

    Attributes:
        represented: The other type.
    """

    __slots__ = ("represented",)

    def __init__(self, represented: TypeInformation) -> None:
        self.represented = represented

    def __eq__(self, other: object) -> bool:
        """Compare the class and the represented type."""
        return type(other) is type(self) and self.represented == other.represented

    def __hash__(self) -> int:
        """Hash the class and the represented type."""
        return hash((type(self), self.represented))

    def converter(self) -> Converter | None:
        """Return the function that converts one value to this type."""
        return self.represented.converter()

    def _column(self) -> ColumnConverter | None:
        return self.represented._column()

    def _java_text(self, value: Any) -> str:
        return self.represented._java_text(value)

    def _java_hash(self, value: Any) -> int | None:
        return self.represented._java_hash(value)


class LocalTimeTypeInfo(_Alias):
    """A `java.time.LocalDate`, `LocalTime` or `LocalDateTime`; `datetime.date`, `time` or `datetime` in Python."""

    __slots__ = ("_time_type",)

    class TimeType(Enum):
        """The three types."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        """Declare a type of local time."""
        super().__init__((DateTypeInfo(), TimeTypeInfo(), TimestampTypeInfo())[time_type.value])
        self._time_type = time_type

    def __repr__(self) -> str:
        """Return for example `LocalTimeTypeInfo<LOCAL_DATE>`."""
        return f"LocalTimeTypeInfo<{self._time_type.name}>"

    def _java_text(self, value: Any) -> str:
        return java_text.local_time(value)


class ExternalTypeInfo(_Alias):
    """The type of values that come from tables; in Python they are values of the given type."""

    __slots__ = ()

    def __init__(self, type_info: TypeInformation) -> None:
        """Declare the same values as another type."""
        super().__init__(type_info)

    def __repr__(self) -> str:
        """Return for example `ExternalTypeInfo<Long>`."""
        return f"ExternalTypeInfo<{self.represented}>"

    def to_string(self, value: Any) -> str:
        """Return the text that the represented type's values print as."""
        return self.represented.to_string(value)
