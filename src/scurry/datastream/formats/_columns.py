"""Convert SQL types to the column types of file formats."""

from __future__ import annotations

from scurry.connectors.files.formats.column_types import ColumnType
from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.sql.types.atomic_types import (
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.types.logical_type import DataType
from scurry.sql.types.nested_types import (
    ArrayType,
    MapType,
    RowType,
)

_KINDS: dict[type[DataType], str] = {
    CharType: "STRING",
    VarCharType: "STRING",
    BinaryType: "BYTES",
    VarBinaryType: "BYTES",
    BooleanType: "BOOLEAN",
    TinyIntType: "TINYINT",
    SmallIntType: "SMALLINT",
    IntType: "INT",
    BigIntType: "BIGINT",
    FloatType: "FLOAT",
    DoubleType: "DOUBLE",
    DateType: "DATE",
}


def to_column_type(data_type: DataType) -> ColumnType:
    """Return the column type of a SQL type.

    Raises:
        UnsupportedError: No file format supports it.
    """
    if isinstance(data_type, DecimalType):
        return ColumnType("DECIMAL", data_type.precision, data_type.scale)
    if isinstance(data_type, TimeType):
        return ColumnType("TIME", data_type.precision)
    if isinstance(data_type, TimestampType):
        return ColumnType("TIMESTAMP", data_type.precision)
    if isinstance(data_type, LocalZonedTimestampType):
        return ColumnType("TIMESTAMP_LTZ", data_type.precision)
    if isinstance(data_type, ArrayType):
        return ColumnType("ARRAY", parts=(to_column_type(data_type.element_type),))
    if isinstance(data_type, MapType):
        return ColumnType("MAP", parts=(to_column_type(data_type.key_type), to_column_type(data_type.value_type)))
    if isinstance(data_type, RowType):
        return ColumnType(
            "ROW", parts=tuple(map(to_column_type, data_type.field_types())), names=tuple(data_type.names)
        )
    kind = _KINDS.get(type(data_type))
    if kind is None:
        raise UnsupportedError(f"files cannot hold {data_type!r}; use another type for this column")
    return ColumnType(kind)


def to_row_column(row_type: RowType) -> ColumnType:
    """Return the column type of a row type.

    Raises:
        ArgumentTypeError: It is not a row type.
        UnsupportedError: No file format supports one of its types.
    """
    if not isinstance(row_type, RowType):
        raise ArgumentTypeError(f"expected DataTypes.ROW([DataTypes.FIELD(name, type), ...]), got {row_type!r}")
    return to_column_type(row_type)
