"""CAST and TRY_CAST."""

from __future__ import annotations

import math
from collections.abc import Callable

from scurry.functions.casts import cast_kernel
from scurry.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.functions.java_text import parse_double
from scurry.functions.signatures import standard_name
from scurry.logical_types import DataType, FloatType, NullType
from scurry.logical_types.cast_rules import supports_cast
from scurry.logical_types.families import CHARACTER

__all__ = ["FUNCTIONS"]


def _infer(is_try: bool) -> Callable[[CallSite], Signature]:
    def infer(site: CallSite) -> Signature:
        source, target = site.types[0], site.target
        assert target is not None, "CAST has a type"
        if not supports_cast(source, target):
            raise SignatureError(
                f"Cast function cannot convert value of type {standard_name(source)} to type {standard_name(target)}"
            )
        literal = site.arguments[0]
        if isinstance(target, FloatType) and isinstance(source, CHARACTER) and literal.is_literal and not is_try:
            _check_finite(str(literal.value))
        nullable = is_try or source.is_nullable or isinstance(source, NullType)
        return Signature([source], target.with_nullability(nullable))

    return infer


def _check_finite(text: str) -> None:
    """Refuse a FLOAT that is written in the statement, but is no number: Flink's planner cannot hold it."""
    value = parse_double(text)
    if value is not None and not math.isfinite(value):
        raise SignatureError("Infinite or NaN")


def _bind(is_try: bool) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        cast = cast_kernel(site.types[0], result_type, site.session, is_try)
        return lambda columns, rows: cast(columns[0])

    return bind


FUNCTIONS = (
    ScalarFunction("CAST", _infer(False), _bind(False), is_standard=True),
    ScalarFunction("TRY_CAST", _infer(True), _bind(True), aliases=("SAFE_CAST",), is_standard=True),
)
