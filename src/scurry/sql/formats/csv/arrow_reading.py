"""ArrowCsvColumns: reads blocks of CSV with pyarrow where that gives the same columns as field by field."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import Any

from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.csv.settings import CsvSettings
from scurry.sql.formats.fast_columns import NotAlikeError, require
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

_INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)
_TEXTS = (CharType, VarCharType)
_DATE = r"^\d{4}-\d\d-\d\d$"
_TIMESTAMP = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$"
_HEXADECIMAL = re.compile(rb"0[xX]")


class ArrowCsvColumns:
    """Read blocks of whole lines.

    Args:
        declared: All columns of the file.
        columns: Names of those to read.
        settings: The syntax.
    """

    def __init__(self, declared: Sequence[FormatColumn], columns: Sequence[str], settings: CsvSettings) -> None:
        """Prepare pyarrow's options."""
        import pyarrow as pa
        from pyarrow import csv

        self._csv, self._names, self._columns = csv, [column.name for column in declared], list(columns)
        types = {column.name: column.type for column in declared}
        self._types = [types[name] for name in columns]
        self._comments = settings.allow_comments
        quote = settings.quote
        self._parse = csv.ParseOptions(
            delimiter=settings.separator,
            quote_char=quote or False,
            double_quote=True,
            escape_char=False,
            newlines_in_values=quote is not None,
            ignore_empty_lines=False,
        )
        null = settings.null_literal
        read_as = {name: _read_as(types[name]) for name in columns}
        self._convert = csv.ConvertOptions(
            column_types={name: arrow_type(kind) if kind else pa.string() for name, kind in read_as.items()},
            include_columns=self._columns,
            null_values=[] if null is None else [null],
            strings_can_be_null=null is not None,
            quoted_strings_can_be_null=True,
        )
        self._has_integers = any(isinstance(kind, _INTEGERS) for kind in self._types)

    @staticmethod
    def understands(declared: Sequence[FormatColumn], columns: Sequence[str], settings: CsvSettings) -> bool:
        """Return whether pyarrow supports the syntax and the types."""
        types = {column.name: column.type for column in declared}
        return (
            settings.separator.isascii()
            and settings.separator != " "
            and (settings.quote is None or settings.quote.isascii())
            and settings.escape is None
            and len(declared) > 1
            and len(columns) > 0
            and all(_is_fast(types[name]) for name in columns)
        )

    def read(self, data: bytes | bytearray) -> list[Any] | None:
        """Return the columns of a block, or None if it has to be read field by field."""
        import pyarrow as pa

        if self._comments and b"#" in data:
            return None
        if data[:1] in (b"\n", b"\r") or b"\n\n" in data or b"\n\r" in data or b"\r\r" in data:
            return None  # blank lines, which pyarrow reads as empty texts
        if data.startswith(codecs.BOM_UTF8):
            return None
        if self._has_integers and _HEXADECIMAL.search(data):
            return None  # pyarrow reads 0x1F as a number
        options = self._csv.ReadOptions(
            column_names=self._names, use_threads=False, block_size=min(len(data) + 1, 2**31 - 1)
        )
        try:
            table = self._csv.read_csv(pa.py_buffer(data), options, self._parse, self._convert)
            arrays = [column.combine_chunks() for column in table.columns]
            return [_converted(array, kind) for array, kind in zip(arrays, self._types, strict=True)]
        except (pa.ArrowInvalid, pa.ArrowKeyError, NotAlikeError):
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
        return pc.equal(pc.utf8_lower(pc.utf8_trim_whitespace(array)), "true")
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
