"""CsvFormat: reads CSV files as rows, through pyarrow where it agrees with Flink's reader, else field by field.

pyarrow parses a block of lines several times faster than `CsvParser`, but tolerates other errors. It therefore gets
only blocks that both read alike. A block that it rejects is parsed by `CsvParser`, which reads it or reports the error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.common.types import Row
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.columnar import missing_column
from scurry.connectors.files.formats.csv.arrow_columns import ArrowCsvColumns
from scurry.connectors.files.formats.csv.parser import CsvParser, CsvSyntaxError
from scurry.connectors.files.formats.csv.schema import CsvDialect
from scurry.connectors.files.formats.ranges import BLOCK_BYTES, LineNumbers, compressed, open_text, owned_blocks
from scurry.connectors.files.formats.rows import ColumnRows
from scurry.connectors.files.formats.stream import StreamFormat
from scurry.connectors.source import MAX_RECORD_BYTES, NOTE_ONCE, Block, MalformedRecords
from scurry.errors import MalformedRecordError

#: For each declared column its position in the file, None without; None if they are alike.
Places = tuple[int | None, ...] | None

_HEAD_BYTES = 64 * 1024
_CHUNK_ROWS = 4096

#: Least bytes that are read to find the end of a record that does not end in a range.
_MORE_BYTES = 256


class CsvFormat(StreamFormat):
    """Read CSV text in UTF-8 as rows with named fields, like Flink's CsvReaderFormat.

    - Every line must have all columns; one empty field after the last is tolerated.
    - A blank line is an error unless there is one column or comments are allowed.
    - Numbers may be surrounded by blanks; an empty field is an empty string, but not a number.
    - DECIMALs are rounded half up; a boolean is true if the text is "true", and false otherwise.

    A file is cut between two micro-batches where a record ends: outside of quotes. Splits (`FileSplits`) are not, and a
    record that such a cut divides fails the job.
    """

    def __init__(self, dialect: CsvDialect) -> None:
        self.dialect = dialect

    @property
    def cut_anywhere(self) -> bool:
        """False: there may be quoted line breaks."""
        return False

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return self.dialect.row_type

    def splittable(self, path: str) -> bool:
        """Return whether the file is not compressed."""
        return not compressed(path)

    def end_of_records(self, fs: FileSystem, path: str, start: int, end: int) -> int:
        """Return the end of the last line in a byte range that is not inside quotes."""
        quotes = CsvQuotes(self.dialect)
        file, recoded = open_text(fs, path)
        with file:
            if recoded:
                return sys.maxsize
            position = found = file.seek(start)
            rest = b""
            while (position < end or found == start) and len(rest) < MAX_RECORD_BYTES.get():
                block = file.read(min(BLOCK_BYTES, end - position) if position < end else max(len(rest), _MORE_BYTES))
                if not block:
                    return max(position, end)
                position += len(block)
                rest += block
                whole = quotes.whole_records(rest)
                found, rest = found + whole, rest[whole:]
        return found if found > start else position

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        """Yield blocks of rows."""
        dialect, quotes, parser = self.dialect, CsvQuotes(self.dialect), CsvParser(self.dialect)
        names, prelude = dialect.names, self._prelude(fs, path, parser)
        places: Places = None
        if dialect.by_name and parser.header is not None:
            try:
                dialect, places = dialect.arranged(parser.header)
            except ValueError as error:
                header = dialect.separator.join(parser.header)
                raise MalformedRecordError(path, 1, header, str(error)) from None
            for name, place in zip(names, places, strict=True):
                if place is None:
                    NOTE_ONCE.get()(missing_column(name, parser.header))
            parser = CsvParser(dialect)
        fast = ArrowCsvColumns(dialect, dialect.names) if ArrowCsvColumns.understands(dialect, dialect.names) else None
        file, recoded = open_text(fs, path)
        with file:
            if recoded and start:
                return
            end = sys.maxsize if recoded else end
            for offset, block in owned_blocks(file, path, start, end, cut=quotes.whole_records):
                skip = min(max(0, prelude - offset), len(block))
                data = block[skip:] if skip else block
                if not data:
                    continue
                columns = fast.read(data) if fast is not None and quotes.regular(data) else None
                if columns is not None:
                    yield ColumnRows(_columns_at(columns, places), names)
                    continue
                at_cut = end < size and offset + len(block) >= end
                yield from self._parsed(parser, bytes(data), LineNumbers(fs, path, offset + skip), at_cut, places)

    def _parsed(
        self, parser: CsvParser, data: bytes, lines: LineNumbers, at_cut: bool, places: Places
    ) -> Iterator[Block]:
        """Yield rows parsed field by field, and `MalformedRecords` for others."""
        text, names, start = data.decode("utf-8", "surrogateescape"), self.dialect.names, 0
        undecoded = not text.isascii() and not _is_utf8(data)
        while start < len(text):
            chunk: list[Row] = []
            try:
                for found in parser.rows(text, start, undecoded):
                    values = found if places is None else [None if at is None else found[at] for at in places]
                    chunk.append(Row._from_values(values, names))
                    if len(chunk) == _CHUNK_ROWS:
                        yield chunk
                        chunk = []
                start = len(text)
            except CsvSyntaxError as error:
                if chunk:
                    yield chunk
                if error.unclosed and at_cut:
                    raise _malformed(error, text, lines, at_cut) from None
                yield MalformedRecords([_malformed(error, text, lines, at_cut)])
                start = _next_record(error, text)
            else:
                if chunk:
                    yield chunk

    def _prelude(self, fs: FileSystem, path: str, parser: CsvParser) -> int:
        """Return the number of bytes before the first row of data."""
        with open_text(fs, path)[0] as file:
            head, position = b"", None
            while position is None:
                block = file.read(max(_HEAD_BYTES, len(head)))
                head += block
                # ignore a character that is cut in two at the end
                text = head.decode("utf-8", "ignore")
                try:
                    position = parser.prelude(text, complete=not block)
                except CsvSyntaxError as error:
                    raise _malformed(error, text, LineNumbers(fs, path, 0), at_cut=False) from None
        return len(text[:position].encode())


def _columns_at(columns: list[Any], places: Places) -> list[Any]:
    import pyarrow as pa

    if places is None:
        return columns
    return [pa.nulls(len(columns[0])) if place is None else columns[place] for place in places]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _malformed(error: CsvSyntaxError, text: str, lines: LineNumbers, at_cut: bool) -> MalformedRecordError:
    reason, begin = error.reason, error.position
    if error.unclosed and at_cut:
        reason += (
            " before the end of this micro-batch's share of the file, which probably cut a field with a line break "
            "in two; set scurry.batch.max-bytes to more than the file's size times the parallelism"
        )
    else:
        reason += "; correct the file or the CsvSchema"
    record = text[begin : _next_record(error, text)].rstrip("\r\n")
    shown = record.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return MalformedRecordError(lines.path, lines.of(text, begin), shown, reason)


def _next_record(error: CsvSyntaxError, text: str) -> int:
    """Return where reading continues: behind the malformed record, or behind its first line if its end is unknown."""
    if error.end is not None:
        return error.end
    return text.find("\n", error.position) + 1 or len(text)


class CsvQuotes:
    """Find whole records, and blocks whose quotes pyarrow and `CsvParser` read alike."""

    def __init__(self, dialect: CsvDialect) -> None:
        """Compile the patterns of a dialect."""
        self._quote = None if dialect.quote is None else dialect.quote.encode()
        if self._quote is None:
            return
        self._separator = dialect.separator.encode()
        self._plain = dialect.escape is None and len(self._quote) == len(self._separator) == 1
        quote, separator = re.escape(self._quote), re.escape(self._separator)
        escape = re.escape((dialect.escape or "").encode())
        inner = rb"(?:[^%b]|%b%b)*+" % (quote, quote, quote)
        if escape:
            inner = rb"(?:[^%b%b]|%b.|%b%b)*+" % (quote, escape, escape, quote, quote)
        comment = rb"(?:(?<=[\n\r])|\A)[ \t]*#[^\r\n]*|" if dialect.allow_comments else b""
        field = rb"(?:(?<=%b)|(?<=[\n\r])|\A)%b%b(?:%b|\Z)" % (separator, quote, inner, quote)
        self._token = re.compile(comment + field + rb"|\n", re.DOTALL)

    def regular(self, data: bytes | bytearray) -> bool:
        """Return whether every quote opens or closes a quoted field, or is part of a doubled quote in one."""
        if self._quote is None or self._quote not in data:
            return True
        if not self._plain:
            return False
        import numpy as np

        text = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(text == self._quote[0])
        if len(quotes) % 2:
            return False
        # Every other quote opens a field; a doubled quote counts as closing and reopening it.
        edges = np.zeros(256, bool)
        edges[[self._separator[0], 10, 13]] = True
        opening, closing = quotes[::2], quotes[1::2]
        reopens = np.zeros(len(opening) + 1, bool)
        reopens[1:-1] = opening[1:] == closing[:-1] + 1
        at_start = edges[text[opening - 1]] | (opening == 0)
        at_end = edges[text[np.minimum(closing + 1, len(text) - 1)]] | (closing == len(text) - 1)
        return bool((at_start | reopens[:-1]).all() and (at_end | reopens[1:]).all())

    def whole_records(self, data: bytes | bytearray) -> int:
        """Return the number of bytes of whole records at the beginning of a block."""
        whole = data.rfind(b"\n") + 1
        if self._quote is None or self._quote not in data or self.regular(data[:whole]):
            return whole
        whole = 0
        for token in self._token.finditer(data):
            if token[0] == b"\n":
                whole = token.end()
        return whole
