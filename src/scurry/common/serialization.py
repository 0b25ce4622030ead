"""Schemas that convert between records and bytes for connectors, and the encoder of file sinks.

PyFlink's classes wrap Java objects; these are implemented in Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, BinaryIO, ClassVar

from scurry.common import _charsets
from scurry.common.pickling import of_functions
from scurry.common.typeinfo import TypeInformation, Types
from scurry.common.types import Row
from scurry.errors import ArgumentError, TypeMismatchError

__all__ = [
    "BulkWriter",
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


@of_functions
class SerializationSchema:
    """Convert a record to bytes, for example for Kafka. For a custom format, override `serialize`."""

    def serialize(self, value: Any) -> bytes:
        """Return the bytes of a record.

        Raises:
            TypeMismatchError: This schema does not accept the record.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override serialize")


@of_functions
class DeserializationSchema:
    """Convert bytes to a record, for example from Kafka. For a custom format, override `deserialize`."""

    def deserialize(self, message: bytes) -> Any:
        """Return the record in these bytes, or None to skip them.

        Raises:
            ValueError: They are not a record of this format.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override deserialize")

    def deserialize_all(self, messages: list[bytes]) -> list[Any]:
        """Return the result of `deserialize` for each message; override it if a batch can be read faster.

        If it raises, the messages are deserialized one by one.
        """
        return [self.deserialize(message) for message in messages]

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""
        return Types.PICKLED_BYTE_ARRAY()


def _python_codec(charset: str) -> str:
    try:
        return _charsets.codec_of(charset)
    except LookupError:
        raise ArgumentError(
            f"unknown charset {charset!r}; Python knows for example UTF-8, UTF-16BE and ISO-8859-1"
        ) from None


class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Text as bytes. As in Java, characters missing in the charset become `?`, and unreadable bytes U+FFFD."""

    def __init__(self, charset: str = "UTF-8") -> None:
        """Use a charset.

        Raises:
            ArgumentError: Python does not know it.
        """
        self._codec = _python_codec(charset)

    def serialize(self, value: Any) -> bytes:
        """Return the bytes of a text."""
        if not isinstance(value, str):
            raise TypeMismatchError("String", value, "SimpleStringSchema serializes str; map the stream to str first")
        return _charsets.encode(value, self._codec)

    def deserialize(self, message: bytes) -> str:
        """Return the text in these bytes."""
        return _charsets.decode(bytes(message), self._codec)

    def deserialize_all(self, messages: list[bytes]) -> list[str]:
        """Return the texts."""
        codec = self._codec
        if _charsets.has_byte_order(codec):
            return [_charsets.decode(message, codec) for message in messages]
        return [message.decode(codec, "replace") for message in messages]

    def get_produced_type(self) -> TypeInformation:
        """Return STRING."""
        return Types.STRING()


class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Bytes as they are."""

    def serialize(self, value: Any) -> bytes:
        """Return the bytes."""
        return _as_bytes(value, "ByteArraySchema serializes bytes; map the stream to bytes first")

    def deserialize(self, message: bytes) -> bytes:
        """Return the bytes."""
        return bytes(message)

    def deserialize_all(self, messages: list[bytes]) -> list[bytes]:
        """Return the messages."""
        return messages

    def get_produced_type(self) -> TypeInformation:
        """Return the type of byte arrays."""
        return Types.PRIMITIVE_ARRAY(Types.BYTE())


class RowFieldExtractorSchema(SerializationSchema):
    """One field of a row, which must be bytes; for example the key of a Kafka record."""

    def __init__(self, field_index: int) -> None:
        """Choose the field.

        Args:
            field_index: Its position, from 0.

        Raises:
            ArgumentError: The position is negative.
        """
        if field_index < 0:
            raise ArgumentError(f"Field index must be non-negative, got: {field_index}")
        self._field_index = field_index

    def serialize(self, value: Any) -> bytes:
        """Return the bytes in the field; empty bytes if it or the row is null."""
        if value is None:
            return b""
        if not isinstance(value, Row) or len(value) <= self._field_index:
            raise TypeMismatchError(
                "Row", value, f"RowFieldExtractorSchema wants a row with a field {self._field_index}"
            )
        field = value[self._field_index]
        return b"" if field is None else _as_bytes(field, f"field {self._field_index} must be bytes")


def _as_bytes(value: Any, reason: str) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeMismatchError("byte[]", value, reason)


#: Charsets of which each text has the same bytes alone and within another one, and the newline is that of ASCII.
_WITH_ASCII = frozenset({"utf-8", "ascii", "iso8859-1"})


@of_functions
class Encoder:
    """Write records to a file, each as its text and a newline; made by `simple_string_encoder`."""

    def __init__(self, charset_name: str = "UTF-8") -> None:
        """Use a charset.

        Raises:
            ArgumentError: Python does not know it.
        """
        self._codec = _python_codec(charset_name)

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """Return an encoder that writes the text Java's `toString` gives.

        Args:
            charset_name: Charset of the file; as in Java, what it cannot express becomes `?`.

        Raises:
            ArgumentError: Python does not know it.
        """
        return Encoder(charset_name)

    def encode(self, value: Any, type_info: TypeInformation | None = None) -> bytes:
        """Return a line of the file.

        Args:
            value: The record, converted to its declared type, or its text.
            type_info: The declared type, whose text is written; without it Python's `str(value)` is.
        """
        text = str(value) if type_info is None else type_info.to_java_string(value)
        return _charsets.encode(text, self._codec) + b"\n"

    def _lines(self, texts: list[str]) -> bytes:
        """Return the lines of some texts: those that `encode` returns one by one."""
        if self._codec in _WITH_ASCII:
            return ("\n".join(texts) + "\n").encode(self._codec, "replace")
        return b"".join(map(self.encode, texts))


@of_functions
class BulkWriter(ABC):
    """Write records to one file."""

    @abstractmethod
    def write(self, values: list[Any]) -> None:
        """Add records."""

    @abstractmethod
    def finish(self) -> None:
        """Write buffered records and the end of the file, but leave the stream open."""


@of_functions
class BulkWriterFactory(ABC):
    """Create the writers of a bulk format, one per file (Flink's `BulkWriter.Factory`). Picklable.

    Attributes:
        concatenable: Whether files of the format, one after another, are a file of the format.
    """

    concatenable: ClassVar[bool] = False

    @abstractmethod
    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
