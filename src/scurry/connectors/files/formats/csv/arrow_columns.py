"""ArrowCsvColumns: reads blocks of CSV with pyarrow where that gives the same columns as field by field."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import Any

from scurry.connectors.files.formats.csv.schema import CsvDialect
from scurry.connectors.files.formats.fast_columns import ReaderMismatchError, require
from scurry.sql.types import (
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    IntType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)
from scurry.sql.types.arrow import arrow_type
from scurry.sql.values.parsing import BLANK

_INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)
_TEXTS = (CharType, VarCharType)
_DATE = r"^\d{4}-\d\d-\d\d$"
_TIMESTAMP = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$"
_BLANK_LINES = (b"\n\n", b"\n\r", b"\r\r")


class ArrowCsvColumns:
    """Read blocks of whole lines.

    Args:
        dialect: The syntax, with all columns of the file.
        columns: Names of those to read.
    """

    def __init__(self, dialect: CsvDialect, columns: Sequence[str]) -> None:
        """Prepare pyarrow's options."""
        import pyarrow as pa
        from pyarrow import csv

        self._csv, self._names = csv, list(dialect.names)
        types = {column.name: column.type for column in dialect.columns}
        self._types = [types[name] for name in columns]
        self._comments = dialect.allow_comments
        quote = dialect.quote
        self._parse = csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char=quote or False,
            double_quote=True,
            escape_char=False,
            newlines_in_values=quote is not None,
            ignore_empty_lines=False,
        )
        null = dialect.null_value
        read_as = {name: _read_as(types[name]) for name in columns}
        self._convert = csv.ConvertOptions(
            column_types={name: arrow_type(kind) if kind else pa.string() for name, kind in read_as.items()},
            include_columns=list(columns),
            null_values=[] if null is None else [null],
            strings_can_be_null=null is not None,
            quoted_strings_can_be_null=True,
        )
        edges = re.escape(f"{dialect.separator}{quote or ''}".encode())
        self._hexadecimal = re.compile(rb"(?:\A|[\r\n%b])[\x00-\x20]*[-+]?0[xX]" % edges)
        self._has_integers = any(isinstance(kind, _INTEGERS) for kind in self._types)

    @staticmethod
    def understands(dialect: CsvDialect, columns: Sequence[str]) -> bool:
        """Return whether pyarrow supports the syntax and the types."""
        types = {column.name: column.type for column in dialect.columns}
        return (
            dialect.separator.isascii()
            and dialect.separator != " "
            and (dialect.quote is None or dialect.quote.isascii())
            and dialect.escape is None
            and len(types) == len(dialect.columns)
            and len(columns) > 0
            and all(_is_fast(types[name]) for name in columns)
            # with comments CsvParser skips a blank line, which pyarrow would read as one blank field
            and (len(types) > 1 or not dialect.allow_comments)
        )

    def read(self, data: bytes | bytearray) -> list[Any] | None:
        """Return the columns of a block, or None if it has to be read field by field."""
        import pyarrow as pa

        if self._comments and b"#" in data:
            return None
        # pyarrow reads a blank line as empty texts
        if len(self._names) > 1 and (data[0] in b"\r\n" or any(blank in data for blank in _BLANK_LINES)):
            return None
        # pyarrow treats this as a byte order mark, which it is only at the beginning of the file
        if data.startswith(codecs.BOM_UTF8):
            return None
        # pyarrow reads 0x1F as a whole number; CsvParser decides whether the field is a text
        if self._has_integers and (b"0x" in data or b"0X" in data) and self._hexadecimal.search(data):
            return None
        options = self._csv.ReadOptions(
            column_names=self._names, use_threads=False, block_size=min(len(data) + 1, 2**31 - 1)
        )
        try:
            table = self._csv.read_csv(pa.py_buffer(data), options, self._parse, self._convert)
            arrays = [column.combine_chunks() for column in table.columns]
            return [_converted(array, kind) for array, kind in zip(arrays, self._types, strict=True)]
        except (pa.ArrowInvalid, pa.ArrowKeyError, ReaderMismatchError):
            return None


def _is_fast(data_type: DataType) -> bool:
    return isinstance(data_type, (*_INTEGERS, *_TEXTS, DoubleType, DecimalType, DateType, BooleanType)) or (
        isinstance(data_type, TimestampType) and data_type.precision <= 6
    )


def _read_as(data_type: DataType) -> DataType | None:
    """Return the type that pyarrow converts to itself, None for those that are read as texts first."""
    return data_type if isinstance(data_type, (*_INTEGERS, DoubleType)) else None


def _converted(array: Any, data_type: DataType) -> Any:
    import pyarrow.compute as pc

    if isinstance(data_type, (*_INTEGERS, *_TEXTS)):
        return array
    if isinstance(data_type, DoubleType):
        # pyarrow reads "inf" and "nan" in any spelling, Java only NaN and Infinity
        require(pc.is_finite(array))
        return array
    if isinstance(data_type, BooleanType):
        return pc.equal(pc.utf8_lower(pc.utf8_trim(array, BLANK)), "true")
    if isinstance(data_type, DecimalType):
        digits = data_type.precision - data_type.scale
        fraction = rf"(\.\d{{1,{data_type.scale}}})?" if data_type.scale else ""
        require(pc.match_substring_regex(array, rf"^-?\d{{1,{max(digits, 1)}}}{fraction}$"))
        return array.cast(arrow_type(data_type))
    if isinstance(data_type, DateType):
        require(pc.match_substring_regex(array, _DATE))
        return array.cast(arrow_type(data_type))
    import pyarrow as pa

    require(pc.match_substring_regex(array, _TIMESTAMP))
    # digits beyond the declared precision are cut off
    return array.cast(pa.timestamp("us")).cast(arrow_type(data_type), safe=False)
