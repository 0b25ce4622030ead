"""CASE, COALESCE, IF, NULLIF and their like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from scurry.functions.definition import (
    CallSite,
    Column,
    LazyArgument,
    LazyKernel,
    ScalarFunction,
    Signature,
    SignatureError,
)
from scurry.functions.selection import mask_of, scattered
from scurry.functions.signatures import common, refuse_call
from scurry.logical_types import BooleanType, CharType, DataType, NullType, VarCharType
from scurry.logical_types.arrow import arrow_type
from scurry.logical_types.common_type import least_restrictive
from scurry.logical_types.families import BOOLEAN, STRING

__all__ = ["FUNCTIONS"]


def _infer_case(site: CallSite) -> Signature:
    """Take condition, result, condition, result, ..., and the result where no condition holds."""
    conditions, results = site.types[:-1:2], [*site.types[1:-1:2], site.types[-1]]
    if not all(isinstance(each, BooleanType | NullType) for each in conditions):
        raise SignatureError("Expected a boolean type")
    shared = least_restrictive(results)
    if shared is None or isinstance(shared, NullType):
        raise SignatureError("Illegal mixing of types in CASE or COALESCE statement")
    known = [each for each in results if not isinstance(each, NullType)]
    if isinstance(shared, VarCharType) and len({each.nullable() for each in known}) > 1:
        if all(isinstance(each, CharType) for each in known):
            shared = STRING.with_nullability(shared.is_nullable)
    taken: list[DataType] = []
    for number, given in enumerate(site.types):
        is_condition = number % 2 == 0 and number < len(site.types) - 1
        taken.append((BOOLEAN if is_condition else shared).with_nullability(given.is_nullable))
    return Signature(taken, shared)


def _bind_case(site: CallSite, result_type: DataType) -> LazyKernel:
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


def _of(argument: LazyArgument, mask: np.ndarray) -> Column:
    return argument() if mask.all() else argument(mask)


def _infer_coalesce(site: CallSite) -> Signature:
    found = common()(site)
    nullable = all(each.is_nullable for each in site.types)
    return Signature(found.argument_types, found.result_type.with_nullability(nullable))


def _bind_coalesce(site: CallSite, result_type: DataType) -> LazyKernel:
    kind = arrow_type(result_type)

    def kernel(arguments: Sequence[LazyArgument], rows: int) -> Column:
        missing = np.ones(rows, np.bool_)
        parts = []
        for argument in arguments:
            column = _of(argument, missing)
            valid = mask_of(pc.is_valid(column), int(missing.sum()))
            here = np.zeros(rows, np.bool_)
            here[missing] = valid
            if here.any():
                whole = valid.all() or not hasattr(column, "filter")
                parts.append((here, column if whole else column.filter(valid)))
            missing &= ~here
            if not missing.any():
                break
        return scattered(parts, rows, kind)

    return kernel


def _infer_if(site: CallSite) -> Signature:
    if len(site.arguments) != 3 or not isinstance(site.types[0], BooleanType | NullType):
        raise refuse_call(site)
    found = common(first=1)(site)
    results = found.argument_types[1:]
    nullable = any(each.is_nullable for each in results)
    return Signature(
        [BOOLEAN.with_nullability(site.types[0].is_nullable), *results], found.result_type.with_nullability(nullable)
    )


FUNCTIONS = (
    ScalarFunction("CASE", _infer_case, bind_lazily=_bind_case, is_standard=True),
    ScalarFunction("COALESCE", _infer_coalesce, bind_lazily=_bind_coalesce),
    ScalarFunction("IF", _infer_if, bind_lazily=_bind_case),
    ScalarFunction("IFNULL", _infer_coalesce, bind_lazily=_bind_coalesce),
)
