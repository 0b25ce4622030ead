"""Values of Cassandra as records of columns, and back."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

from scurry.common._epoch import EPOCH
from scurry.common.time import Instant
from scurry.errors import TypeMismatchError, UnsupportedError
from scurry.sql import types

Convert = Callable[[Any], Any]
_MILLISECOND = datetime.timedelta(milliseconds=1)
_SAME = (
    types.BooleanType,
    types.TinyIntType,
    types.SmallIntType,
    types.IntType,
    types.BigIntType,
    types.FloatType,
    types.DoubleType,
    types.DecimalType,
)


def check_type(kind: types.DataType, column: str) -> None:
    """Check that a column has a type that Cassandra has a value for.

    Raises:
        UnsupportedError: It has none.
    """
    if isinstance(kind, types.ArrayType):
        return check_type(kind.element_type, column)
    if isinstance(kind, types.MapType):
        check_type(kind.key_type, column)
        return check_type(kind.value_type, column)
    if not isinstance(kind, _SAME) and type(kind) not in _READERS:
        raise UnsupportedError(
            f"column '{column}' is {kind}, for which Cassandra has no type; declare a number, STRING, BOOLEAN, "
            " BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, ARRAY or MAP"
        )
    return None


def reader(kind: types.DataType) -> Convert:
    """Return the function that makes a record's value of one of the driver; None for None."""
    convert = _reader(kind)

    def read(value: Any) -> Any:
        if value is None:
            return None
        try:
            return convert(value)
        except (TypeError, ValueError, AttributeError) as error:
            raise TypeMismatchError(str(kind), value, f"{type(value).__name__} of Cassandra: {error}") from None

    return read


def _reader(kind: types.DataType) -> Convert:
    if isinstance(kind, types.ArrayType):
        element = reader(kind.element_type)
        return lambda values: [element(each) for each in values]
    if isinstance(kind, types.MapType):
        key, value = reader(kind.key_type), reader(kind.value_type)
        return lambda values: {key(k): value(v) for k, v in values.items()}
    return _READERS.get(type(kind), lambda value: value)


_READERS: dict[type[types.DataType], Convert] = {
    types.CharType: str,
    types.VarCharType: str,
    types.BinaryType: bytes,
    types.VarBinaryType: bytes,
    types.DateType: lambda value: value.date(),
    types.TimeType: lambda value: value.time(),
    types.TimestampType: lambda value: value.replace(tzinfo=None),
    types.LocalZonedTimestampType: lambda value: Instant.of_epoch_milli((value - EPOCH) // _MILLISECOND),
}


def row_reader(kinds: Sequence[types.DataType]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return the function that makes a tuple of records' values of a row."""
    readers = list(map(reader, kinds))
    return lambda row: tuple(read(value) for read, value in zip(readers, row, strict=True))
