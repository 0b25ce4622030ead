"""ProtobufDecoder: messages of Protocol Buffers as columns."""

# Not protarrow: it has no choice of what a field that a message lacks is, as `protobuf.read-default-values` has.
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from scurry._dataclasses import dataclass
from scurry.connectors.protobuf import is_repeated
from scurry.connectors.source import SKIPPED
from scurry.sql.formats.contract import FormatColumn, names_and_types
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder
from scurry.sql.formats.protobuf.columns import check_fields
from scurry.sql.formats.protobuf.definition import MessageDefinition
from scurry.sql.types import ArrayType, CharType, DataType, MapType, RowType, VarCharType
from scurry.sql.types.values import batch_of_rows

_Read = Callable[[Any], Any]


@dataclass(frozen=True)
class ProtobufDecoder(MessageDecoder):
    """Decode messages.

    Attributes:
        defaults: Whether fields that are not set have their default values, not NULL.
        ignore: Whether messages that cannot be read are skipped.
    """

    message: MessageDefinition
    columns: tuple[FormatColumn, ...]
    defaults: bool
    ignore: bool

    def __post_init__(self) -> None:
        """Refuse columns that the message does not have."""
        descriptor = self.message.message_class().DESCRIPTOR
        check_fields(descriptor, ((column.name, column.type) for column in self.columns))

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with the messages that they are from.

        Raises:
            DecodingError: A message cannot be read.
        """
        parse, read = self.message.message_class().FromString, _readers(self)
        rows, origins = [], []
        for index, message in enumerate(messages):
            try:
                found = parse(message)
                rows.append([each(found) for each in read])
            except (DecodeError, _UnknownValueError) as error:
                if not self.ignore:
                    reason = f"Failed to deserialize PB object. {error}"
                    raise DecodingError(index, reason, "protobuf.ignore-parse-errors") from None
                SKIPPED.get()(1)
            else:
                origins.append(index)
        batch = batch_of_rows(rows, *names_and_types(self.columns))
        return DecodedMessages(batch, None if len(rows) == len(messages) else origins)


@functools.lru_cache(maxsize=256)
def _readers(decoder: ProtobufDecoder) -> list[_Read]:
    """Return the functions that read the columns of a message; of one decoder they stay the same."""
    fields = decoder.message.message_class().DESCRIPTOR.fields_by_name
    return [_field_reader(fields[column.name], column.type, decoder.defaults) for column in decoder.columns]


class _UnknownValueError(Exception):
    """A number that the definition of an enum does not have."""


@dataclass(frozen=True)
class _EnumNumber:
    name: str
    known: frozenset[int]

    def __call__(self, number: int) -> int:
        if number not in self.known:
            raise _UnknownValueError(f"Can't get the number of an unknown enum value: {self.name} has no {number}.")
        return number


def _field_reader(field: FieldDescriptor, data_type: DataType, defaults: bool) -> _Read:
    """Return the function that reads a field of a message."""
    name = field.name
    get: _Read = attrgetter(name)
    whole = _composed(get, _whole_reader(field, data_type, defaults))
    if defaults:
        return whole
    if is_repeated(field):
        return lambda message: whole(message) if get(message) else None
    if field.message_type is not None or (field.has_presence and not _is_proto3(field)):
        return lambda message: whole(message) if message.HasField(name) else None
    return whole


def _composed(get: _Read, read: _Read | None) -> _Read:
    return get if read is None else lambda message: read(get(message))


def _is_proto3(field: FieldDescriptor) -> bool:
    file = FileDescriptorProto()
    field.file.CopyToProto(file)
    return bool(file.syntax == "proto3")


def _whole_reader(field: FieldDescriptor, data_type: DataType, defaults: bool) -> _Read | None:
    """Return the function that converts a field of a message to a value; None if it is the value."""
    if isinstance(data_type, MapType):
        parts = field.message_type.fields_by_name
        key = _value_reader(parts["key"], data_type.key_type, defaults) or _same
        value = _value_reader(parts["value"], data_type.value_type, defaults) or _same
        return lambda entries: [(key(k), value(v)) for k, v in entries.items()]
    if isinstance(data_type, ArrayType):
        element = _value_reader(field, data_type.element_type, defaults)
        return list if element is None else lambda values: list(map(element, values))
    return _value_reader(field, data_type, defaults)


def _same(value: Any) -> Any:
    return value


def _value_reader(field: FieldDescriptor, data_type: DataType, defaults: bool) -> _Read | None:
    if isinstance(data_type, RowType):
        fields = field.message_type.fields_by_name
        read = [_field_reader(fields[each.name], each.data_type, defaults) for each in data_type.fields]
        return lambda message: tuple([each(message) for each in read])
    if field.enum_type is not None:
        texts = isinstance(data_type, CharType | VarCharType)
        values = field.enum_type.values_by_number
        if texts:
            names = {number: value.name for number, value in values.items()}
            return lambda number: names.get(number, "UNRECOGNIZED")
        return _EnumNumber(field.enum_type.full_name, frozenset(values))
    if field.type == FieldDescriptor.TYPE_STRING and not _is_proto3(field):
        return lambda text: text if isinstance(text, str) else text.decode("utf-8", "replace")
    if field.cpp_type in _UNSIGNED:
        limit, span = _UNSIGNED[field.cpp_type]
        return lambda number: number - span if number >= limit else number
    return None


#: numbers of Java have no unsigned types: those from the limit on are negative
_UNSIGNED = {
    FieldDescriptor.CPPTYPE_UINT32: (1 << 31, 1 << 32),
    FieldDescriptor.CPPTYPE_UINT64: (1 << 63, 1 << 64),
}
