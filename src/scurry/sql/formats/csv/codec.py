"""CsvReader and CsvEncoder: CSV files as columns and back, converted as Flink's deserializer (Jackson) does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common._charsets import text_of
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.csv.arrow_columns import ArrowCsvColumns
from scurry.connectors.files.formats.csv.fields import CsvFields
from scurry.connectors.files.formats.csv.format import CsvQuotes
from scurry.connectors.files.formats.csv.parser import CsvParser, CsvSyntaxError
from scurry.connectors.files.formats.csv.schema import CsvDialect
from scurry.connectors.files.formats.csv.writer import CsvLines
from scurry.connectors.files.formats.ranges import LineNumbers, compressed, open_text, owned_blocks
from scurry.connectors.source import SKIPPED
from scurry.errors import MalformedRecordError
from scurry.sql.formats.contract import FileReader
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder, MessageEncoder
from scurry.sql.types import DataType
from scurry.sql.types.values import batch_of_rows, to_values

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 8192
_END = 1 << 62


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
        types, values = self.parsed_columns()
        rows: list[list[Any]] = []
        for begin, fields in self._records(text, lines):
            try:
                rows.append(values(fields))
            except ValueError as error:
                if self.dialect.ignore_errors:
                    SKIPPED.get()(1)
                    continue
                raise _malformed(lines, text, begin, str(error)) from None
            if len(rows) == _ROWS:
                yield batch_of_rows(rows, self.columns, types)
                rows = []
        if rows:
            yield batch_of_rows(rows, self.columns, types)

    def parsed_columns(self) -> tuple[list[DataType], Callable[[list[str]], list[Any]]]:
        """Return the types of the columns to read, and the function that makes their values of a line's fields."""
        positions = [self.dialect.names.index(name) for name in self.columns]
        types = [self.dialect.columns[position].type for position in positions]
        fields = CsvFields(self.dialect)
        parsers = [fields.field(data_type, name) for data_type, name in zip(types, self.columns, strict=True)]
        return types, lambda texts: fields.line(texts, parsers, positions)

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


@dataclass(frozen=True)
class CsvDecoder(MessageDecoder):
    """Decode messages of one CSV line."""

    lines: CsvReader

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with the messages that they are from.

        Raises:
            DecodingError: A message cannot be read.
        """
        reader = self.lines
        parser = CsvParser(reader.dialect)
        types, values = reader.parsed_columns()
        rows: list[list[Any]] = []
        origins: list[int] = []
        for index, message in enumerate(messages):
            try:
                text = text_of(message, "replace")
                for _, _, fields in parser.records(text, 0):
                    rows.append(values(fields))
                    origins.append(index)
                    break
            except (CsvSyntaxError, ValueError) as error:
                if not reader.dialect.ignore_errors:
                    reason = getattr(error, "reason", str(error))
                    raise DecodingError(index, reason, "csv.ignore-parse-errors") from None
                SKIPPED.get()(1)
        return DecodedMessages(batch_of_rows(rows, reader.columns, types), origins)


def _malformed(lines: LineNumbers, text: str, begin: int, reason: str) -> MalformedRecordError:
    line_end = text.find("\n", begin)
    line = text[begin:] if line_end < 0 else text[begin:line_end]
    error = MalformedRecordError(lines.path, lines.of(text, begin), line.rstrip("\r"), reason)
    return error.with_hint("'csv.ignore-parse-errors' = 'true' makes NULL of what cannot be read")


if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class CsvEncoder(MessageEncoder):
    """Encode rows as CSV lines.

    Attributes:
        dialect: The syntax, with the columns of the rows.
    """

    dialect: CsvDialect

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the line of each row, without its end."""
        return [line.encode() for line in CsvLines(self.dialect).of_columns(map(to_values, batch.columns))]
