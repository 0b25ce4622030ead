"""The types that columns of files do not have: symbols of functions' syntax, semi-structured and opaque values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scurry.sql.types.logical_type import AtomicType
from scurry.sql.types.nested_types import RowField, RowType

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
