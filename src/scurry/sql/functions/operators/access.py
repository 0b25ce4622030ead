"""Constructors of rows, arrays and maps, and access to their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import value_kernel
from scurry.sql.functions.signatures import Infer, refuse, refuse_call
from scurry.sql.functions.variants import variant_part
from scurry.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    IntType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    VariantType,
)
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.common_type import least_restrictive
from scurry.sql.types.families import CHARACTER, INT, INTEGER, NUMERIC


def _infer_row(site: CallSite) -> Signature:
    fields = [RowField(f"EXPR${number}", each) for number, each in enumerate(site.types)]
    return Signature(site.types, RowType(fields).not_null())


def _infer_elements(make: Callable[[DataType], DataType]) -> Infer:
    def infer(site: CallSite) -> Signature:
        if not site.arguments:
            raise SignatureError("Require at least 1 argument")
        element = least_restrictive(site.types)
        if element is None or isinstance(element, NullType):
            raise SignatureError(f"Parameters must be of the same type in {site.name}")
        taken = [element.with_nullability(each.is_nullable) for each in site.types]
        return Signature(taken, make(element).not_null())

    return infer


def _infer_map(site: CallSite) -> Signature:
    if not site.arguments:
        raise SignatureError("Map requires at least 2 arguments")
    if len(site.arguments) % 2:
        raise SignatureError("Map requires an even number of arguments")
    # Calcite gives NULL the type of the first argument.
    first = site.types[0].nullable()
    types = [first if isinstance(each, NullType) else each for each in site.types]
    key, value = least_restrictive(types[::2]), least_restrictive(types[1::2])
    if key is None or value is None or isinstance(first, NullType):
        raise SignatureError("Parameters must be of the same type")
    taken = [(value if n % 2 else key).with_nullability(each.is_nullable) for n, each in enumerate(types)]
    return Signature(taken, MapType(key, value).not_null())


def _bind_row(site: CallSite, result_type: DataType) -> Kernel:
    return value_kernel(lambda *values: values, result_type, nulls=True)


def _bind_array(site: CallSite, result_type: DataType) -> Kernel:
    return value_kernel(lambda *values: list(values), result_type, nulls=True)


def _bind_map(site: CallSite, result_type: DataType) -> Kernel:
    return value_kernel(
        lambda *values: unique_pairs(zip(values[::2], values[1::2], strict=True)), result_type, nulls=True
    )


def unique_pairs(pairs: Any) -> list[tuple[Any, Any]]:
    """Return the entries of a map: of equal keys the last value, at the place of the first."""
    found: list[tuple[Any, Any]] = []
    places: dict[Any, int] = {}
    for key, value in pairs:
        hashable = repr(key) if isinstance(key, list | tuple) else key
        place = places.setdefault(hashable, len(found))
        if place == len(found):
            found.append((key, value))
        else:
            found[place] = (found[place][0], value)
    return found


def _infer_multiset(site: CallSite) -> Signature:
    """Refuse MULTISET[...], which Flink parses, but has no plan for."""
    _infer_elements(MultisetType)(site)
    raise SignatureError("There are not enough rules to produce a node with desired properties: MULTISET[...]")


def _infer_item(site: CallSite) -> Signature:
    collection, index = site.arguments
    if isinstance(collection.type, ArrayType):
        if not isinstance(index.type, (*INTEGER, NullType)):
            raise refuse(site, "<ARRAY>[<INTEGER>]")
        if not isinstance(index.type, IntType | NullType):
            raise SignatureError("Integer expression type expected.")
        if index.is_literal and index.value is not None and index.value < 1:
            raise SignatureError(f"Array element access needs an index starting at 1 but was {index.value}.")
        element = collection.type.element_type
        return Signature([collection.type, INT.with_nullability(index.type.is_nullable)], element.nullable())
    if isinstance(collection.type, MapType):
        key = collection.type.key_type
        if least_restrictive([key, index.type]) is None:
            raise refuse(site, "<MAP>[<ANY>]")
        return Signature(
            [collection.type, key.with_nullability(index.type.is_nullable)], collection.type.value_type.nullable()
        )
    if isinstance(collection.type, RowType):
        return _infer_field(site)
    if isinstance(collection.type, VariantType):
        if not isinstance(index.type, (*INTEGER, *CHARACTER, NullType)):
            raise refuse(site, "<VARIANT>[<CHARACTER>|<INTEGER>]")
        return Signature(site.types, VariantType())
    raise refuse(site, "<ARRAY>[<INTEGER>]\n<MAP>[<ANY>]\n<ROW>[<CHARACTER>|<INTEGER>]")


def _bind_item(site: CallSite, result_type: DataType) -> Kernel:
    collection = site.types[0]
    if isinstance(collection, RowType):
        return _bind_field(site, result_type)
    if isinstance(collection, VariantType):
        return value_kernel(variant_part, result_type)
    if isinstance(collection, ArrayType):
        return _part_kernel(_element_at, collection.element_type, result_type)
    assert isinstance(collection, MapType)
    return _part_kernel(_value_of, collection.value_type, result_type)


_MISSING: Final = object()


def _part_kernel(find: Callable[[Any, Any], Any], part_type: DataType, result_type: DataType) -> Kernel:
    """Return the kernel of `collection[key]`, where `find` returns _MISSING if the part is not there."""
    absent = missing_value(part_type)

    def part(collection: Any, key: Any) -> Any:
        found = _MISSING if collection is None or key is None else find(collection, key)
        return absent if found is _MISSING else found

    by_values = value_kernel(part, result_type, nulls=True)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        # The planner of Flink knows that there is no part for a constant NULL; its code takes that for a missing part.
        if any(isinstance(column, pa.Scalar) and not column.is_valid for column in columns):
            return pa.scalar(None, arrow_type(result_type))
        return by_values(columns, rows)

    return kernel


def _element_at(values: list[Any], index: int) -> Any:
    return values[index - 1] if 1 <= index <= len(values) else _MISSING


def _value_of(pairs: list[tuple[Any, Any]], key: Any) -> Any:
    return next((value for name, value in pairs if name == key), _MISSING)


def missing_value(data_type: DataType) -> Any:
    """Return Flink's result for a missing part: its code has a default where the type has no NULL."""
    if data_type.is_nullable:
        return None
    if isinstance(data_type, BooleanType):
        return False
    if isinstance(data_type, CHARACTER):
        return ""
    if isinstance(data_type, NUMERIC) and not isinstance(data_type, DecimalType):
        return -1
    return None


