"""Columns of the values of databases, which come as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.postgres.arrays import parse_array
from scurry.errors import MalformedRecordError
from scurry.sql import types
from scurry.sql.connectors.jdbc.statements import Dialect
from scurry.sql.connectors.jdbc.values import column_values
from scurry.sql.types import DataType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_values
from scurry.sql.values.parsing import parse_timestamp

if TYPE_CHECKING:
    import pyarrow as pa

_TRUE = {"t", "true", "1", "\x01"}
_FALSE = {"f", "false", "0", "\x00"}
_TEXTS = types.CharType | types.VarCharType
_WHOLE = types.TinyIntType | types.SmallIntType | types.IntType | types.BigIntType


@dataclass(frozen=True)
class ColumnReader:
    """Make columns of a type; picklable.

    Attributes:
        name: Name of the column, for messages.
        zone: The time zone in which TIMESTAMP of MySQL, a moment, is read as TIMESTAMP, which has no zone.
    """

    name: str
    type: DataType
    zone: tzinfo = UTC

    def read(self, values: Any, database_type: str, table: str) -> pa.Array:
        """Return the column of values.

        Args:
            values: Texts or bytes, None for NULL: an Arrow array or a list.

        Raises:
            MalformedRecordError: A value does not fit the type.
        """
        found = self._read(values, database_type, table)
        is_local = self.zone is not UTC and isinstance(self.type, types.TimestampType)
        return _local(found, self.zone) if is_local and database_type.startswith("timestamp") else found

    def _read(self, values: Any, database_type: str, table: str) -> pa.Array:
        import pyarrow as pa

        wanted = arrow_type(self.type)
        try:
            array = values if isinstance(values, pa.Array) else pa.array(values)
            if pa.types.is_null(array.type):
                return pa.nulls(len(array), wanted)
            quick = _quick(array, self.type, database_type)
            if quick is not None:
                return quick if quick.type == wanted else quick.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            pass  # one by one finds the value
        return self._one_by_one(values, database_type, table)

    def _one_by_one(self, values: Any, database_type: str, table: str) -> pa.Array:
        import pyarrow as pa

        listed: Sequence[Any] = values.to_pylist() if isinstance(values, pa.Array) else values
        read = _reader(self.type, database_type)
        value = None
        found = []
        try:
            for value in listed:
                found.append(None if value is None else read(value))
            return from_values(found, self.type)
        except (ValueError, TypeError, AttributeError, ArithmeticError, pa.ArrowInvalid):
            if len(found) == len(listed) > 1:  # a value that can be read, and has no place in the column
                for value in listed:
                    self._one_by_one([value], database_type, table)
            reason = f"column {self.name!r} is {self.type.as_summary_string()}, in the database {database_type}"
            raise MalformedRecordError(f"table {table}", None, repr(value), reason) from None


def _local(array: pa.Array, zone: tzinfo) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.local_timestamp(array.cast(pa.timestamp(array.type.unit, pa.lib.tzinfo_to_string(zone))))


def _quick(array: pa.Array, data_type: DataType, database_type: str) -> pa.Array | None:
    """Return a column that Arrow makes of texts, None if it makes none of this type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(array.type):
        return array if pa.types.is_binary(array.type) and isinstance(data_type, types.VarBinaryType) else None
    if isinstance(data_type, _TEXTS):
        return _as_true_and_false(array) if database_type == "boolean" else array
    if isinstance(data_type, _WHOLE):
        return array.cast(pa.int64())
    if isinstance(data_type, types.FloatType | types.DoubleType):
        return array.cast(pa.float64())
    if isinstance(data_type, types.BooleanType):
        yes = pc.is_in(array, pa.array(sorted(_TRUE)))
        known = pc.is_in(array, pa.array([*sorted(_TRUE | _FALSE), None], pa.string()))
        return pc.if_else(pc.is_valid(array), yes, None) if pc.all(known).as_py() else None
    if isinstance(data_type, types.DateType):
        return array.cast(pa.date32())
    if isinstance(data_type, types.TimestampType):
        return array.cast(pa.timestamp("us"))
    if isinstance(data_type, types.LocalZonedTimestampType):
        zoned = "with time zone" in database_type
        return (
            array.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us")) if zoned else array.cast(pa.timestamp("us"))
        )
    if isinstance(data_type, types.DecimalType):
        return array.cast(arrow_type(data_type))
    return None


def _as_true_and_false(array: pa.Array) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_in(array, pa.array(sorted(_TRUE))), "true", pc.if_else(pc.is_valid(array), "false", None))


def _reader(data_type: DataType, database_type: str) -> Callable[[Any], Any]:
    """Return the function that makes a value of a text."""
    if isinstance(data_type, types.BooleanType):
        return _boolean
    if isinstance(data_type, types.VarBinaryType | types.BinaryType):
        return _bytes
    if isinstance(data_type, types.LocalZonedTimestampType):
        unit = 1_000_000 if data_type.precision <= 3 else 1000 if data_type.precision <= 6 else 1
        return lambda value: parse_timestamp(_in_utc(value), False, True) // unit
    if isinstance(data_type, types.TimestampType):
        unit = 1_000_000 if data_type.precision <= 3 else 1000 if data_type.precision <= 6 else 1
        return lambda value: parse_timestamp(value.split("+")[0].replace("T", " "), False, False) // unit
    if isinstance(data_type, types.ArrayType):
        element = _reader(data_type.element_type, database_type.removesuffix("[]"))
        return lambda value: parse_array(value, element)
    if isinstance(data_type, _TEXTS):
        return lambda value: value.decode() if isinstance(value, bytes) else str(value)
    if isinstance(data_type, types.TimeType):
        read = column_values(data_type, Dialect("database")).read
        return lambda value: read(value.split("+")[0])
    return column_values(data_type, Dialect("database")).read


def _boolean(value: Any) -> bool:
    text = value.decode() if isinstance(value, bytes) else value.lower()
    if text.lstrip("-").isdigit():  # MySQL's BOOLEAN is a TINYINT
        return int(text) != 0
    if text not in _TRUE | _FALSE:
        raise ValueError(text)
    return text in _TRUE


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return bytes.fromhex(value[2:]) if value.startswith("\\x") else value.encode()


def _in_utc(text: str) -> str:
    """Return a text of a time in UTC as Flink has it, such as `2026-01-31 12:00:00Z`."""
    return text.replace("T", " ").replace("+00:00", "").removesuffix("+00").removesuffix("Z") + "Z"
