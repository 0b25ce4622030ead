"""Conversion of the columns of lake tables to SQL types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scurry.connectors.files.formats.column_types import ColumnType
from scurry.errors import ArgumentError, UnsupportedError

_MICROS = 6
_KINDS = {
    "string": "STRING",
    "large_string": "STRING",
    "string_view": "STRING",
    "binary": "BYTES",
    "large_binary": "BYTES",
    "binary_view": "BYTES",
    "bool": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date32[day]": "DATE",
    "time64[us]": "TIME",
}


def row_of(schema: Any) -> ColumnType:
    """Return the row type of an Arrow schema.

    Raises:
        UnsupportedError: The type of a column is not supported in records.
    """
    parts = []
    for field in schema:
        try:
            parts.append(_column(field.type))
        except UnsupportedError as error:
            raise UnsupportedError(f"column {field.name!r} {error}") from None
    return ColumnType("ROW", parts=tuple(parts), names=tuple(schema.names))


def _column(kind: Any) -> ColumnType:
    import pyarrow as pa

    known = _KINDS.get(str(kind))
    if known is not None:
        return ColumnType(known, _MICROS if known == "TIME" else 0)
    if pa.types.is_decimal(kind):
        return ColumnType("DECIMAL", kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return ColumnType("TIMESTAMP" if kind.tz is None else "TIMESTAMP_LTZ", _MICROS)
    if pa.types.is_fixed_size_binary(kind):
        return ColumnType("BYTES")
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_list_view(kind):
        return ColumnType("ARRAY", parts=(_column(kind.value_type),))
    if pa.types.is_map(kind):
        return ColumnType("MAP", parts=(_column(kind.key_type), _column(kind.item_type)))
    if pa.types.is_struct(kind):
        return (
            row_of(list(kind))
            if not kind.num_fields
            else ColumnType(
                "ROW", parts=tuple(_column(field.type) for field in kind), names=tuple(field.name for field in kind)
            )
        )
    raise UnsupportedError(f"is {kind}, which no record can hold; leave it out with column_names(...)")


def for_lakes(column: ColumnType) -> ColumnType:
    """Return a type as lake tables store it, with times in microseconds.

    Raises:
        UnsupportedError: Lake tables do not support the type.
    """
    if column.kind == "TIME":
        raise UnsupportedError("lake tables hold no TIME here; declare a BIGINT or STRING and convert the values")
    parts = tuple(map(for_lakes, column.parts))
    return replace(column, precision=_MICROS if column.kind.startswith("TIMESTAMP") else column.precision, parts=parts)


def chosen(row: ColumnType, names: tuple[str, ...], table: str) -> ColumnType:
    """Select columns of a table's row type.

    Args:
        row: All columns.
        names: The columns to keep, in this order.
        table: The table's name for error messages.

    Raises:
        ArgumentError: The table lacks a column.
    """
    types = dict(zip(row.names, row.parts, strict=True))
    for name in names:
        if name not in types:
            raise ArgumentError(f"the {table} has no column {name!r}; it has {described(row)}")
    return ColumnType("ROW", parts=tuple(types[name] for name in names), names=names)


def described(row: ColumnType) -> str:
    """Return the columns of a row as text for error messages."""
    return ", ".join(f"{name} {_text(part)}" for name, part in zip(row.names, row.parts, strict=True))


def _text(column: ColumnType) -> str:
    if column.kind == "DECIMAL":
        return f"DECIMAL({column.precision}, {column.scale})"
    inner = described(column) if column.kind == "ROW" else ", ".join(map(_text, column.parts))
    return f"{column.kind}<{inner}>" if column.parts else column.kind
