"""The types that columns of files do not have: symbols of functions' syntax, semi-structured and opaque values."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Final

from scurry.sql.types.logical_type import AtomicType, DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowField, RowType

#: Prefix of the class names of Flink's tuples; the number of fields follows.
TUPLE_CLASS: Final = "org.apache.flink.api.java.tuple.Tuple"


class SymbolType(AtomicType):
    """Keywords among the arguments of a function, as DAY in `FLOOR(x TO DAY)`; the value is the word in upper case."""

    def __init__(self) -> None:
        """Create the type."""
        super().__init__(False)


class VariantType(AtomicType):
    """Semi-structured values, the results of PARSE_JSON."""


class BitmapType(AtomicType):
    """Sets of whole numbers of 32 bits."""


class RawType(AtomicType):
    """Values only their serializer understands."""

    def __init__(self, class_name: str, serializer: str = "...", nullable: bool = True) -> None:
        """Create the type.

        Args:
            class_name: The class of the values.
            serializer: Snapshot of the serializer.
            nullable: Whether values may be None.
        """
        super().__init__(nullable)
        self.class_name = class_name
        self.serializer = serializer

    def _parameters(self) -> tuple[Any, ...]:
        return (self.class_name, self.serializer)

    def _summary(self) -> str:
        return f"RAW('{self.class_name}', '...')"


class StructuredType(RowType):
    """Objects of a class with named attributes: rows that know their class."""

    def __init__(self, class_name: str, fields: Sequence[RowField], nullable: bool = True) -> None:
        """Create the type.

        Args:
            class_name: The class.
            fields: The attributes, in order.
            nullable: Whether values may be None.
        """
        super().__init__(fields, nullable)
        self.class_name = class_name

    @property
    def is_tuple(self) -> bool:
        """Return whether the objects are tuples."""
        return self.class_name.startswith(TUPLE_CLASS)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.class_name, tuple(self.fields))

    def _summary(self) -> str:
        shown = ", ".join(field.as_summary_string() for field in self.fields)
        return f"STRUCTURED<'{self.class_name}', {shown}>"


class UserDefinedType(DataType):
    """A type of a user's own objects: columns have the SQL type that the objects are converted to.

    A subclass says which type that is, and how to convert.
    """

    @classmethod
    def type_name(cls) -> str:
        """Return the class's name in lower case."""
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls) -> DataType:
        """Return the SQL type of the columns."""
        raise NotImplementedError(f"{cls.__name__} must implement sql_type().")

    @classmethod
    def module(cls) -> str:
        """Return the name of the class's module."""
        raise NotImplementedError(f"{cls.__name__} must implement module().")

    @classmethod
    def java_udt(cls) -> str:
        """Return the name of a Java class for the same objects: none."""
        return ""

    def serialize(self, obj: Any) -> Any:
        """Return an object as a value of the SQL type.

        Args:
            obj: The object; never None.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement serialize().")

    def deserialize(self, datum: Any) -> Any:
        """Return the object of a value of the SQL type.

        Args:
            datum: The value; never None.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement deserialize().")

    def _summary(self) -> str:
        return self.sql_type()._summary()


def without_user_types(data_type: DataType) -> DataType:
    """Return a type with SQL types in place of user-defined ones, also within arrays, maps, bags and rows."""
    if isinstance(data_type, UserDefinedType):
        return without_user_types(data_type.sql_type())
    changed = copy(data_type)
    if isinstance(changed, ArrayType | MultisetType):
        changed.element_type = without_user_types(changed.element_type)
    elif isinstance(changed, MapType):
        changed.key_type, changed.value_type = map(without_user_types, (changed.key_type, changed.value_type))
    elif isinstance(changed, RowType):
        changed.fields = [RowField(each.name, without_user_types(each.data_type), each.description) for each in changed]
    return changed
