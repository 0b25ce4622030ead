"""CASE, COALESCE, IF, NULLIF, GREATEST and their like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.functions.definition import (
    CallSite,
    Column,
    Kernel,
    LazyArgument,
    LazyKernel,
    ScalarFunction,
    Signature,
    SignatureError,
)
from scurry.sql.functions.java_text import parse_double
from scurry.sql.functions.kernels import value_kernel
from scurry.sql.functions.operators.comparison import bind_equality, infer_equality
from scurry.sql.functions.operators.logic import mask_of, scattered
from scurry.sql.functions.signatures import common, refuse, refuse_number
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.cast_rules import supports_implicit_cast
from scurry.sql.types.common_type import find_common_type, least_restrictive
from scurry.sql.types.families import BINARY, BOOLEAN, CHARACTER, COLLECTION, DATETIME, NUMERIC, TIMESTAMP
from scurry.sql.types.logical_type import AtomicType

Mask = np.ndarray[Any, np.dtype[np.bool_]]


def _infer_case(site: CallSite) -> Signature:
    """Infer the type of CASE from condition, result, condition, result, ..., and the result of ELSE."""
    conditions, results = site.types[:-1:2], [*site.types[1:-1:2], site.types[-1]]
    if not all(isinstance(each, types.BooleanType | types.NullType) for each in conditions):
        raise SignatureError("Expected a boolean type")
    shared = least_restrictive(results)
    if shared is None or isinstance(shared, types.NullType) or not _same_kinds(results):
        raise SignatureError("Illegal mixing of types in CASE or COALESCE statement")
    taken: list[types.DataType] = []
    for number, given in enumerate(site.types):
        is_condition = number % 2 == 0 and number < len(site.types) - 1
        taken.append((BOOLEAN if is_condition else shared).with_nullability(given.is_nullable))
    return Signature(taken, shared)


def _same_kinds(results: Sequence[types.DataType]) -> bool:
    """Return whether no result is a number and another one not, and no DATE meets a TIMESTAMP."""
    kinds = {
        "number"
        if isinstance(each, NUMERIC)
        else "text"
        if isinstance(each, CHARACTER)
        else "timestamp"
        if isinstance(each, TIMESTAMP)
        else each.type_name()
        for each in results
        if not isinstance(each, (types.NullType, *BINARY))
    }
    return len(kinds) <= 1


def _bind_case(site: CallSite, result_type: types.DataType) -> LazyKernel:
    kind = arrow_type(result_type)

    def kernel(arguments: Sequence[LazyArgument], rows: int) -> Column:
        undecided = np.ones(rows, np.bool_)
        parts = []
        for number in range(0, len(arguments) - 1, 2):
            if not undecided.any():
                break
            holds = np.zeros(rows, np.bool_)
            holds[undecided] = mask_of(_of(arguments[number], undecided), int(undecided.sum()))
            if holds.any():
                parts.append((holds, _of(arguments[number + 1], holds)))
            undecided &= ~holds
        if undecided.any():
            parts.append((undecided, _of(arguments[-1], undecided)))
        return scattered(parts, rows, kind)

    return kernel


def _of(argument: LazyArgument, mask: Mask) -> Column:
    return argument() if mask.all() else argument(mask)


def _infer_coalesce(site: CallSite) -> Signature:
    found = common()(site)
    nullable = all(each.is_nullable for each in site.types)
    return Signature(found.argument_types, found.result_type.with_nullability(nullable))


def _infer_if_null(site: CallSite) -> Signature:
    """Infer the type of the first argument if the second one can be converted to it, else their common type."""
    if len(site.arguments) != 2:
        raise refuse_number(site)
    first, second = site.types
    nullable = first.is_nullable and second.is_nullable
    if isinstance(first, types.NullType):
        return Signature([second, second], second)
    is_narrow = isinstance(first, types.DecimalType) and isinstance(second, NUMERIC)
    keeps_first = supports_implicit_cast(second, first) and not is_narrow
    shared = first if keeps_first else least_restrictive([first, second])
    if isinstance(first, DATETIME) and isinstance(second, DATETIME):
        shared = find_common_type([first, second])
    if shared is None:
        raise SignatureError("Invalid input arguments.")
    taken = [shared.with_nullability(each.is_nullable) for each in site.types]
    return Signature(taken, shared.with_nullability(nullable))


def _bind_coalesce(site: CallSite, result_type: types.DataType) -> LazyKernel:
    kind = arrow_type(result_type)
    # Flink's planner drops the arguments after a value that is never NULL; those before it are computed.
    needed = 1 + next((n for n, each in enumerate(site.types) if not each.is_nullable), len(site.types))
    return _bind_first_value(kind, needed)


def _bind_first_value(kind: pa.DataType, needed: int) -> LazyKernel:
    def kernel(arguments: Sequence[LazyArgument], rows: int) -> Column:
        missing = np.ones(rows, np.bool_)
        parts = []
        for column in [argument() for argument in arguments[:needed]]:
            valid = mask_of(column.is_valid() if isinstance(column, pa.Array) else pc.is_valid(column), rows)
            here = missing & valid
            if here.any():
                chosen = column if isinstance(column, pa.Scalar) else column.filter(pa.array(here))
                parts.append((here, chosen))
            missing &= ~here
        return scattered(parts, rows, kind)

    return kernel


def _bind_if_null(site: CallSite, result_type: types.DataType) -> LazyKernel:
    return _bind_first_value(arrow_type(result_type), 2)


def _infer_if(site: CallSite) -> Signature:
    if len(site.arguments) != 3 or not isinstance(site.types[0], types.BooleanType | types.NullType):
        raise refuse(site, "'IF(BOOLEAN, NUMERIC, NUMERIC)'")
    results = site.types[1:]
    if any(isinstance(each, types.NullType) for each in results):
        raise SignatureError("Illegal use of 'NULL'")
    shared = least_restrictive(results)
    if isinstance(results[0], DATETIME):
        shared = results[0] if _same_kinds(results) else None
    if shared is None or isinstance(shared, COLLECTION) or not isinstance(shared, AtomicType):
        raise refuse(site, "'IF(BOOLEAN, NUMERIC, NUMERIC)'")
    condition = BOOLEAN.with_nullability(site.types[0].is_nullable)
    taken = [condition, *(shared.with_nullability(each.is_nullable) for each in results)]
    return Signature(taken, shared.with_nullability(site.any_nullable))


def _infer_null_if(site: CallSite) -> Signature:
    if len(site.arguments) != 2:
        raise refuse(site, "'NULLIF(<COMPARABLE_TYPE>, <COMPARABLE_TYPE>)'")
    if isinstance(site.types[0], types.NullType):
        raise SignatureError("ELSE clause or at least one THEN clause must be non-NULL")
    infer_equality(site)
    return Signature(site.types, site.types[0].nullable())


def _bind_null_if(site: CallSite, result_type: types.DataType) -> Kernel:
    equal = bind_equality(site)
    choose = value_kernel(lambda same, left: None if same else left, result_type, nulls=True)
    return lambda columns, rows: choose([equal(columns, rows), columns[0]], rows)


def _extreme(choose: Callable[..., Any]) -> Callable[[CallSite, types.DataType], Kernel]:
    def bind(site: CallSite, result_type: types.DataType) -> Kernel:
        if isinstance(result_type, BINARY):
            raise EvaluationError('A method named "compareTo" is not declared for BINARY')
        return value_kernel(lambda *values: choose(values, key=_order), result_type)

    return bind


def _order(value: Any) -> Any:
    # NaN is greater than any other number, and 0.0 than -0.0.
    return (value != value, value, copysign(1, value)) if isinstance(value, float) else value


def _infer_extreme(site: CallSite) -> Signature:
    if any(isinstance(each, types.NullType) for each in site.types):
        raise SignatureError("Unsupported casting from NULL")
    found = common()(site)
    if not isinstance(found.result_type, AtomicType):
        raise SignatureError(f"Comparable type expected, but was '{found.result_type.as_summary_string()}'.")
    return found


def is_alphabetic(text: str | None) -> bool:
    """IS_ALPHA: whether all characters are letters, and there are some."""
    return bool(text) and str(text).isalpha()


def is_decimal(text: str | None) -> bool:
    """IS_DECIMAL: whether it is a number."""
    return text is not None and parse_double(text) is not None


def is_digit(text: str | None) -> bool:
    """IS_DIGIT: whether all characters are digits, and there are some."""
    return bool(text) and str(text).isdecimal()


def _text_test(name: str, test: Callable[[str | None], bool], *others: type[types.DataType]) -> ScalarFunction:
    """Return a test of texts that is TRUE of some other types, too, and FALSE of all others."""

    def bind(site: CallSite, result_type: types.DataType) -> Kernel:
        if isinstance(site.types[0], CHARACTER):
            return value_kernel(test, result_type, nulls=True)
        holds = isinstance(site.types[0], others)
        return value_kernel(lambda value: holds and value is not None, result_type, nulls=True)

    def infer(site: CallSite) -> Signature:
        if len(site.arguments) != 1 or isinstance(site.types[0], (*COLLECTION, types.RowType, types.TimeType)):
            raise refuse(site, f"'{name}(<ANY>)'")
        return Signature(site.types, BOOLEAN.not_null())

    return ScalarFunction(name, infer, bind)


FUNCTIONS = (
    ScalarFunction("CASE", _infer_case, bind_lazily=_bind_case),
    ScalarFunction("COALESCE", _infer_coalesce, bind_lazily=_bind_coalesce),
    ScalarFunction("IF", _infer_if, bind_lazily=_bind_case),
    ScalarFunction("IFNULL", _infer_if_null, bind_lazily=_bind_if_null),
    ScalarFunction("NULLIF", _infer_null_if, _bind_null_if),
    ScalarFunction("GREATEST", _infer_extreme, _extreme(max)),
    ScalarFunction("LEAST", _infer_extreme, _extreme(min)),
    _text_test("IS_ALPHA", is_alphabetic),
    _text_test("IS_DECIMAL", is_decimal, types.IntegralType, types.FloatType, types.DoubleType),
    _text_test("IS_DIGIT", is_digit, types.IntegralType),
)
