"""Types as SQL reads them back, without short forms."""

from __future__ import annotations

from scurry.sql import types
from scurry.sql.catalog.identifier import escape_identifier, escape_text


def serializable_type(data_type: types.DataType) -> str:
    """Return a type's text: `VARCHAR(2147483647)` for STRING, and so on."""
    return _nullable(data_type) + ("" if data_type.is_nullable else " NOT NULL")


def _nullable(data_type: types.DataType) -> str:
    if isinstance(data_type, types.VarCharType):
        return f"VARCHAR({data_type.length})"
    if isinstance(data_type, types.VarBinaryType):
        return f"VARBINARY({data_type.length})"
    if isinstance(data_type, types.LocalZonedTimestampType):
        return f"TIMESTAMP({data_type.precision}) WITH LOCAL TIME ZONE"
    if isinstance(data_type, types.TimestampType):
        return f"TIMESTAMP({data_type.precision})"
    if isinstance(data_type, types.ArrayType):
        return f"ARRAY<{serializable_type(data_type.element_type)}>"
    if isinstance(data_type, types.MultisetType):
        return f"MULTISET<{serializable_type(data_type.element_type)}>"
    if isinstance(data_type, types.MapType):
        return f"MAP<{serializable_type(data_type.key_type)}, {serializable_type(data_type.value_type)}>"
    if isinstance(data_type, types.RowType):
        fields = [
            f"{escape_identifier(field.name)} {serializable_type(field.data_type)}"
            + (f" {escape_text(field.description)}" if field.description not in (None, "...") else "")
            for field in data_type.fields
        ]
        return f"ROW<{', '.join(fields)}>"
    return data_type.nullable().as_summary_string()
