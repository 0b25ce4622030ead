"""SQL types of Arrow's types, and Arrow's types of SQL types, as PyFlink converts them for pandas.

Columns of tables may be of other types in Arrow: `scurry.sql.types.arrow` has those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql import types
from scurry.sql.types.arrow import arrow_type as column_type
from scurry.sql.types.arrow import sql_type, timestamp_unit

if TYPE_CHECKING:
    import pyarrow

_WITHOUT_ARROW = (types.MultisetType, types.DayTimeIntervalType, types.YearMonthIntervalType)


def from_arrow_type(arrow_type: pyarrow.DataType, nullable: bool = True) -> types.DataType:
    """Return the SQL type of a type of Arrow.

    Args:
        arrow_type: The type; zones of timestamps are dropped, and a struct has no structs as fields.
        nullable: Whether values may be None.

    Raises:
        TypeError: There is no such SQL type.
    """
    import pyarrow as pa

    is_struct = pa.types.is_struct
    if is_struct(arrow_type) and any(is_struct(field.type) for field in arrow_type):
        raise ArgumentTypeError(f"Nested RowType is not supported in conversion from Arrow: {arrow_type}")
    return sql_type(arrow_type, nullable, zones=False)


def to_arrow_type(data_type: types.DataType) -> pyarrow.DataType:
    """Return the type of Arrow of a SQL type.

    Args:
        data_type: The type; ARRAY and ROW have neither ROW nor TIMESTAMP_LTZ in them.

    Raises:
        ValueError: Arrow has no such type.
        TypeError: A field of a ROW cannot be converted.
    """
    import pyarrow as pa

    if isinstance(data_type, types.BinaryType):
        return pa.binary(data_type.length)
    if isinstance(data_type, types.TimeType):
        unit = _unit(data_type.precision)
        return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    if isinstance(data_type, types.LocalZonedTimestampType | types.TimestampType):
        return pa.timestamp(_unit(data_type.precision))
    if isinstance(data_type, types.MapType):
        return pa.map_(to_arrow_type(data_type.key_type), to_arrow_type(data_type.value_type))
    if isinstance(data_type, types.ArrayType):
        if isinstance(data_type.element_type, types.LocalZonedTimestampType | types.RowType):
            raise ArgumentError(
                f"{data_type.element_type} is not supported to be used as the element type of ArrayType."
            )
        return pa.list_(to_arrow_type(data_type.element_type))
    if isinstance(data_type, types.RowType):
        for kind in data_type.field_types():
            if isinstance(kind, types.LocalZonedTimestampType | types.RowType):
                raise ArgumentTypeError(f"{kind} is not supported to be used as the field type of RowType")
        return pa.struct(list(create_arrow_schema(data_type.field_names(), data_type.field_types())))
    if not isinstance(data_type, types.DataType) or isinstance(data_type, _WITHOUT_ARROW):
        raise ArgumentError(f"field_type {data_type} is not supported.")
    return column_type(data_type)


def create_arrow_schema(field_names: Sequence[str], field_types: Sequence[types.DataType]) -> pyarrow.Schema:
    """Return the schema of Arrow of columns.

    Args:
        field_names: Their names.
        field_types: Their types.

    Raises:
        ValueError: Arrow has no such type.
    """
    import pyarrow as pa

    pairs = zip(field_names, field_types, strict=False)
    return pa.schema([pa.field(name, to_arrow_type(kind), kind.is_nullable) for name, kind in pairs])


def _unit(precision: int) -> str:
    return "s" if precision == 0 else timestamp_unit(precision)
