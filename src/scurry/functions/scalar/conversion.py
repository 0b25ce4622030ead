"""CAST and TRY_CAST."""

from __future__ import annotations

from collections.abc import Callable

from scurry.functions.casts import cast_kernel
from scurry.functions.definition import CallSite, Kernel, ScalarFunction, Signature, SignatureError
from scurry.functions.signatures import standard_name
from scurry.logical_types import DataType, NullType
from scurry.logical_types.cast_rules import supports_cast

__all__ = ["FUNCTIONS"]


def _infer(is_try: bool) -> Callable[[CallSite], Signature]:
    def infer(site: CallSite) -> Signature:
        source, target = site.types[0], site.target
        assert target is not None, "CAST has a type"
        if not supports_cast(source, target):
            raise SignatureError(
                f"Cast function cannot convert value of type {standard_name(source)} to type {standard_name(target)}"
            )
        nullable = is_try or source.is_nullable or isinstance(source, NullType)
        return Signature([source], target.with_nullability(nullable))

    return infer


def _bind(is_try: bool) -> Callable[[CallSite, DataType], Kernel]:
    def bind(site: CallSite, result_type: DataType) -> Kernel:
        cast = cast_kernel(site.types[0], result_type, site.session, is_try)
        return lambda columns, rows: cast(columns[0])

    return bind


FUNCTIONS = (
    ScalarFunction("CAST", _infer(False), _bind(False), is_standard=True),
    ScalarFunction("TRY_CAST", _infer(True), _bind(True), aliases=("SAFE_CAST",), is_standard=True),
)