def _infer_field(site: CallSite) -> Signature:
    row, index = site.arguments
    if not isinstance(row.type, RowType) or not index.is_literal:
        raise refuse_call(site)
    number = _field_number(row.type, index.value)
    found = row.type.fields[number].data_type
    return Signature(site.types, found.with_nullability(found.is_nullable or row.type.is_nullable))


def _field_number(row: RowType, index: int | str) -> int:
    if isinstance(index, int):
        if not 0 <= index < len(row.fields):
            raise SignatureError(f"Unknown field {index}: there are {len(row.fields)}, from 0")
        return index
    names = [field.name for field in row.fields]
    if index not in names:
        raise SignatureError(f"Unknown field '{index}'")
    return names.index(index)


def _bind_field(site: CallSite, result_type: DataType) -> Kernel:
    row = site.types[0]
    assert isinstance(row, RowType)
    index = _field_number(row, site.arguments[1].value)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        column = columns[0]
        if isinstance(column, pa.Scalar):
            return pc.struct_field(pa.repeat(column, 1), [index])[0]
        return pc.struct_field(column, [index])

    return kernel


def _infer_element(site: CallSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], ArrayType | MultisetType):
        raise refuse(site, "'ELEMENT(<MULTISET>)'")
    element = site.types[0].element_type
    return Signature(site.types, element.nullable() if site.any_nullable else element)


def only_element(values: list[Any]) -> Any:
    """ELEMENT: the only element of an array."""
    if len(values) > 1:
        raise EvaluationError("Array has more than one element.")
    return values[0] if values else None


def _infer_cardinality(site: CallSite) -> Signature:
    if len(site.arguments) != 1 or not isinstance(site.types[0], ArrayType | MapType | MultisetType):
        raise refuse(site, "'CARDINALITY(<MULTISET>)'\n'CARDINALITY(<ARRAY>)'\n'CARDINALITY(<MAP>)'")
    return Signature(site.types, INT.with_nullability(site.any_nullable))


FUNCTIONS = (
    ScalarFunction("ROW", _infer_row, _bind_row),
    ScalarFunction("ARRAY", _infer_elements(ArrayType), _bind_array),
    ScalarFunction("MULTISET", _infer_multiset),
    ScalarFunction("MAP", _infer_map, _bind_map),
    ScalarFunction("FIELD", _infer_field, _bind_field),
    ScalarFunction("ITEM", _infer_item, _bind_item),
    ScalarFunction("ELEMENT", _infer_element, lambda site, found: value_kernel(only_element, found)),
    ScalarFunction("CARDINALITY", _infer_cardinality, lambda site, found: value_kernel(len, found)),
)
