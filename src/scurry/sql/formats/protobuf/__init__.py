"""The format `protobuf`: messages of Protocol Buffers."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FormatColumn, FormatFactory, chosen_columns
from scurry.sql.formats.messages import MessageDecoder, MessageEncoder
from scurry.sql.formats.protobuf.definition import MessageDefinition, find_definition

__all__ = ["ProtobufFormat"]

MESSAGE_CLASS_NAME = TableOption(
    "message-class-name",
    str,
    None,
    "The message: the path of the Python class that protoc has generated, such as `shop.orders_pb2.Order`; with "
    "`descriptor-file` its full name there, such as `shop.Order`, or the name of its Java class.",
    required=True,
)
DESCRIPTOR_FILE = TableOption(
    "descriptor-file",
    str,
    None,
    "What `protoc --include_imports --descriptor_set_out=FILE` writes, with which no Python class is needed. Not in "
    "Flink.",
)
IGNORE_PARSE_ERRORS = TableOption(
    "ignore-parse-errors", boolean, False, "Whether messages that cannot be read are skipped."
)
READ_DEFAULT_VALUES = TableOption(
    "read-default-values",
    boolean,
    False,
    "Whether fields that a message does not set have their default values; otherwise they are NULL, except fields of "
    "proto3 that are no messages, arrays or maps.",
)
WRITE_NULL_STRING_LITERAL = TableOption(
    "write-null-string-literal", str, "", "What is written for NULL as a text in an array or a map."
)


class ProtobufFormat(FormatFactory):
    """Read and write messages; the tasks need neither their Python class nor the file of descriptors."""

    identifier = "protobuf"
    options = (
        MESSAGE_CLASS_NAME,
        DESCRIPTOR_FILE,
        IGNORE_PARSE_ERRORS,
        READ_DEFAULT_VALUES,
        WRITE_NULL_STRING_LITERAL,
    )

    def __init__(self) -> None:
        """Know no message yet."""
        self._definition: MessageDefinition | None = None

    def check(self, options: Options) -> None:
        """Find the message, which is kept for the tasks."""
        self._definition = find_definition(options.get(MESSAGE_CLASS_NAME), options.find(DESCRIPTOR_FILE))

    def _message(self, options: Options) -> MessageDefinition:
        if self._definition is None:
            self.check(options)
        assert self._definition is not None
        return self._definition

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        from scurry.sql.formats.protobuf.reading import ProtobufDecoder

        chosen = chosen_columns(declared, columns)
        defaults, ignore = options.get(READ_DEFAULT_VALUES), options.get(IGNORE_PARSE_ERRORS)
        return ProtobufDecoder(self._message(options), chosen, defaults, ignore)

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        from scurry.sql.formats.protobuf.writing import ProtobufEncoder

        return ProtobufEncoder(self._message(options), tuple(declared), options.get(WRITE_NULL_STRING_LITERAL))
