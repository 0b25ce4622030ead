"""Functions of arrays and maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import CallSite, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_value
from scurry.sql.functions.operators.access import unique_pairs
from scurry.sql.functions.signatures import Infer, Result
from scurry.sql.types import (
    ArrayType,
    AtomicType,
    BooleanType,
    CharType,
    DataType,
    MapType,
    NullType,
    RowField,
    RowType,
)
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.types.common_type import find_common_type
from scurry.sql.types.families import BOOLEAN, CHARACTER, INT, INTEGER, INTERVAL, STRING


def _invalid(message: str = "Invalid input arguments.") -> SignatureError:
    return SignatureError(message)


def _array(site: CallSite, place: int = 0) -> ArrayType:
    given = site.types[place] if place < len(site.arguments) else None
    if not isinstance(given, ArrayType):
        raise _invalid()
    return given


def _with_element(result: Result, widens: bool = False) -> Infer:
    """Return the inference of a function of an array and a value that could be its element.

    Args:
        widens: Whether the array gets elements that may be NULL if the value may be.
    """

    def infer(site: CallSite) -> Signature:
        if len(site.arguments) != 2:
            raise _invalid()
        array, value = _array(site), site.types[1]
        if not supports_implicit_cast(value, array.element_type):
            raise _invalid()
        if widens and value.is_nullable:
            array = ArrayType(array.element_type.nullable())
        taken = [array, array.element_type.with_nullability(value.is_nullable)]
        return Signature(taken, result(site, taken))

    return infer


def _first(site: CallSite, types: Sequence[DataType]) -> DataType:
    return types[0]


def _of_array(result: Result, *rest: tuple[type[DataType], ...], optional: int = 0) -> Infer:
    """Return the inference of a function of an array and more arguments."""

    def infer(site: CallSite) -> Signature:
        array = _array(site)
        if not len(rest) - optional <= len(site.arguments) - 1 <= len(rest):
            raise _invalid()
        for given, wanted in zip(site.types[1:], rest, strict=False):
            if not isinstance(given, (*wanted, NullType)):
                raise _invalid()
        return Signature([array, *site.types[1:]], result(site, site.types))

    return infer


def _of_arrays(site: CallSite) -> Signature:
    """Infer a function of arrays that have a type in common."""
    arrays = [_array(site, place) for place in range(len(site.arguments))]
    shared = (
        find_common_type(arrays) if len(arrays) > 1 else arrays[0] if site.name == "ARRAY_CONCAT" and arrays else None
    )
    if shared is None:
        raise _invalid("Could not find a common type for arguments")
    return Signature([shared.with_nullability(each.is_nullable) for each in arrays], shared)


def _element(site: CallSite, types: Sequence[DataType]) -> DataType:
    element = _array(site).element_type
    if not isinstance(element, AtomicType):
        raise _invalid(f"Comparable type expected, but was '{element.as_summary_string()}'.")
    if isinstance(element, (BooleanType, *INTERVAL)):
        raise _invalid(f"Type '{element.as_summary_string()}' should support both 'EQUALS' and 'ORDER' comparison.")
    return element.nullable()


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    return (type(value) is bool, value)


def contains(array: list[Any] | None, value: Any) -> bool | None:
    """ARRAY_CONTAINS: whether an element is equal to a value, or NULL as it is."""
    return None if array is None else value in array


def position(array: list[Any], value: Any) -> int:
    """ARRAY_POSITION: where a value is first, from 1; 0 if it is not there."""
    return array.index(value) + 1 if value in array else 0


def remove(array: list[Any] | None, value: Any) -> list[Any] | None:
    """ARRAY_REMOVE: the elements that are not equal to a value."""
    return None if array is None else [each for each in array if each != value]


def append(array: list[Any] | None, value: Any) -> list[Any] | None:
    """ARRAY_APPEND: the elements and a value."""
    return None if array is None else [*array, value]


def prepend(array: list[Any] | None, value: Any) -> list[Any] | None:
    """ARRAY_PREPEND: a value and the elements."""
    return None if array is None else [value, *array]


def distinct(values: Sequence[Any]) -> list[Any]:
    """ARRAY_DISTINCT: each element once."""
    found: dict[Any, Any] = {}
    for value in values:
        found.setdefault(_hashable(value), value)
    return list(found.values())


def union(one: list[Any], other: list[Any]) -> list[Any]:
    """ARRAY_UNION: the elements of both, each once."""
    return distinct([*one, *other])


def intersect(one: list[Any], other: list[Any]) -> list[Any]:
    """ARRAY_INTERSECT: the elements that are in both, each once."""
    both = set(map(_hashable, other))
    return distinct([each for each in one if _hashable(each) in both])


def without(one: list[Any], other: list[Any]) -> list[Any]:
    """ARRAY_EXCEPT: the elements of the first array that are not in the second, each once."""
    excluded = set(map(_hashable, other))
    return distinct([each for each in one if _hashable(each) not in excluded])


def concat(*arrays: list[Any]) -> list[Any]:
    """ARRAY_CONCAT: the elements of all arrays."""
    return [each for array in arrays for each in array]


def _extreme(choose: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    def extreme(array: list[Any]) -> Any:
        known = [each for each in array if each is not None]
        return choose(known) if known else None

    return extreme


def _order(value: Any) -> Any:
    return (value != value, value) if isinstance(value, float) else value


def sort(array: list[Any], ascending: bool = True, nulls_first: bool | None = None) -> list[Any]:
    """ARRAY_SORT: the elements in order; NULLs are first, or last if the order is descending."""
    known = sorted((each for each in array if each is not None), key=_order, reverse=not ascending)
    nulls = [None] * (len(array) - len(known))
    first = ascending if nulls_first is None else nulls_first
    return nulls + known if first else known + nulls


def slice_array(array: list[Any], start: int, end: int | None = None) -> list[Any]:
    """ARRAY_SLICE: the elements from a place to another, both from 1, or from the end if they are negative."""
    size = len(array)
    first = start if start > 0 else size + start + 1 if start < 0 else 1
    last = size if end is None else end if end > 0 else size + end + 1 if end < 0 else 1
    first = max(first, 1)
    return array[first - 1 : last] if first <= last else []


def join(array: list[str | None], separator: str, null_text: str | None = None) -> str:
    """ARRAY_JOIN: the elements between separators, without NULLs or with a text in their place."""
    shown = [null_text if each is None else each for each in array]
    return separator.join(each for each in shown if each is not None)


def _infer_join(site: CallSite) -> Signature:
    array = _array(site)
    rest = site.types[1:]
    if not isinstance(array.element_type, (*CHARACTER, NullType)) or not 1 <= len(rest) <= 2:
        raise _invalid()
    if not all(isinstance(each, (*CHARACTER, NullType)) for each in rest):
        raise _invalid()
    if isinstance(array.element_type, CharType) and not array.element_type.length:
        raise _invalid("Variable character string length must be between 1 and 2147483647 (both inclusive).")
    return Signature(site.types, STRING.with_nullability(site.any_nullable))


def _infer_slice(site: CallSite) -> Signature:
    found = _of_array(_first, INTEGER, INTEGER, optional=1)(site)
    return Signature(found.argument_types, found.result_type.with_nullability(site.any_nullable))


def _map(site: CallSite) -> MapType:
    if len(site.arguments) != 1 or not isinstance(site.types[0], MapType):
        raise _invalid()
    return site.types[0]


def _of_map(result: Callable[[MapType], DataType]) -> Infer:
    def infer(site: CallSite) -> Signature:
        given = _map(site)
        return Signature(site.types, ArrayType(result(given), given.is_nullable))

    return infer


def _entry(given: MapType) -> DataType:
    return RowType([RowField("key", given.key_type), RowField("value", given.value_type)])


def _infer_map_union(site: CallSite) -> Signature:
    if not site.arguments or not all(isinstance(each, MapType | NullType) for each in site.types):
        raise _invalid("All arguments requires to be a MAP type")
    shared = find_common_type(site.types)
    if shared is None:
        raise _invalid("Could not find a common type for arguments")
    return Signature([shared.with_nullability(each.is_nullable) for each in site.types], shared)


def map_union(*maps: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """MAP_UNION: the entries of all maps; of equal keys the last."""
    return unique_pairs(pair for pairs in maps for pair in pairs)


def _infer_map_from_arrays(site: CallSite) -> Signature:
    if len(site.arguments) != 2:
        raise _invalid()
    keys, values = _array(site, 0), _array(site, 1)
    return Signature(site.types, MapType(keys.element_type, values.element_type, site.any_nullable))


def map_from_arrays(keys: list[Any], values: list[Any]) -> list[tuple[Any, Any]]:
    """MAP_FROM_ARRAYS: the map of keys and values at the same places."""
    if len(keys) != len(values):
        raise EvaluationError(
            f"Invalid function MAP_FROM_ARRAYS call: The length of the keys array {len(keys)} is not equal to the "
            f"length of the values array {len(values)}"
        )
    return list(zip(keys, values, strict=True))  # Flink keeps entries with equal keys


def _boolean_or_null(site: CallSite, types: Sequence[DataType]) -> DataType:
    return BOOLEAN.with_nullability(types[0].is_nullable)


def _int_or_null(site: CallSite, types: Sequence[DataType]) -> DataType:
    return INT.with_nullability(any(each.is_nullable for each in types))


def _sorted(site: CallSite, types: Sequence[DataType]) -> DataType:
    if isinstance(_element(site, types), BooleanType):
        raise _invalid()
    return types[0].with_nullability(any(each.is_nullable for each in types))


_FLAGS = ((BooleanType,), (BooleanType,))

FUNCTIONS = (
    ScalarFunction("ARRAY_CONTAINS", _with_element(_boolean_or_null), by_value(contains, nulls=True)),
    ScalarFunction("ARRAY_POSITION", _with_element(_int_or_null), by_value(position)),
    ScalarFunction("ARRAY_REMOVE", _with_element(_first), by_value(remove, nulls=True)),
    ScalarFunction("ARRAY_APPEND", _with_element(_first, widens=True), by_value(append, nulls=True)),
    ScalarFunction("ARRAY_PREPEND", _with_element(_first, widens=True), by_value(prepend, nulls=True)),
    ScalarFunction("ARRAY_DISTINCT", _of_array(_first), by_value(distinct)),
    ScalarFunction("ARRAY_REVERSE", _of_array(_first), by_value(lambda array: array[::-1])),
    ScalarFunction("ARRAY_MAX", _of_array(_element), by_value(_extreme(max))),
    ScalarFunction("ARRAY_MIN", _of_array(_element), by_value(_extreme(min))),
    ScalarFunction("ARRAY_SORT", _of_array(_sorted, *_FLAGS, optional=2), by_value(sort)),
    ScalarFunction("ARRAY_SLICE", _infer_slice, by_value(slice_array)),
    ScalarFunction("ARRAY_JOIN", _infer_join, by_value(join)),
    ScalarFunction("ARRAY_CONCAT", _of_arrays, by_value(concat)),
    ScalarFunction("ARRAY_UNION", _of_arrays, by_value(union)),
    ScalarFunction("ARRAY_INTERSECT", _of_arrays, by_value(intersect)),
    ScalarFunction("ARRAY_EXCEPT", _of_arrays, by_value(without)),
    ScalarFunction(
        "MAP_KEYS", _of_map(lambda given: given.key_type), by_value(lambda pairs: [key for key, _ in pairs])
    ),
    ScalarFunction(
        "MAP_VALUES", _of_map(lambda given: given.value_type), by_value(lambda pairs: [value for _, value in pairs])
    ),
    ScalarFunction("MAP_ENTRIES", _of_map(_entry), by_value(list)),
    ScalarFunction("MAP_UNION", _infer_map_union, by_value(map_union)),
    ScalarFunction("MAP_FROM_ARRAYS", _infer_map_from_arrays, by_value(map_from_arrays)),
)
