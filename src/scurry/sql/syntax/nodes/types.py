"""Data types as statements write them."""

from __future__ import annotations

from scurry.sql.syntax.nodes.base import Node
from scurry.sql.syntax.nodes.expressions import Identifier
from scurry.sql.syntax.nodes.literals import IntervalQualifier
from scurry.sql.syntax.nodes.meta import field


class TypeSpec(Node):
    """A data type.

    Attributes:
        nullable: Whether NULL is one of its values: not after NOT NULL.
    """

    nullable: bool = field(default=True, kw_only=True)


class BasicTypeSpec(TypeSpec):
    """A type without parts.

    Attributes:
        name: Calcite's name of it: INTEGER, BIGINT, DECIMAL, DOUBLE, FLOAT, CHAR, VARCHAR, STRING, BINARY, VARBINARY,
            BYTES, BOOLEAN, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ, NULL, VARIANT, BITMAP, ...
        precision: Length or number of digits, if given.
        scale: Digits after the point, if given.
        time_zone: ``WITH LOCAL TIME ZONE`` of a TIME or TIMESTAMP, if given.
        charset: The character set of a character type, if given.
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    time_zone: str | None = None
    charset: str | None = None


class IntervalTypeSpec(TypeSpec):
    """``INTERVAL DAY TO SECOND``."""

    qualifier: IntervalQualifier


class NamedTypeSpec(TypeSpec):
    """A type known by a name that is no keyword; the validator says whether there is one."""

    name: Identifier


class ArrayTypeSpec(TypeSpec):
    """``ARRAY<element>`` or, as the standard has it, ``element ARRAY``."""

    element: TypeSpec
    standard: bool = False


class MultisetTypeSpec(TypeSpec):
    """``MULTISET<element>`` or, as the standard has it, ``element MULTISET``."""

    element: TypeSpec
    standard: bool = False


class MapTypeSpec(TypeSpec):
    """``MAP<key, value>``."""

    key: TypeSpec
    value: TypeSpec


class RowFieldSpec(Node):
    """A field of a row or structured type."""

    name: Identifier
    type: TypeSpec
    comment: str | None = None


class RowTypeSpec(TypeSpec):
    """``ROW<name type 'comment', ...>``, with angle brackets or parentheses."""

    fields: tuple[RowFieldSpec, ...]
    parentheses: bool = False


class StructuredTypeSpec(TypeSpec):
    """``STRUCTURED<'class', name type, ...>``."""

    class_name: str
    fields: tuple[RowFieldSpec, ...]


class RawTypeSpec(TypeSpec):
    """``RAW('class', 'snapshot of the serializer')``."""

    class_name: str
    serializer: str
