"""Checks of the row types of files of columns."""

from __future__ import annotations

from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.sql.types.atomic_types import (
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    LocalZonedTimestampType,
    NumericType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import ArrayType, MapType, RowType

_ATOMIC = (
    CharType,
    VarCharType,
    BinaryType,
    VarBinaryType,
    BooleanType,
    NumericType,
    DateType,
    TimeType,
    TimestampType,
    LocalZonedTimestampType,
)


def check_row(row_type: RowType) -> RowType:
    """Return a row type of which files have columns.

    Raises:
        ArgumentTypeError: It is not a row type.
        UnsupportedError: No file format supports one of its types.
    """
    if not isinstance(row_type, RowType):
        raise ArgumentTypeError(f"expected DataTypes.ROW([DataTypes.FIELD(name, type), ...]), got {row_type!r}")
    for part in row_type.field_types():
        _check(part)
    return row_type


def _check(data_type: DataType) -> None:
    if isinstance(data_type, ArrayType):
        _check(data_type.element_type)
    elif isinstance(data_type, MapType):
        _check(data_type.key_type)
        _check(data_type.value_type)
    elif isinstance(data_type, RowType):
        check_row(data_type)
    elif not isinstance(data_type, _ATOMIC):
        raise UnsupportedError(f"files cannot hold {data_type!r}; use another type for this column")
