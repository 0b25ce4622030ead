"""Texts made of several: ||, CONCAT, CONCAT_WS; and ELT, one of several."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_column, by_value, refuse_bigint, value_kernel
from scurry.sql.functions.signatures import if_any_nullable, refuse, signature
from scurry.sql.types import BinaryType, CharType, DataType, NullType, VarBinaryType, VarCharType
from scurry.sql.types.atomic_types import MAX_LENGTH
from scurry.sql.types.common_type import find_common_type
from scurry.sql.types.families import BINARY, CHARACTER, INTEGER, STRING


def concat_ws(separator: str | None, *texts: str | None) -> str | None:
    """CONCAT_WS: texts joined by a separator, without those that are NULL."""
    if separator is None:
        return None
    return separator.join(text for text in texts if text is not None)


def element(index: int | None, *values: Any) -> Any:
    """ELT: the argument of a number, from 1."""
    return None if index is None else values[index - 1] if 1 <= index <= len(values) else None


def _infer_concatenation(site: CallSite) -> Signature:
    one, other = site.types
    if any(isinstance(each, NullType) for each in site.types):
        raise SignatureError("Illegal use of 'NULL'")
    nullable_result = site.any_nullable
    for fixed, varying in ((CharType, VarCharType), (BinaryType, VarBinaryType)):
        if isinstance(one, fixed | varying) and isinstance(other, fixed | varying):
            length = min(one.length + other.length, MAX_LENGTH)
            make = fixed if isinstance(one, fixed) and isinstance(other, fixed) else varying
            return Signature(site.types, make.of_length(length, nullable_result))
    raise refuse(site, "'<STRING> || <STRING>'", infix=True)


def _bind_concatenation(site: CallSite, result_type: DataType) -> Kernel:
    if isinstance(result_type, BINARY):
        return value_kernel(lambda one, other: one + other, result_type)
    return by_column(lambda one, other: pc.binary_join_element_wise(one, other, ""))(site, result_type)


def _infer_concat(site: CallSite) -> Signature:
    if not site.arguments or not all(isinstance(each, (*CHARACTER, NullType)) for each in site.types):
        raise refuse(site, "'CONCAT(<CHARACTER>, <CHARACTER>, ...)'")
    return Signature(site.types, STRING.with_nullability(site.any_nullable))


def _bind_concat(site: CallSite, result_type: DataType) -> Kernel:
    return by_column(lambda *columns: pc.binary_join_element_wise(*columns, ""))(site, result_type)


def _infer_element(site: CallSite) -> Signature:
    if len(site.arguments) < 2 or not isinstance(site.types[0], (*INTEGER, NullType)):
        raise SignatureError("Invalid input arguments.")
    first = site.arguments[0]
    if first.is_literal and first.value is not None and first.value < 0:
        raise SignatureError(f"Index must be an integer starting from '0', but was '{first.value}'.")
    values = site.types[1:]
    shared = find_common_type(values)
    if shared is None or not isinstance(shared, (*CHARACTER, *BINARY)):
        raise SignatureError("Invalid input arguments.")
    return Signature(
        [site.types[0], *(shared.with_nullability(each.is_nullable) for each in values)], shared.nullable()
    )


def _bind_element(site: CallSite, result_type: DataType) -> Kernel:
    refuse_bigint(site)
    return value_kernel(element, result_type, nulls=True)


FUNCTIONS = (
    ScalarFunction("||", _infer_concatenation, _bind_concatenation),
    ScalarFunction("CONCAT", _infer_concat, _bind_concat),
    ScalarFunction(
        "CONCAT_WS",
        signature([CHARACTER, CHARACTER], if_any_nullable(STRING), optional=1, variadic=True),
        by_value(concat_ws, nulls=True),
    ),
    ScalarFunction("ELT", _infer_element, _bind_element),
)
