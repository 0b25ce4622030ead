"""The SQL types that are composed of others: arrays, maps, bags and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types.logical_type import DataType


class _CollectionType(DataType):
    """Any number of elements of one type."""

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        """Create the type.

        Args:
            nullable: Whether values may be None.
        """
        super().__init__(nullable)
        self.element_type = _checked(element_type, "element_type")

    def _parameters(self) -> tuple[Any, ...]:
        return (self.element_type,)

    def _summary(self) -> str:
        return f"{self.type_name()}<{self.element_type.as_summary_string()}>"


class ArrayType(_CollectionType):
    """Arrays of one element type."""


class ListViewType(DataType):
    """A list kept in state by an aggregate function."""

    def __init__(self, element_type: DataType) -> None:
        """Create the type.

        Args:
            element_type: Type of the elements.
        """
        super().__init__(False)
        self._element_type = _checked(element_type, "element_type")

    def __repr__(self) -> str:
        """Return the type with its element."""
        return f"ListViewType({self._element_type!r})"


class MapType(DataType):
    """Maps from one type to another."""

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        """Create the type.

        Args:
            key_type: Type of the keys.
            value_type: Type of the values.
            nullable: Whether values may be None.
        """
        super().__init__(nullable)
        self.key_type = _checked(key_type, "key_type")
        self.value_type = _checked(value_type, "value_type")

    def _parameters(self) -> tuple[Any, ...]:
        return (self.key_type, self.value_type)

    def _summary(self) -> str:
        return f"MAP<{self.key_type.as_summary_string()}, {self.value_type.as_summary_string()}>"


class MapViewType(DataType):
    """A map kept in state by an aggregate function."""

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        """Create the type.

        Args:
            key_type: Type of the keys.
            value_type: Type of the values.
        """
        super().__init__(False)
        self._key_type = _checked(key_type, "key_type")
        self._value_type = _checked(value_type, "value_type")

    def __repr__(self) -> str:
        """Return the type with its key and value."""
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"


class MultisetType(_CollectionType):
    """Bags: elements with how often they occur."""


class RowField:
    """A field of a row type."""

    def __init__(self, name: str, data_type: DataType, description: str | None = None) -> None:
        """Make a field.

        Args:
            name: Its name.
            data_type: Its type.
            description: A comment.
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"a field's name is a str, got {name!r}")
        self.name = name
        self.data_type = _checked(data_type, f"the type of field {name!r}")
        self.description = "..." if description is None else description

    def __repr__(self) -> str:
        """Return name, type and description."""
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self) -> str:
        """Return name and type."""
        return f"RowField({self.name}, {self.data_type})"

    def as_summary_string(self) -> str:
        """Return the field as SQL writes it, e.g. "`a` INT NOT NULL"."""
        escaped = self.name.replace("`", "``")
        return f"`{escaped}` {self.data_type.as_summary_string()}"

    def __eq__(self, other: object) -> bool:
        """Compare name, type and description."""
        return type(other) is RowField and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        """Hash the name."""
        return hash(self.name)


class RowType(DataType):
    """Rows of named fields; iterable, and indexed by name, position or slice."""

    def __init__(self, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        """Create the type.

        Args:
            fields: The fields, in order.
            nullable: Whether values may be None.
        """
        super().__init__(nullable)
        self.fields: list[RowField] = []
        self.names: list[str] = []
        for field in fields or ():
            self.add(field)

    def add(self, field: str | RowField, data_type: DataType | None = None) -> RowType:
        """Append a field to this type itself, and return it.

        Args:
            field: The field, or its name.
            data_type: The field's type, if only its name was given.

        Raises:
            ArgumentError: A name without a type.
        """
        if not isinstance(field, RowField):
            if data_type is None:
                raise ArgumentError(f"field {field!r} needs a DataType")
            field = RowField(field, data_type)
        self.fields.append(field)
        self.names.append(field.name)
        return self

    def __iter__(self) -> Iterator[RowField]:
        """Iterate over the fields."""
        return iter(self.fields)

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self.fields)

    @overload
    def __getitem__(self, key: str | int) -> RowField: ...

    @overload
    def __getitem__(self, key: slice) -> RowType: ...

    def __getitem__(self, key: str | int | slice) -> RowField | RowType:
        """Return a field by name or position, or a row type of some of the fields."""
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"no field {key!r}; the row has {self.names}")
            return self.fields[self.names.index(key)]
        return self.fields[key]

    def __repr__(self) -> str:
        """Return the fields."""
        return f"RowType({','.join(map(repr, self))})"

    def _summary(self) -> str:
        return f"ROW<{', '.join(field.as_summary_string() for field in self)}>"

    def field_names(self) -> list[str]:
        """Return the names of the fields."""
        return list(self.names)

    def field_types(self) -> list[DataType]:
        """Return the types of the fields."""
        return [field.data_type for field in self.fields]


def _checked(data_type: Any, what: str) -> DataType:
    if not isinstance(data_type, DataType):
        raise ArgumentTypeError(f"{what} must be a DataType such as DataTypes.INT(), got {data_type!r}")
    return data_type
