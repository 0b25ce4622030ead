"""CAST and TRY_CAST."""

from __future__ import annotations

import math
from collections.abc import Callable

from scurry.sql.functions.casts import cast_kernel
from scurry.sql.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.java_text import parse_double
from scurry.sql.functions.signatures import standard_name
from scurry.sql.types import DataType, FloatType, LocalZonedTimestampType, NullType, TimestampType
from scurry.sql.types.cast_rules import supports_cast
from scurry.sql.types.families import CHARACTER, NUMERIC


def _infer(is_try: bool) -> Callable[[CallSite], Signature]:
    def infer(site: CallSite) -> Signature:
        source, target = site.types[0], site.target
        assert target is not None, "CAST has a type"
        advice = _advice(source, target)
        if advice is not None:
            raise SignatureError(advice)
        if not supports_cast(source, target):
            raise SignatureError(
                f"Cast function cannot convert value of type {standard_name(source)} to type {standard_name(target)}"
            )
        literal = site.arguments[0]
        if isinstance(target, FloatType) and isinstance(source, CHARACTER) and literal.is_literal:
            _check_finite(str(literal.value))
        nullable = is_try or source.is_nullable or isinstance(source, NullType)
        return Signature([source], target.with_nullability(nullable))

    return infer


def _advice(source: DataType, target: DataType) -> str | None:
    """Return Flink's advice on casts between numbers and timestamps, None for others."""
    if isinstance(target, NUMERIC) and isinstance(source, TimestampType):
        return (
            "The cast from TIMESTAMP type to NUMERIC type is not allowed. "
            "It's recommended to use UNIX_TIMESTAMP(CAST(timestamp_col AS STRING)) instead."
        )
    if isinstance(target, NUMERIC) and isinstance(source, LocalZonedTimestampType):
        return "The cast from TIMESTAMP_LTZ type to NUMERIC type is not allowed."
    if isinstance(source, NUMERIC) and isinstance(target, TimestampType):
        return (
            "The cast from NUMERIC type to TIMESTAMP type is not allowed. It's recommended to use "
            "TO_TIMESTAMP(FROM_UNIXTIME(numeric_col)) instead, note the numeric is in seconds."
        )
    if isinstance(source, NUMERIC) and isinstance(target, LocalZonedTimestampType):
        return (
            "The cast from NUMERIC type to TIMESTAMP_LTZ type is not allowed. "
            "It's recommended to use TO_TIMESTAMP_LTZ(numeric_col, precision) instead."
        )
    return None


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
    ScalarFunction("CAST", _infer(False), _bind(False)),
    ScalarFunction("TRY_CAST", _infer(True), _bind(True), aliases=("SAFE_CAST",)),
)
