"""CsvReader: CSV files as columns, converted as Flink's deserializer (Jackson) does."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scurry.common._charsets import text_of
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.csv.arrow_columns import ArrowCsvColumns
from scurry.connectors.files.formats.csv.format import CsvQuotes
from scurry.connectors.files.formats.csv.parser import CsvParser, CsvSyntaxError
from scurry.connectors.files.formats.csv.schema import CsvDialect, decimal_parser, scalar_parser
from scurry.connectors.files.formats.ranges import LineNumbers, compressed, open_text, owned_blocks
from scurry.connectors.source import SKIPPED
from scurry.errors import MalformedRecordError, UnsupportedError
from scurry.sql.formats.contract import FileReader
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder
from scurry.sql.formats.temporal_text import parse_date, parse_time, parse_timestamp
from scurry.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LocalZonedTimestampType,
    NullType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.values import from_values

if TYPE_CHECKING:
    import pyarrow as pa

Parser = Callable[[str], Any]

_ROWS = 8192
_END = 1 << 62
#: what java.math.BigDecimal reads, which removes no blanks
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class CsvReader(FileReader):
    """Read CSV files.

    Attributes:
        dialect: The syntax, with all columns of the files.
        columns: Names of those to read.
    """

    dialect: CsvDialect
    columns: tuple[str, ...]

    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file, block by block."""
        import pyarrow as pa

        quotes = CsvQuotes(self.dialect)
        fast = None
        if ArrowCsvColumns.understands(self.dialect, self.columns):
            fast = ArrowCsvColumns(self.dialect, self.columns)
        whole = compressed(path)
        file, recoded = open_text(fs, path)
        with file:
            if recoded and start:
                return
            until = _END if whole or recoded else end
            for offset, block in owned_blocks(file, path, start, until, cut=quotes.whole_records):
                arrays = fast.read(block) if fast is not None and quotes.regular(block) else None
                if arrays is not None:
                    yield pa.RecordBatch.from_arrays(arrays, names=list(self.columns))
                else:
                    yield from self._parsed(bytes(block), LineNumbers(fs, path, offset))

    def _parsed(self, block: bytes, lines: LineNumbers) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a block that are read field by field."""
        text = block.decode("utf-8", "replace")
        positions, types, parsers = self.parsed_columns()
        rows: list[list[Any]] = []
        for begin, fields in self._records(text, lines):
            try:
                rows.append(self.row(fields, positions, parsers))
            except ValueError as error:
                if self.dialect.ignore_errors:
                    SKIPPED.get()(1)
                    continue
                raise _malformed(lines, text, begin, str(error)) from None
            if len(rows) == _ROWS:
                yield self.batch(rows, types)
                rows = []
        if rows:
            yield self.batch(rows, types)

    def parsed_columns(self) -> tuple[list[int], list[DataType], list[Parser]]:
        """Return the positions of the columns to read, their types and the functions that read them."""
        positions = [self.dialect.names.index(name) for name in self.columns]
        types = [self.dialect.columns[position].type for position in positions]
        parsers = [_field(data_type, self.dialect, name) for data_type, name in zip(types, self.columns, strict=True)]
        return positions, types, parsers

    def _records(self, text: str, lines: LineNumbers) -> Iterator[tuple[int, list[str]]]:
        parser = CsvParser(self.dialect)
        start = 1 if text.startswith("\ufeff") else 0
        while True:
            try:
                for begin, end, fields in parser.records(text, start):
                    start = end
                    yield begin, fields
                return
            except CsvSyntaxError as error:
                if not self.dialect.ignore_errors:
                    raise _malformed(lines, text, error.position, error.reason) from None
                SKIPPED.get()(1)
                line_end = text.find("\n", error.position)
                if line_end < 0:
                    return
                start = line_end + 1

    def row(self, fields: list[str], positions: list[int], parsers: list[Parser]) -> list[Any]:
        """Return the values of a line; raises ValueError."""
        expected, count = len(self.dialect.columns), len(fields)
        if count != expected:
            if count > expected:
                if count == expected + 1 and not fields[-1]:
                    fields = fields[:-1]
                else:
                    raise ValueError(f"Too many fields: {expected} are declared, the line has {count}")
            elif count < len(positions) and not self.dialect.ignore_errors:
                # As in Flink, a line has to have as many fields as columns are read, whichever they are.
                raise ValueError(f"Row length mismatch. {len(positions)} fields expected but was {count}.")
            fields = fields + [""] * (expected - count)
            missing = count
        else:
            missing = expected
        return [
            parse(fields[position]) if position < missing else None
            for position, parse in zip(positions, parsers, strict=True)
        ]

    def batch(self, rows: list[list[Any]], types: list[DataType]) -> pa.RecordBatch:
        """Return rows as columns."""
        import pyarrow as pa

        if not self.columns:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
        parts = zip(*rows, strict=True) if rows else [()] * len(types)
        arrays = [from_values(list(part), kind) for part, kind in zip(parts, types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.columns))


@dataclass(frozen=True)
class CsvDecoder(MessageDecoder):
    """Decode messages of one CSV line.

    Attributes:
        lines: Reads the line.
    """

    lines: CsvReader

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with the messages that they are from.

        Raises:
            DecodingError: A message cannot be read.
        """
        reader = self.lines
        parser = CsvParser(reader.dialect)
        positions, types, parsers = reader.parsed_columns()
        rows: list[list[Any]] = []
        origins: list[int] = []
        for index, message in enumerate(messages):
            try:
                text = text_of(message, "replace")
                for _, _, fields in parser.records(text, 0):
                    rows.append(reader.row(fields, positions, parsers))
                    origins.append(index)
                    break
            except (CsvSyntaxError, ValueError) as error:
                if not reader.dialect.ignore_errors:
                    reason = getattr(error, "reason", str(error))
                    raise DecodingError(index, reason, "csv.ignore-parse-errors") from None
                SKIPPED.get()(1)
        return DecodedMessages(reader.batch(rows, types), origins)


