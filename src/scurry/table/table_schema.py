"""TableSchema: names and types of columns, as older programs ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from scurry.common._api import ApiObject
from scurry.errors import ArgumentError
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.types import DataType, RowField, RowType

__all__ = ["TableSchema"]


class TableSchema(ApiObject):
    """Names and types of columns."""

    def __init__(self, field_names: Sequence[str] | None = None, data_types: Sequence[DataType] | None = None) -> None:
        """Pair names with types.

        Raises:
            ArgumentError: There are not as many of both, or a name is given twice.
        """
        self._names, self._types = list(field_names or ()), list(data_types or ())
        if len(self._names) != len(self._types):
            raise ArgumentError(
                f"Number of field names and field data types must be equal.\nNumber of names is {len(self._names)}, "
                f"number of data types is {len(self._types)}.\nList of field names: [{', '.join(self._names)}]"
            )
        twice = [name for place, name in enumerate(self._names) if name in self._names[:place]]
        if twice:
            raise ArgumentError(f"Field names must be unique. Duplicate field: '{twice[0]}'")
        self._extras = [""] * len(self._names)
        self._rules: list[str] = []

    @classmethod
    def _of(cls, resolved: ResolvedSchema) -> TableSchema:
        """Return the schema of a table for `get_schema`, with the parts of a definition after the types."""
        schema = cls(resolved.get_column_names(), resolved.get_column_data_types())
        schema._extras = [column.extras() for column in resolved.get_columns()]
        for spec in resolved.get_watermark_specs():
            expression = spec.watermark_expression
            kind = expression.data_type.as_summary_string()
            schema._rules.append(f"WATERMARK FOR {spec.rowtime_attribute}: {kind} AS {expression.text}")
        key = resolved.get_primary_key()
        if key is not None:
            schema._rules.append(f"CONSTRAINT {key.name} PRIMARY KEY ({', '.join(key.columns)})")
        return schema

    def copy(self) -> TableSchema:
        """Return the same schema."""
        copied = TableSchema(self._names, self._types)
        copied._extras, copied._rules = list(self._extras), list(self._rules)
        return copied

    def get_field_data_types(self) -> list[DataType]:
        """Return the types."""
        return list(self._types)

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column, by position or name; None if there is no such column."""
        index = self._index(field)
        return None if index is None else self._types[index]

    def get_field_count(self) -> int:
        """Return the number of columns."""
        return len(self._names)

    def get_field_names(self) -> list[str]:
        """Return the names."""
        return list(self._names)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of a column, None if there is no such column."""
        return self._names[field_index] if 0 <= field_index < len(self._names) else None

    def to_row_data_type(self) -> RowType:
        """Return the type of rows."""
        fields = [RowField(name, kind) for name, kind in zip(self._names, self._types, strict=True)]
        return RowType(fields, nullable=False)

    def _index(self, field: int | str) -> int | None:
        if isinstance(field, str):
            return self._names.index(field) if field in self._names else None
        return field if 0 <= field < len(self._names) else None

    def __repr__(self) -> str:
        """Return the columns over several lines."""
        columns = [
            f"{name}: {kind.as_summary_string()} {extras}".rstrip()
            for name, kind, extras in zip(self._names, self._types, self._extras, strict=True)
        ]
        return "root\n" + "".join(f" |-- {line}\n" for line in (*columns, *self._rules))

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        """Compare names and types, computed columns, watermark and key."""
        return isinstance(other, TableSchema) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Hash the names."""
        return hash(tuple(self._names))

    def _parts(self) -> tuple[list[str], list[DataType], list[str], list[str]]:
        return self._names, self._types, self._extras, self._rules

    @classmethod
    def builder(cls) -> TableSchema.Builder:
        """Return a builder."""
        return TableSchema.Builder()

    class Builder(ApiObject):
        """Builds a schema column by column."""

        def __init__(self) -> None:
            """Begin without columns."""
            self._names: list[str] = []
            self._types: list[DataType] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            """Add a column."""
            self._names.append(name)
            self._types.append(data_type)
            return self

        def build(self) -> TableSchema:
            """Return the schema."""
            return TableSchema(self._names, self._types)
