"""Casts of arrays, maps, bags and rows: those of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.definition import Column
from scurry.sql.types import ArrayType, DataType, MapType, MultisetType, RowType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.families import INT

Cast = Callable[[Column], Column]
CastOf = Callable[[DataType, DataType], Cast]


def nested_cast(source: Any, target: Any, cast_of: CastOf) -> Cast | None:
    """Return the cast between nested types; None if these are none.

    Args:
        target: The type they get.
        cast_of: Returns the cast between the types of parts.
    """
    kind = arrow_type(target)
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return _on_arrays(_list_cast(cast_of(source.element_type, target.element_type), kind))
    if isinstance(source, MapType) and isinstance(target, MapType):
        keys, items = cast_of(source.key_type, target.key_type), cast_of(source.value_type, target.value_type)
        return _on_arrays(_map_cast(keys, items, kind))
    if isinstance(source, MultisetType) and isinstance(target, MultisetType):
        return _on_arrays(_map_cast(cast_of(source.element_type, target.element_type), cast_of(INT, INT), kind))
    if isinstance(source, RowType) and isinstance(target, RowType):
        pairs = zip(source.fields, target.fields, strict=True)
        return _on_arrays(_row_cast([cast_of(one.data_type, other.data_type) for one, other in pairs], kind))
    return None


def _on_arrays(cast: Callable[[pa.Array], pa.Array]) -> Cast:
    return lambda column: cast(pa.repeat(column, 1))[0] if isinstance(column, pa.Scalar) else cast(column)


def _mask(array: pa.Array) -> pa.Array | None:
    return pc.is_null(array) if array.null_count else None


def _starts(array: pa.Array) -> pa.Array:
    # Offsets of a slice do not begin with 0, and a mask does not go with an offset of the buffer itself.
    return pa.array(array.offsets.to_numpy(zero_copy_only=False), pa.int32())


def _list_cast(cast: Cast, kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    def convert(array: pa.Array) -> pa.Array:
        elements = cast(array.values).cast(kind.value_type)
        return pa.ListArray.from_arrays(_starts(array), elements, kind, mask=_mask(array))

    return convert


def _map_cast(keys: Cast, items: Cast, kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    def convert(array: pa.Array) -> pa.Array:
        new_keys, new_items = keys(array.keys).cast(kind.key_type), items(array.items).cast(kind.item_type)
        return pa.MapArray.from_arrays(_starts(array), new_keys, new_items, kind, mask=_mask(array))

    return convert


def _row_cast(casts: Sequence[Cast], kind: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    def convert(array: pa.Array) -> pa.Array:
        fields = [cast(array.field(number)).cast(kind.field(number).type) for number, cast in enumerate(casts)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=pc.is_null(array))

    return convert