def _malformed(lines: LineNumbers, text: str, begin: int, reason: str) -> MalformedRecordError:
    line_end = text.find("\n", begin)
    line = text[begin:] if line_end < 0 else text[begin:line_end]
    error = MalformedRecordError(lines.path, lines.of(text, begin), line.rstrip("\r"), reason)
    return error.with_hint("'csv.ignore-parse-errors' = 'true' makes NULL of what cannot be read")


def _field(data_type: DataType, dialect: CsvDialect, name: str) -> Parser:
    parse, null = _parser(data_type, dialect, name), dialect.null_value

    def checked(text: str) -> Any:
        if null is not None and text == null:
            return None
        try:
            return parse(text)
        except (ValueError, binascii.Error) as error:
            if dialect.ignore_errors:
                return None
            if str(error).startswith("Fail to"):
                raise
            raise ValueError(f"Fail to deserialize at field: {name}. {error}") from None

    return checked


def _parser(data_type: DataType, dialect: CsvDialect, name: str) -> Parser:
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return simple
    if isinstance(data_type, DecimalType):
        return _decimal(data_type)
    if isinstance(data_type, IntegralType | BooleanType | FloatType | DoubleType):
        return scalar_parser(data_type)
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        zoned = isinstance(data_type, LocalZonedTimestampType)
        unit = 1_000_000 if data_type.precision <= 3 else 1_000 if data_type.precision <= 6 else 1
        return lambda text: parse_timestamp(text.strip(), False, zoned) // unit
    if isinstance(data_type, ArrayType):
        element = _field(data_type.element_type, dialect, name)
        return lambda text: [element(part) for part in _parts(text, dialect)]
    if isinstance(data_type, RowType):
        return _row(data_type, dialect, name)
    raise UnsupportedError(f"format 'csv' cannot read {data_type.as_summary_string()} (column {name!r})")


def _parts(text: str, dialect: CsvDialect) -> list[str]:
    return text.split(dialect.array_separator) if text else []


def _row(data_type: RowType, dialect: CsvDialect, name: str) -> Parser:
    fields = [_field(field.data_type, dialect, f"{name}.{field.name}") for field in data_type.fields]

    def parse(text: str) -> tuple[Any, ...] | None:
        parts = _parts(text, dialect)
        if not parts:
            return None
        if len(parts) != len(fields) and not dialect.ignore_errors:
            raise ValueError(f"Row length mismatch. {len(fields)} fields expected but was {len(parts)}.")
        return tuple(field(parts[i]) if i < len(parts) else None for i, field in enumerate(fields))

    return parse


def _decimal(data_type: DecimalType) -> Parser:
    parse = decimal_parser(data_type.precision, data_type.scale)

    def checked(text: str) -> Any:
        if _DECIMAL.fullmatch(text) is None:
            raise ValueError(f"{text!r} is no decimal number")
        return parse(text)

    return checked


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


#: Dates without leading zeros and times without seconds, which Flink takes in CSV.
_SHORT_DATE: Final = re.compile(r"^(\d{4})-(\d\d?)-(\d\d?)$")
_SHORT_TIME: Final = re.compile(r"^\d\d:\d\d$")


def _padded(date: re.Match[str]) -> str:
    return f"{date[1]}-{date[2]:0>2}-{date[3]:0>2}"


_SIMPLE: dict[type[DataType], Parser] = {
    CharType: str,
    VarCharType: str,
    BinaryType: _base64,
    VarBinaryType: _base64,
    DateType: lambda text: parse_date(_SHORT_DATE.sub(_padded, text)),
    TimeType: lambda text: parse_time(f"{text}:00" if _SHORT_TIME.match(text) else text),
    NullType: lambda text: None,
}
