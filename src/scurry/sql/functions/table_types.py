"""Result types that calls have in the Table API where Flink's SQL has others.

Flink's planner infers SQL by Calcite's rules, and expressions of the Table API by those of the functions themselves.
Only types are listed that hold for every value: where Flink calls a result NOT NULL that can be NULL, its job fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from scurry.sql.functions.definition import CallSite, Signature
from scurry.sql.types import ArrayType, DataType, DoubleType, FloatType
from scurry.sql.types.families import STRING

_Result = Callable[[Sequence[DataType], DataType], DataType]


def in_tables(name: str, site: CallSite, signature: Signature) -> Signature:
    """Return the signature that a call has in the Table API.

    Args:
        signature: Its signature in SQL.
    """
    result = _RESULTS.get(name)
    if result is None:
        return signature
    return Signature(signature.argument_types, result(site.types, signature.result_type))


def _nullable_as_arguments(given: Sequence[DataType], result: DataType) -> DataType:
    return result.with_nullability(any(each.is_nullable for each in given))


def _nullable(given: Sequence[DataType], result: DataType) -> DataType:
    return result.nullable()


def _text(given: Sequence[DataType], result: DataType) -> DataType:
    return STRING.with_nullability(result.is_nullable)


def _nullable_text(given: Sequence[DataType], result: DataType) -> DataType:
    return STRING


def _nullable_with_elements(given: Sequence[DataType], result: DataType) -> DataType:
    array = given[0]
    elements = isinstance(array, ArrayType) and array.element_type.is_nullable
    return result.with_nullability(elements or any(each.is_nullable for each in given))


def _nullable_as_argument(given: Sequence[DataType], result: DataType) -> DataType:
    return result.with_nullability(given[0].is_nullable)


def _double_beside_float(given: Sequence[DataType], result: DataType) -> DataType:
    kinds = set(map(type, given))
    return DoubleType(result.is_nullable) if kinds == {FloatType, DoubleType} else result


_RESULTS: Final[Mapping[str, _Result]] = {
    **dict.fromkeys(("LEFT", "RIGHT", "SUBSTR", "SUBSTRING", "REVERSE", "FROM_UNIXTIME"), _nullable_as_arguments),
    **dict.fromkeys(("UNIX_TIMESTAMP", "ELEMENT"), _nullable),
    **dict.fromkeys(("ARRAY_APPEND", "ARRAY_PREPEND", "ARRAY_POSITION"), _nullable_with_elements),
    **dict.fromkeys(("JSON_OBJECTAGG", "JSON_ARRAYAGG"), _text),
    **dict.fromkeys(("+", "-", "*", "/"), _double_beside_float),
    "ARRAY_AGG": _nullable_as_argument,
    "LISTAGG": _nullable_text,
}
