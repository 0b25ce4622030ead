"""The types of streams as columns."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, get_type_hints

from scurry.common.typeinfo import DataclassTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from scurry.errors import ValidationError
from scurry.sql.types import DataType
from scurry.sql.values.hints import type_of_hint
from scurry.sql.values.type_information import own_value_type, represented, value_type


class StreamType(NamedTuple):
    """The records of a stream as rows.

    Attributes:
        names: Names of the columns.
        is_composite: Whether the columns are parts of the records; otherwise the record itself is the only column.
        is_row: Whether the records are Rows, which have kinds of changes.
        attributes: Names of the attributes that are the columns, for dataclasses; None for rows and tuples.
    """

    names: tuple[str, ...]
    types: tuple[DataType, ...]
    is_composite: bool
    is_row: bool = False
    attributes: tuple[str, ...] | None = None


def stream_type(type_info: TypeInformation | None) -> StreamType:
    """Return the columns that the records of a stream have, as Flink derives them.

    Args:
        type_info: The declared type of the stream; None if it has none.

    Raises:
        ValidationError: The type says nothing of the values.
    """
    type_info = represented(type_info)
    if isinstance(type_info, RowTypeInfo):
        types = tuple(map(value_type, type_info.get_field_types()))
        return StreamType(tuple(type_info.get_field_names()), types, True, is_row=True)
    if isinstance(type_info, TupleTypeInfo):
        types = tuple(own_value_type(each) for each in type_info.get_field_types())
        return StreamType(tuple(f"f{place}" for place in range(len(types))), types, True)
    if isinstance(type_info, DataclassTypeInfo):
        return _dataclass(type_info.cls)
    return StreamType(("f0",), (own_value_type(type_info),), False)


def _dataclass(cls: type) -> StreamType:
    hints = get_type_hints(cls)
    names = tuple(field.name for field in dataclasses.fields(cls))
    return StreamType(names, tuple(_hinted(cls, name, hints[name]) for name in names), True, attributes=names)


def _hinted(cls: type, name: str, hint: Any) -> DataType:
    found = type_of_hint(hint)
    if found is None:
        raise ValidationError(
            f"attribute {name!r} of {cls.__qualname__} has the type {hint!r}, which is no type of a column: map the "
            "stream to Rows with a declared type"
        )
    return found
