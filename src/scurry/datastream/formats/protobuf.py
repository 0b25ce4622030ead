"""Protocol Buffers: generated messages, or rows with their fields, in the binary encoding."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError, EncodeError, Message

from scurry.common.serialization import DeserializationSchema, SerializationSchema
from scurry.common.typeinfo import TypeInformation
from scurry.common.types import Row
from scurry.connectors.protobuf import defined, definition_of
from scurry.datastream.formats._protobuf_rows import filler, row_reader, row_type_of
from scurry.errors import ArgumentTypeError, MalformedRecordError, TypeMismatchError

__all__ = [
    "ProtobufDeserializationSchema",
    "ProtobufRowDeserializationSchema",
    "ProtobufRowSerializationSchema",
    "ProtobufSerializationSchema",
]


def _message_class(message_class: Any) -> type[Message]:
    if not (isinstance(message_class, type) and issubclass(message_class, Message)):
        raise ArgumentTypeError(
            f"expected a message class that protoc has generated, e.g. orders_pb2.Order; got {message_class!r}"
        )
    return message_class


def _parsed(message_class: type[Message], message: bytes) -> Message:
    try:
        parsed: Message = message_class.FromString(bytes(message))
        return parsed
    except DecodeError as error:
        text = bytes(message).decode("utf-8", "replace")
        raise MalformedRecordError("Protobuf message", None, text, str(error)) from None


class ProtobufRowDeserializationSchema(DeserializationSchema):
    """Read a row from a message.

    The row has the message's fields, with the types of Flink's protobuf format: enums are STRING, repeated fields are
    arrays of objects, maps are MAP, nested messages are rows, and `uint32` is LONG. A field that can be unset
    (messages, `optional` fields, members of a `oneof`, all fields of proto2) is None if it is unset.
    """

    def __init__(
        self, message_class: type[Message], ignore_parse_errors: bool = False, read_default_values: bool = False
    ) -> None:
        """Describe the messages.

        Args:
            message_class: The class that protoc generated.
            ignore_parse_errors: Whether to skip bytes that are not such a message.
            read_default_values: Whether fields that are not set have their default value instead of None; nested
                messages stay None.

        Raises:
            ArgumentTypeError: It is not such a class.
            UnsupportedError: The message contains itself.
        """
        self._class = _message_class(message_class)
        self._options = ignore_parse_errors, read_default_values
        self._type_info = row_type_of(self._class.DESCRIPTOR)
        self._row = row_reader(self._class.DESCRIPTOR, read_default_values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message's definition."""
        return _row_deserialization, (*definition_of(self._class), *self._options)

    def get_produced_type(self) -> TypeInformation:
        """Return the row's type."""
        return self._type_info

    def deserialize(self, message: bytes) -> Row | None:
        """Return the row in a message; with `ignore_parse_errors`, None if it cannot be read.

        Raises:
            MalformedRecordError: The bytes are not such a message.
        """
        try:
            return self._row(_parsed(self._class, message))
        except MalformedRecordError:
            if self._options[0]:
                return None
            raise


def _row_deserialization(definition: bytes, name: str, *options: bool) -> ProtobufRowDeserializationSchema:
    return ProtobufRowDeserializationSchema(defined(definition, name), *options)


class ProtobufRowSerializationSchema(SerializationSchema):
    """Write a row or dict as a message; fields that are None are left unset."""

    def __init__(self, message_class: type[Message]) -> None:
        """Describe the messages.

        Args:
            message_class: The class that protoc generated.

        Raises:
            ArgumentTypeError: It is not such a class.
        """
        self._class = _message_class(message_class)
        self._fill = filler(self._class.DESCRIPTOR)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the message's definition."""
        return _row_serialization, definition_of(self._class)

    def serialize(self, value: Any) -> bytes:
        """Return the message of a row; its fields are found by name, or by position if it has no names.

        Raises:
            TypeMismatchError: The value is not such a row.
        """
        message = self._class()
        self._fill(message, value)
        return _bytes_of(message, value)


def _row_serialization(definition: bytes, name: str) -> ProtobufRowSerializationSchema:
    return ProtobufRowSerializationSchema(defined(definition, name))


def _bytes_of(message: Message, value: Any) -> bytes:
    try:
        written: bytes = message.SerializeToString()
        return written
    except EncodeError as error:
        raise TypeMismatchError(f"message {message.DESCRIPTOR.full_name}", value, str(error)) from None


class ProtobufDeserializationSchema(DeserializationSchema):
    """Read objects of a generated message class, which tasks must be able to import."""

    def __init__(self, message_class: type[Message], ignore_parse_errors: bool = False) -> None:
        """Describe the messages.

        Args:
            message_class: The class that protoc generated.
            ignore_parse_errors: Whether to skip bytes that are not such a message.

        Raises:
            ArgumentTypeError: It is not such a class.
        """
        self._class = _message_class(message_class)
        self._ignore = ignore_parse_errors

    def deserialize(self, message: bytes) -> Message | None:
        """Return the message; with `ignore_parse_errors`, None if it cannot be read.

        Raises:
            MalformedRecordError: The bytes are not such a message.
        """
        try:
            return _parsed(self._class, message)
        except MalformedRecordError:
            if self._ignore:
                return None
            raise


class ProtobufSerializationSchema(SerializationSchema):
    """Write objects of a generated message class."""

    def __init__(self, message_class: type[Message]) -> None:
        """Describe the messages.

        Args:
            message_class: The class that protoc generated.

        Raises:
            ArgumentTypeError: It is not such a class.
        """
        self._class = _message_class(message_class)

    def serialize(self, value: Any) -> bytes:
        """Return the bytes of a message.

        Raises:
            TypeMismatchError: It is of another class, or lacks a required field.
        """
        if not isinstance(value, self._class):
            declared = f"message {self._class.DESCRIPTOR.full_name}"
            raise TypeMismatchError(declared, value, "for rows and dicts use ProtobufRowSerializationSchema")
        return _bytes_of(value, value)
