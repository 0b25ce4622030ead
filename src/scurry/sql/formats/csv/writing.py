"""CsvEncoder: rows as CSV lines, byte for byte as Flink's serializer (Jackson) writes them."""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.common._java_numbers import double_text, float_text
from scurry.common._types import java_text
from scurry.connectors.files.formats.csv.schema import CsvDialect
from scurry.connectors.files.formats.csv.writer import quoting
from scurry.errors import UnsupportedError
from scurry.sql.formats.messages import MessageEncoder
from scurry.sql.formats.temporal_text import date_text, nanos_of_timestamp, time_text, timestamp_text
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
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.values import to_values

if TYPE_CHECKING:
    import pyarrow as pa

Writer = Callable[[Any], str]

_CONTEXT = decimal.Context(prec=60)


@dataclass(frozen=True)
class CsvEncoder(MessageEncoder):
    """Encode rows as CSV lines.

    Attributes:
        dialect: The syntax, with the columns of the rows.
    """

    dialect: CsvDialect

    def encode(self, batch: pa.RecordBatch) -> list[bytes]:
        """Return the line of each row, without its end."""
        quoted, null = quoting(self.dialect), self.dialect.null_value or ""
        columns = []
        for column, values in zip(self.dialect.columns, map(to_values, batch.columns), strict=True):
            text, is_text = _writer(column.type, self.dialect), _is_text(column.type)
            shown = [null if value is None else text(value) for value in values]
            columns.append([t if v is None or not is_text else quoted(t) for t, v in zip(shown, values, strict=True)])
        separator = self.dialect.separator
        return [separator.join(row).encode() for row in zip(*columns, strict=True)]


def _is_text(data_type: DataType) -> bool:
    """Return whether Jackson sees a text, which it may quote, rather than a number or a truth value."""
    return not isinstance(data_type, IntegralType | FloatType | DoubleType | DecimalType | BooleanType)


def _writer(data_type: DataType, dialect: CsvDialect) -> Writer:
    if isinstance(data_type, IntegralType):
        return str
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return simple
    if isinstance(data_type, DecimalType):
        # without trailing zeros, so 100 is 1E+2, as Jackson writes it
        form = "f" if dialect.plain_decimals else ""
        return lambda value: format(value.normalize(_CONTEXT), form) if value else "0"
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        precision = data_type.precision
        end = "Z" if isinstance(data_type, LocalZonedTimestampType) else ""
        return lambda value: timestamp_text(nanos_of_timestamp(value, precision)) + end
    null = dialect.null_value or ""
    if isinstance(data_type, ArrayType):
        element = _writer(data_type.element_type, dialect)
        return lambda values: dialect.array_separator.join(null if v is None else element(v) for v in values)
    if isinstance(data_type, RowType):
        fields = [_writer(field.data_type, dialect) for field in data_type.fields]
        return lambda values: dialect.array_separator.join(
            null if v is None else field(v) for field, v in zip(fields, values, strict=True)
        )
    raise UnsupportedError(f"format 'csv' cannot write {data_type.as_summary_string()}")


_SIMPLE: dict[type[DataType], Writer] = {
    BooleanType: java_text.boolean,
    CharType: str,
    VarCharType: str,
    FloatType: float_text,
    DoubleType: double_text,
    BinaryType: lambda value: base64.b64encode(value).decode(),
    VarBinaryType: lambda value: base64.b64encode(value).decode(),
    DateType: date_text,
    TimeType: lambda value: time_text(value * 1_000_000),
}
