"""The format `raw`: the bytes of one column, in files a line per row."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common import _charsets
from scurry.common.serialization import BulkWriterFactory
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql import types
from scurry.sql.catalog.table_options import Options, TableOption
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory
from scurry.sql.formats.lines import LineReader, LineWriterFactory
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder, MessageEncoder
from scurry.sql.types.values import batch_of_columns, from_values, to_values

if TYPE_CHECKING:
    import pyarrow as pa

CHARSET = TableOption("charset", str, "UTF-8", "The character set of texts.")
ENDIANNESS = TableOption("endianness", str, "big-endian", "The order of bytes: `big-endian` or `little-endian`.")

_STRUCTS: dict[type[types.DataType], str] = {
    types.BooleanType: "?",
    types.TinyIntType: "b",
    types.SmallIntType: "h",
    types.IntType: "i",
    types.BigIntType: "q",
    types.FloatType: "f",
    types.DoubleType: "d",
}


class RawFormat(FormatFactory):
    """Read and write the bytes of one column."""

    identifier = "raw"
    options = (CHARSET, ENDIANNESS)

    def check(self, options: Options) -> None:
        """Check the values that Flink checks."""
        endianness = options.get(ENDIANNESS)
        if endianness not in ("big-endian", "little-endian"):
            raise ValidationError(
                f"Unsupported endianness name: {endianness}. Valid values of 'raw.endianness' option are "
                "'big-endian' and 'little-endian'."
            )
        try:
            _charsets.codec_of(options.get(CHARSET))
        except LookupError:
            raise ValidationError(f"Unsupported 'raw.charset' name: {options.get(CHARSET)}.") from None

    def file_reader(self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options) -> FileReader:
        column = _only(declared)
        return LineReader(_RawDecoder(column, bool(columns), _codec(options), _order(options)))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options) -> BulkWriterFactory:
        return LineWriterFactory(_RawEncoder(_only(declared), _codec(options), _order(options)))

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        """Return a decoder of whole messages."""
        return _RawDecoder(_only(declared), bool(columns), _codec(options), _order(options))

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        """Return an encoder of whole messages."""
        return _RawEncoder(_only(declared), _codec(options), _order(options))


def _order(options: Options) -> str:
    return ">" if options.get(ENDIANNESS) == "big-endian" else "<"


def _codec(options: Options) -> str:
    return _charsets.codec_of(options.get(CHARSET))


def _only(declared: Sequence[FormatColumn]) -> FormatColumn:
    if len(declared) != 1:
        listed = ", ".join(f"`{column.name}` {column.type.as_summary_string()}" for column in declared)
        raise ValidationError(
            "The 'raw' format only supports single physical column. However the defined schema contains multiple "
            f"physical columns: [{listed}]"
        )
    return declared[0]


@dataclass(frozen=True)
class _RawDecoder(MessageDecoder):
    column: FormatColumn
    wanted: bool
    charset: str
    order: str

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        import pyarrow as pa

        if not self.wanted:
            return DecodedMessages(batch_of_columns([], (), len(messages)))
        values: list[Any] = []
        parse = self._parser()
        for index, message in enumerate(messages):
            try:
                values.append(parse(message))
            except (struct.error, ValueError) as error:
                raise DecodingError(index, str(error)) from None
        column = from_values(values, self.column.type)
        return DecodedMessages(pa.RecordBatch.from_arrays([column], names=[self.column.name]))

    def _parser(self) -> Callable[[bytes], Any]:
        kind = type(self.column.type)
        if issubclass(kind, types.CharType | types.VarCharType):
            return lambda message: _charsets.decode(message, self.charset)
        if issubclass(kind, types.BinaryType | types.VarBinaryType):
            return bytes
        if kind in _STRUCTS:
            unpack = struct.Struct(self.order + _STRUCTS[kind]).unpack
            return lambda message: unpack(message)[0]
        raise _unsupported(self.column)


@dataclass(frozen=True)
class _RawEncoder(MessageEncoder):
    column: FormatColumn
    charset: str
    order: str

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        kind = type(self.column.type)
        values = to_values(batch.column(0))
        if issubclass(kind, types.CharType | types.VarCharType):
            return [b"" if value is None else _charsets.encode(value, self.charset) for value in values]
        if issubclass(kind, types.BinaryType | types.VarBinaryType):
            return [value or b"" for value in values]
        if kind in _STRUCTS:
            pack = struct.Struct(self.order + _STRUCTS[kind]).pack
            return [b"" if value is None else pack(value) for value in values]
        raise _unsupported(self.column)


def _unsupported(column: FormatColumn) -> UnsupportedError:
    return UnsupportedError(f"The 'raw' format doesn't supports '{column.type.as_summary_string()}' as column type.")
