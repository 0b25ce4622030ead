"""CsvParser: reads CSV text field by field, exactly like Flink's reader (Jackson).

It is the reference and reports the place of an error; `format` reads the common cases faster.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from scurry.connectors.files.formats.csv.schema import CsvDialect

#: bytes that are not UTF-8, decoded with "surrogateescape"
_UNDECODED = re.compile("[\udc80-\udcff]")
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
#: rule for an empty field that is no value
_EMPTY = '; set_null_value("") reads empty fields as None'


class CsvSyntaxError(Exception):
    """A record that cannot be read.

    Attributes:
        position: Start of the record in the text.
        reason: Why it cannot be read.
        end: Start of the next record, None if that is unknown.
        unclosed: Whether only its end is missing.
    """

    def __init__(self, position: int, reason: str, end: int | None = None, unclosed: bool = False) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason
        self.end = end
        self.unclosed = unclosed


class CsvParser:
    """Split text into fields and convert them.

    Attributes:
        header: The names in the header of the file, once `prelude` has found it.
    """

    def __init__(self, dialect: CsvDialect) -> None:
        """Compile the patterns of a dialect."""
        self._dialect = dialect
        self.header: list[str] | None = None
        self._escape, self._doubled = dialect.escape or "", (dialect.quote or "") * 2
        separator, escape, quote = re.escape(dialect.separator), re.escape(self._escape), re.escape(dialect.quote or "")
        escaped = f"|{escape}." if escape else ""
        plain = rf"((?:[^{separator}\r\n{escape}]++{escaped})*+)"
        end = rf"({separator}|\r\n|\n|\r|\Z)"
        if quote:
            inner = rf"{quote}((?:[^{quote}{escape}]++{escaped}|{quote}{quote})*+)"
            blanks = "[ ]*" if dialect.separator == "\t" else "[ \t]*"
            fields = rf"(?:{inner}{quote}{blanks}|(?!{quote}){plain})"
        else:
            inner = "(?!)()"  # matches nothing
            fields = rf"(?:{inner}|{plain})"
        # groups: the content of a quoted field, a plain field, its end
        self._field = re.compile(fields + end, re.DOTALL)
        self._opened = re.compile(rf"{inner}\Z", re.DOTALL)
        self._escaped = re.compile(rf"{escape}(.)", re.DOTALL) if escape else None
        self._skipped = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")

    @functools.cached_property
    def _parsers(self) -> list[Callable[[str], Any]]:
        """The functions of the columns, which only `rows` needs: tables convert the fields of `records` themselves."""
        return [column.parser(self._dialect) for column in self._dialect.columns]

    def rows(self, text: str, start: int = 0, undecoded: bool = False) -> Iterator[list[Any]]:
        """Yield the values of each record.

        Args:
            text: The text.
            start: Start of the first record.
            undecoded: Whether the text may contain surrogates for bytes that are not UTF-8.

        Raises:
            CsvSyntaxError: A record does not conform to the dialect.
        """
        parsers = self._parsers
        width = len(parsers)
        for position, end, fields in self.records(text, start):
            if undecoded and _UNDECODED.search(text, position, end):
                raise CsvSyntaxError(position, "the bytes are no UTF-8; convert the file", end)
            count = len(fields)
            if count != width:
                if count > width and self._dialect.any_property is not None:
                    self._fold(fields)
                elif count == width + 1 and not fields[-1]:
                    fields.pop()  # a separator at the end of the line
                else:
                    raise CsvSyntaxError(position, f"{width} columns are declared but the line has {count}", end)
            try:
                yield [parse(field) for parse, field in zip(parsers, fields, strict=True)]
            except ValueError:
                raise CsvSyntaxError(position, self._which_column(fields), end) from None

    def _fold(self, fields: list[str]) -> None:
        """Keep the fields of the columns; the last extra field becomes the value of the column `any_property`."""
        width, last = len(self._parsers), fields[-1]
        del fields[width:]
        if self._dialect.any_property in self._dialect.names:
            fields[self._dialect.names.index(self._dialect.any_property)] = last

    def _which_column(self, fields: list[str]) -> str:
        for column, parse, field in zip(self._dialect.columns, self._parsers, fields, strict=True):
            try:
                parse(field)
            except ValueError as error:
                empty = not field.strip() and self._dialect.null_value is None
                return f"column {column.name!r}: {error}{_EMPTY if empty else ''}"
        raise AssertionError("a column failed and then did not")

    def records(self, text: str, start: int = 0) -> Iterator[tuple[int, int, list[str]]]:
        """Yield the beginning, the end and the fields (as text) of each record."""
        match, separator, length = self._field.match, self._dialect.separator, len(text)
        comment = self._skipped.match if self._dialect.allow_comments else None
        position = start
        while position < length:
            if comment is not None and (skipped := comment(text, position)):
                position = skipped.end()
                continue
            begin, end, fields = position, separator, []
            while end == separator:
                found = match(text, position)
                if found is None:
                    raise self._syntax_error(text, begin, position)
                quoted, plain, end = found.groups()
                fields.append(self._unescape(plain, False) if quoted is None else self._unescape(quoted, True))
                position = found.end()
            yield begin, position, fields

    def _unescape(self, text: str, quoted: bool) -> str:
        if quoted and self._doubled in text:
            text = text.replace(self._doubled, self._doubled[0])
        if self._escaped is not None and self._escape in text:
            text = self._escaped.sub(lambda m: _UNESCAPED.get(m[1], m[1]), text)
        return text

    def _syntax_error(self, text: str, begin: int, position: int) -> CsvSyntaxError:
        if self._opened.match(text, position):
            return CsvSyntaxError(begin, "a quoted field is not closed", unclosed=True)
        return CsvSyntaxError(begin, "a closing quote is not followed by a separator or the end of the line")

    def prelude(self, text: str, complete: bool) -> int | None:
        """Return the position of the data, after the byte order mark, the header and the skipped row.

        Args:
            text: The beginning of a file.
            complete: Whether `text` is the whole file.

        Returns:
            The position, or None if it is beyond the end of `text`.

        Raises:
            CsvSyntaxError: The header is strict and does not name the columns.
        """
        dialect = self._dialect
        position = 1 if text.startswith("\ufeff") else 0
        skip = dialect.use_header + dialect.skip_first_row
        if not skip:
            return position
        start = position
        records = self.records(text[start:])
        for index in range(skip):
            try:
                begin, end, fields = next(records, (0, len(text) - start, None))
            except CsvSyntaxError as error:
                if error.unclosed and not complete:
                    return None
                raise
            if fields is not None and start + end == len(text) and not complete:
                return None
            if index == 0 and dialect.use_header and fields is not None:
                self.header = fields
                if dialect.strict_headers:
                    self._check_header(fields, begin)
            position = start + end
            if fields is None:
                return position if complete else None
        return position

    def _check_header(self, fields: list[str], begin: int) -> None:
        names = list(self._dialect.names)
        if fields != names:
            raise CsvSyntaxError(begin, f"the header must be {names} (strict headers), but it is {fields}")
