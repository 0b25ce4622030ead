"""Values of Cassandra as records of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scurry.errors import UnsupportedError
from scurry.sql import types
from scurry.sql.values.stored import Convert, StoredValues, instant_of

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
            "BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, ARRAY or MAP"
        )
    return None


_READERS: dict[type[types.DataType], Convert] = {
    types.CharType: str,
    types.VarCharType: str,
    types.BinaryType: bytes,
    types.VarBinaryType: bytes,
    types.DateType: lambda value: value.date(),
    types.TimeType: lambda value: value.time(),
    types.TimestampType: lambda value: value.replace(tzinfo=None),
    types.LocalZonedTimestampType: instant_of,
}


reader = StoredValues("Cassandra", _READERS).reader


def row_reader(kinds: Sequence[types.DataType]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return the function that makes a tuple of records' values of a row."""
    readers = list(map(reader, kinds))
    return lambda row: tuple(read(value) for read, value in zip(readers, row, strict=True))
