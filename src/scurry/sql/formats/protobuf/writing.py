"""ProtobufEncoder: columns as messages of Protocol Buffers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor

from scurry._dataclasses import dataclass
from scurry.connectors.protobuf import is_map, is_repeated
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.messages import MessageEncoder
from scurry.sql.formats.protobuf.columns import check_fields
from scurry.sql.formats.protobuf.definition import MessageDefinition
from scurry.sql.types import ArrayType, CharType, DataType, MapType, RowType, VarCharType
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa

_Set = Callable[[Any, Any], None]
_Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class ProtobufEncoder(MessageEncoder):
    """Encode rows; a field that is NULL is not set.

    Attributes:
        null_text: What stands for NULL as a text in arrays and maps.
    """

    message: MessageDefinition
    columns: tuple[FormatColumn, ...]
    null_text: str

    def __post_init__(self) -> None:
        """Refuse columns that the message does not have."""
        descriptor = self.message.message_class().DESCRIPTOR
        check_fields(descriptor, ((column.name, column.type) for column in self.columns))

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return one message per row."""
        made, fill, messages = self.message.message_class(), _setters(self), []
        for row in zip(*map(to_values, batch.columns), strict=True):
            message = made()
            for put, value in zip(fill, row, strict=True):
                if value is not None:
                    put(message, value)
            messages.append(message.SerializeToString(deterministic=True))
        return messages


@functools.lru_cache(maxsize=256)
def _setters(encoder: ProtobufEncoder) -> list[_Set]:
    """Return the functions that set the fields of a message; of one encoder they stay the same."""
    fields = encoder.message.message_class().DESCRIPTOR.fields_by_name
    return [_setter(fields[column.name], column.type, encoder.null_text) for column in encoder.columns]


def _setter(field: FieldDescriptor, data_type: DataType, null_text: str) -> _Set:
    """Return the function that sets a field of a message to a value, which is not None."""
    name = field.name
    if is_map(field):
        assert isinstance(data_type, MapType)
        return _map_setter(field, data_type, null_text)
    if is_repeated(field):
        assert isinstance(data_type, ArrayType)
        return _array_setter(field, data_type.element_type, null_text)
    if field.message_type is not None:
        fill = _filler(field, data_type, null_text)

        def set_message(message: Any, value: Any) -> None:
            inner = getattr(message, name)
            inner.SetInParent()  # a row whose fields are all NULL is set, too
            fill(inner, value)

        return set_message
    convert = _converter(field, data_type)
    return lambda message, value: setattr(message, name, convert(value))


def _filler(field: FieldDescriptor, data_type: DataType, null_text: str) -> _Set:
    """Return the function that fills a message from a ROW; of NULL all fields are left unset."""
    assert isinstance(data_type, RowType)
    fields = field.message_type.fields_by_name
    fill = [_setter(fields[each.name], each.data_type, null_text) for each in data_type.fields]

    def set_all(message: Any, row: Any) -> None:
        for put, value in zip(fill, row or (), strict=row is not None):
            if value is not None:
                put(message, value)

    return set_all


def _array_setter(field: FieldDescriptor, data_type: DataType, null_text: str) -> _Set:
    name = field.name
    if field.message_type is not None:
        fill = _filler(field, data_type, null_text)

        def add_all(message: Any, values: Any) -> None:
            elements = getattr(message, name)
            for value in values:
                fill(elements.add(), value)

        return add_all
    convert = _element_converter(field, data_type, null_text)
    return lambda message, values: getattr(message, name).extend(map(convert, values))


def _map_setter(field: FieldDescriptor, data_type: MapType, null_text: str) -> _Set:
    name, parts = field.name, field.message_type.fields_by_name
    key = _element_converter(parts["key"], data_type.key_type, null_text)
    if parts["value"].message_type is not None:
        fill = _filler(parts["value"], data_type.value_type, null_text)

        def put_all(message: Any, entries: Any) -> None:
            found = getattr(message, name)
            for k, v in entries:
                fill(found[key(k)], v)

        return put_all
    item = _element_converter(parts["value"], data_type.value_type, null_text)

    def update(message: Any, entries: Any) -> None:
        found = getattr(message, name)
        for k, v in entries:
            found[key(k)] = item(v)

    return update


def _element_converter(field: FieldDescriptor, data_type: DataType, null_text: str) -> _Convert:
    """Return the function that converts an element of an array or a map, of which none can be missing."""
    convert = _converter(field, data_type)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        null: Any = b"" if field.type == FieldDescriptor.TYPE_BYTES else null_text
    else:
        null = field.enum_type.values[0].number if field.enum_type is not None else 0
    return lambda value: null if value is None else convert(value)


def _converter(field: FieldDescriptor, data_type: DataType) -> _Convert:
    if field.enum_type is not None:
        first = field.enum_type.values[0].number  # as in Flink, instead of what the enum does not have
        if isinstance(data_type, CharType | VarCharType):
            numbers = {name: value.number for name, value in field.enum_type.values_by_name.items()}
            return lambda name: numbers.get(name, first)
        known = set(field.enum_type.values_by_number)
        return lambda number: number if number in known else first
    if field.cpp_type == FieldDescriptor.CPPTYPE_UINT32:
        return lambda number: number & 0xFFFF_FFFF
    if field.cpp_type == FieldDescriptor.CPPTYPE_UINT64:
        return lambda number: number & 0xFFFF_FFFF_FFFF_FFFF
    return _same


def _same(value: Any) -> Any:
    return value
