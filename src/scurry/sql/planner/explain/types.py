"""Types as text, in the words of Calcite."""

from __future__ import annotations

from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan.schema import Schema
from scurry.sql.types import (
    ArrayType,
    CharType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    VarCharType,
)
from scurry.sql.types.families import is_proctime, is_rowtime

_CHARACTER_SET = ' CHARACTER SET "UTF-16LE"'


def type_text(kind: DataType, with_character_set: bool = True) -> str:
    """Return a type without its nullability.

    Args:
        with_character_set: Whether the character set of texts is shown.
    """
    if isinstance(kind, LocalZonedTimestampType):
        return f"TIMESTAMP_WITH_LOCAL_TIME_ZONE({kind.precision})"
    if isinstance(kind, TimestampType):
        return f"TIMESTAMP({kind.precision})"
    shown = f"CHAR({kind.length})" if isinstance(kind, CharType) else standard_name(kind)
    return shown + _CHARACTER_SET if with_character_set and isinstance(kind, CharType | VarCharType) else shown


def record_text(schema: Schema) -> str:
    """Return the type of rows."""
    return f"RecordType({', '.join(f'{_column_text(each.type)} {each.name}' for each in schema)})"


def _column_text(kind: DataType) -> str:
    attribute = " *ROWTIME*" if is_rowtime(kind) else " *PROCTIME*" if is_proctime(kind) else ""
    return _element_text(kind) + attribute


def _element_text(kind: DataType) -> str:
    if isinstance(kind, LocalZonedTimestampType):
        return f"TIMESTAMP_LTZ({kind.precision})"
    if isinstance(kind, RowType):
        fields = ", ".join(f"{_element_text(field.data_type)} {field.name}" for field in kind.fields)
        return f"RecordType:peek_no_expand({fields})"
    if isinstance(kind, ArrayType | MultisetType):
        return f"{_element_text(kind.element_type)} {'ARRAY' if isinstance(kind, ArrayType) else 'MULTISET'}"
    if isinstance(kind, MapType):
        return f"({_element_text(kind.key_type)}, {_element_text(kind.value_type)}) MAP"
    return type_text(kind, False)
