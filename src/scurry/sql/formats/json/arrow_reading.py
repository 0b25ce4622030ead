"""ArrowJsonColumns: reads blocks of JSON lines as columns where that gives the same as message by message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from scurry.connectors.files.formats.fast_columns import ReaderMismatchError, require
from scurry.sql import types
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.json.line_layout import LineLayout, Lines
from scurry.sql.types.arrow import arrow_type

_DIRECT = (types.BooleanType, types.IntType, types.BigIntType, types.DoubleType, types.VarCharType)
#: blocks that have no layout, one after the other, until none is looked for
_ATTEMPTS = 3
_DATE = r"^\d{4}-\d\d-\d\d$"
_TIMESTAMP = r"^\d{4}-\d\d-\d\d%s\d\d:\d\d:\d\d(\.\d{1,6})?%s$"
#: what pyarrow's parser takes for numbers, and JSON does not
_NO_NUMBER = re.compile(rb"[\[,:][ \t]*-?(?:NaN|Inf)")
_NEWLINE, _OPENS, _CLOSES = b"\n{}"
#: one object a line, and nothing else
_LINES = re.compile(rb"(?:[ \t]*+(?:\{[^\n]*\}[ \t]*+)?\r?\n)*+(?:[ \t]*+\{[^\n]*\}[ \t]*+\r?)?")


class ArrowJsonColumns:
    """Read blocks of whole lines.

    Args:
        iso: Whether timestamps follow ISO-8601.
    """

    def __init__(self, columns: Sequence[FormatColumn], iso: bool) -> None:
        """Prepare pyarrow's options."""
        import pyarrow as pa
        from pyarrow import json

        self._json, self._columns, self._separator = json, columns, "T" if iso else " "
        fields = [
            pa.field(each.name, arrow_type(each.type) if isinstance(each.type, _DIRECT) else pa.string())
            for each in columns
        ]
        self._schema = pa.schema(fields)
        self._parse = json.ParseOptions(explicit_schema=self._schema, unexpected_field_behavior="ignore")
        self._lines = Lines()
        self._attempts = _ATTEMPTS if {*self._schema.types} <= {pa.string(), pa.int32(), pa.int64()} else 0

    @staticmethod
    def understands(columns: Sequence[FormatColumn]) -> bool:
        """Return whether pyarrow supports the types."""
        return bool(columns) and all(_is_fast(column.type) for column in columns)

    def read(self, data: bytes | bytearray) -> Any | None:
        """Return the rows of a block as a record batch, or None if it has to be read message by message."""
        import pyarrow as pa

        if not _is_utf8(data):
            return None
        try:
            columns = self._of_layout(data) or self._parsed(data)
            if columns is None:
                return None
            arrays = [self._converted(columns[column.name], column.type) for column in self._columns]
        except (pa.ArrowInvalid, pa.ArrowKeyError, ReaderMismatchError):
            return None
        return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in self._columns])

    def _of_layout(self, data: bytes | bytearray) -> dict[str, Any] | None:
        """Return the columns of lines that are alike, which takes half of the time of parsing them."""
        if not self._attempts:
            return None
        layout = LineLayout.of(data[: data.find(b"\n") + 1 or len(data)].rstrip(b"\n"))
        found = layout.read(data, self._schema, self._lines) if layout is not None else None
        self._attempts = self._attempts - 1 if found is None else _ATTEMPTS
        return found

    def _parsed(self, data: bytes | bytearray) -> dict[str, Any] | None:
        """Return the columns as pyarrow's parser reads them, None where Flink's parser would read others."""
        import pyarrow as pa

        if _contains(data, b"\\u") or _has_odd_numbers(data):
            return None
        count = _lines(data)
        if not count:
            return None
        options = self._json.ReadOptions(use_threads=False, block_size=min(len(data) + 1, 2**31 - 1))
        table = self._json.read_json(pa.BufferReader(data), options, self._parse)
        if table.num_rows != count:
            return None
        return {name: table[name].combine_chunks() for name in self._schema.names}

    def _converted(self, array: Any, data_type: types.DataType) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(data_type, types.DoubleType):
            require(pc.is_finite(array))
            if pc.any(pc.equal(array, 0.0), min_count=0).as_py():
                require(pc.not_equal(pc.divide(1.0, array), float("-inf")))
            return array
        if isinstance(data_type, _DIRECT):
            return array
        if isinstance(data_type, types.DateType):
            require(pc.match_substring_regex(array, _DATE))
            return array.cast(arrow_type(data_type))
        zone = "Z" if isinstance(data_type, types.LocalZonedTimestampType) else ""
        require(pc.match_substring_regex(array, _TIMESTAMP % (self._separator, zone)))
        if zone:
            array = pc.utf8_rtrim(array, "Z")
        # digits beyond the declared precision are cut off
        return array.cast(pa.timestamp("us")).cast(arrow_type(data_type), safe=False)


def _is_fast(data_type: types.DataType) -> bool:
    return isinstance(data_type, (*_DIRECT, types.DateType)) or (
        isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType) and data_type.precision <= 6
    )


def _contains(data: bytes | bytearray, text: bytes) -> bool:
    """Return whether data contains a text; looking for its first byte alone is ten times as quick."""
    return text[:1] in data and text in data


def _has_odd_numbers(data: bytes | bytearray) -> bool:
    return (_contains(data, b"NaN") or _contains(data, b"Inf")) and _NO_NUMBER.search(data) is not None


def _lines(data: bytes | bytearray) -> int | None:
    """Return the number of objects if each line has one and nothing else; None if a line has more or less."""
    import numpy as np

    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    if len(ends) and ends[-1] == len(text) - 1:
        ends = ends[:-1]
    # Only at the top level does an object follow another without a comma: that many objects need that many lines.
    if data.startswith(b"{") and (text[ends - 1] == _CLOSES).all() and (text[ends + 1] == _OPENS).all():
        return len(ends) + 1
    if _LINES.fullmatch(data) is None:
        return None
    return sum(1 for line in data.split(b"\n") if line.strip())


def _is_utf8(data: bytes | bytearray) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
