"""Check that the columns of a table fit the fields of its message."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from scurry.connectors.protobuf import is_map, is_repeated
from scurry.errors import ValidationError
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

_INT = "INT", (IntType,)
_LONG = "LONG", (BigIntType,)
_OF_KINDS: dict[int, tuple[str, tuple[type[DataType], ...]]] = {
    FieldDescriptor.CPPTYPE_INT32: _INT,
    FieldDescriptor.CPPTYPE_UINT32: _INT,
    FieldDescriptor.CPPTYPE_INT64: _LONG,
    FieldDescriptor.CPPTYPE_UINT64: _LONG,
    FieldDescriptor.CPPTYPE_DOUBLE: ("DOUBLE", (DoubleType,)),
    FieldDescriptor.CPPTYPE_FLOAT: ("FLOAT", (FloatType,)),
    FieldDescriptor.CPPTYPE_BOOL: ("BOOLEAN", (BooleanType,)),
    FieldDescriptor.CPPTYPE_ENUM: (
        "ENUM",
        (VarCharType, CharType, IntType, BigIntType),
    ),
    FieldDescriptor.CPPTYPE_STRING: ("STRING", (CharType, VarCharType)),
}
_BYTES = "BYTE_STRING", (BinaryType, VarBinaryType)


def check_fields(message: Descriptor, columns: Iterable[tuple[str, DataType]]) -> None:
    """Check columns, or the fields of a ROW.

    Raises:
        ValidationError: The message has no such field, or it has another type.
    """
    for name, data_type in columns:
        field = message.fields_by_name.get(name)
        if field is None:
            raise ValidationError(
                f"Column {name} does not exists in definition of proto class: {message.full_name} has the fields "
                f"{', '.join(message.fields_by_name)}."
            )
        _check(field, data_type, is_repeated(field))


def _check(field: FieldDescriptor, data_type: DataType, repeated: bool) -> None:
    if is_map(field):
        if not isinstance(data_type, MapType):
            raise _unexpected(data_type, "MapType")
        parts = field.message_type.fields_by_name
        _check(parts["key"], data_type.key_type, False)
        _check(parts["value"], data_type.value_type, False)
    elif repeated:
        if not isinstance(data_type, ArrayType):
            raise _unexpected(data_type, "ArrayType")
        if field.message_type is not None and not isinstance(data_type.element_type, RowType):
            raise _unexpected(data_type.element_type, "RowType")
        _check(field, data_type.element_type, False)
    elif field.message_type is not None:
        if not isinstance(data_type, RowType):
            raise _unexpected(data_type, "RowType")
        check_fields(field.message_type, ((each.name, each.data_type) for each in data_type.fields))
    else:
        kind, types = _BYTES if field.type == FieldDescriptor.TYPE_BYTES else _OF_KINDS[field.cpp_type]
        if isinstance(data_type, TinyIntType | SmallIntType) and field.enum_type is not None:
            raise ValidationError(f"Do not support flink type: {_root(data_type)} of an enum; declare INT or STRING")
        if not isinstance(data_type, types):
            raise ValidationError(
                f"Protobuf field type does not match column type, {kind}(protobuf) is not compatible of "
                f"{_root(data_type)}"
            )


def _unexpected(data_type: DataType, expected: str) -> ValidationError:
    return ValidationError(f"Unexpected LogicalType: {data_type.as_summary_string()}. It should be {expected}")


_ROOTS: dict[type[DataType], str] = {
    IntType: "INTEGER",
    TimeType: "TIME_WITHOUT_TIME_ZONE",
    TimestampType: "TIMESTAMP_WITHOUT_TIME_ZONE",
    LocalZonedTimestampType: "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
}


def _root(data_type: DataType) -> str:
    """Return the name of a type without its parameters, as Flink's LogicalTypeRoot."""
    return _ROOTS.get(type(data_type)) or type(data_type).__name__.removesuffix("Type").upper()
