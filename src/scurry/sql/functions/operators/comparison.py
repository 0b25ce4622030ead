"""Comparisons, IS NULL and IS DISTINCT FROM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from scurry.sql.functions.casts import cast_kernel
from scurry.sql.functions.definition import (
    Argument,
    CallSite,
    Column,
    EvaluationContext,
    Kernel,
    ScalarFunction,
    Signature,
    SignatureError,
)
from scurry.sql.functions.kernels import by_column, value_kernel
from scurry.sql.functions.keys import hashable
from scurry.sql.functions.signatures import ANY, Infer, always, refuse, signature, standard_name
from scurry.sql.types import ArrayType, AtomicType, BooleanType, DataType, RawType
from scurry.sql.types.common_type import find_common_type, least_restrictive
from scurry.sql.types.families import BOOLEAN, CHARACTER, DATETIME, NUMERIC, STRING, TIMESTAMP

_KERNELS: Final[dict[str, Callable[[Column, Column], Column]]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_PYTHON: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def comparable_types(left: DataType, right: DataType) -> DataType | None:
    """Return the type in which two values are compared; None if they are not comparable."""
    if isinstance(left, RawType) or isinstance(right, RawType):
        return None
    for one, other in ((left, right), (right, left)):
        if isinstance(one, CHARACTER) and isinstance(other, (BooleanType, *NUMERIC, *DATETIME)):
            return other
    if isinstance(left, DATETIME) and isinstance(right, DATETIME) and type(left) is not type(right):
        both_timestamps = isinstance(left, TIMESTAMP) and isinstance(right, TIMESTAMP)
        return find_common_type([left, right]) if both_timestamps else None
    return least_restrictive([left, right])


def _infer(operator: str) -> Infer:
    is_equality = operator in ("=", "<>")

    def infer(site: CallSite) -> Signature:
        shared = comparable_types(*site.types) if len(site.arguments) == 2 else None
        if shared is None:
            raise refuse(site, f"'<COMPARABLE_TYPE> {operator} <COMPARABLE_TYPE>'", infix=True)
        if is_equality:
            return Signature(_equated_types(site, shared), BOOLEAN.with_nullability(site.any_nullable))
        if not isinstance(shared, AtomicType):
            raise SignatureError(f"Comparable type expected, but was '{shared.as_summary_string()}'.")
        taken = [shared.with_nullability(each.is_nullable) for each in site.types]
        return Signature(taken, BOOLEAN.with_nullability(site.any_nullable))

    return infer


def _equated_types(site: CallSite, shared: DataType) -> list[DataType]:
    """Return the types in which values are tested for equality, which converts texts in ways of its own.

    Raises:
        SignatureError: A number is compared with a text, and neither is constant.
    """
    for one, other in (site.types, site.types[::-1]):
        if isinstance(one, CHARACTER) and isinstance(other, NUMERIC):
            if not any(each.is_constant_null for each in site.arguments):
                raise SignatureError(f"{_no_conversion(*site.types)} is not supported now")
            return list(site.types)
        if isinstance(one, CHARACTER) and isinstance(other, (BooleanType, *DATETIME)):
            return list(site.types)
    return [shared.with_nullability(each.is_nullable) for each in site.types]


def _no_conversion(*types: DataType) -> str:
    left, right = (standard_name(each).partition("(")[0] for each in types)
    return f"implicit type conversion between {left} and {right}"


def _bind(operator: str) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        if operator in ("=", "<>"):
            for place, (one, other) in enumerate((site.types, site.types[::-1])):
                if isinstance(one, CHARACTER) and isinstance(other, (BooleanType, *NUMERIC)):
                    return _never_equal(operator)
                if isinstance(one, CHARACTER) and isinstance(other, DATETIME):
                    compare_as = bind(_of_type(site, other), result_type)
                    return _after_cast(place, other, compare_as, site.session, result_type.is_nullable)
        compare = _KERNELS[operator]
        compare_values = _PYTHON[operator]
        if isinstance(site.types[0], ArrayType):
            # Flink compares the bits of arrays: 0.0 is not -0.0, and NaN is itself.
            by_values = value_kernel(lambda one, other: compare_values(hashable(one), hashable(other)), result_type)
        else:
            by_values = value_kernel(compare_values, result_type)

        def kernel(columns: Sequence[Column], rows: int) -> Column:
            left, right = columns
            if pa.types.is_null(left.type) or pa.types.is_null(right.type):
                return pa.scalar(None, pa.bool_())
            if pa.types.is_nested(left.type):
                return by_values(columns, rows)
            return compare(left, right)

        return kernel

    return bind


def _of_type(site: CallSite, data_type: DataType) -> CallSite:
    return replace(site, arguments=tuple(Argument(data_type) for _ in site.arguments))


def _never_equal(operator: str) -> Kernel:
    """Return the kernel for a text and a BOOLEAN, which are never equal in Flink."""
    answer = operator == "<>"

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        known = pc.and_(*map(pc.is_valid, columns))
        return pc.if_else(known, pa.scalar(answer), pa.scalar(None, pa.bool_()))

    return kernel


def _after_cast(place: int, target: DataType, compare: Kernel, session: EvaluationContext, is_nullable: bool) -> Kernel:
    """Return the kernel for a text and a point of time.

    What is no such point is NULL, unless it is constant; of arguments that are NOT NULL the answer is then FALSE.
    """
    strict, lenient = (cast_kernel(STRING, target.nullable(), session, is_try) for is_try in (False, True))

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        text = columns[place]
        converted = (strict if isinstance(text, pa.Scalar) else lenient)(text)
        found = compare([converted if number == place else each for number, each in enumerate(columns)], rows)
        return found if is_nullable else pc.fill_null(found, False)

    return kernel


def _distinct(negated: bool) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        equal = _bind("=")(site, BOOLEAN)

        def kernel(columns: Sequence[Column], rows: int) -> Column:
            left, right = columns
            same = pc.fill_null(equal(columns, rows), False)
            both = pc.and_(pc.is_null(left), pc.is_null(right))
            found = pc.or_(same, both)
            return found if negated else pc.invert(found)

        return kernel

    return bind


infer_equality = _infer("=")


def bind_equality(site: CallSite) -> Kernel:
    """Return the kernel of `=` for arguments of any types that `infer_equality` accepts."""
    shared = comparable_types(*site.types)
    if shared is None or any(isinstance(each, CHARACTER) for each in site.types):
        return _bind("=")(site, BOOLEAN)
    casts = [cast_kernel(each, shared, site.session) for each in site.types]
    equal = _bind("=")(_of_type(site, shared), BOOLEAN)
    return lambda columns, rows: equal([cast(column) for cast, column in zip(casts, columns, strict=True)], rows)


def _infer_distinct(site: CallSite) -> Signature:
    return Signature(_infer("=")(site).argument_types, BOOLEAN.not_null())


FUNCTIONS = (
    *(ScalarFunction(name, _infer(name), _bind(name)) for name in _KERNELS if name != "<>"),
    ScalarFunction("<>", _infer("<>"), _bind("<>"), aliases=("!=",)),
    ScalarFunction("IS DISTINCT FROM", _infer_distinct, _distinct(False)),
    ScalarFunction("IS NOT DISTINCT FROM", _infer_distinct, _distinct(True)),
    ScalarFunction("IS NULL", signature([ANY], always(BOOLEAN.not_null())), by_column(pc.is_null)),
    ScalarFunction("IS NOT NULL", signature([ANY], always(BOOLEAN.not_null())), by_column(pc.is_valid)),
)
