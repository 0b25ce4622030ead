"""ROUND, TRUNCATE, FLOOR, CEIL, ABS and SIGN."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.functions.casts.numbers import fitted_decimal
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature, SignatureError
from scurry.sql.functions.kernels import by_column, refuse_bigint, value_kernel
from scurry.sql.functions.scalar.numeric import takes_numbers
from scurry.sql.functions.signatures import Infer, argument, refuse
from scurry.sql.types.arithmetic import rounded_type
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.families import APPROXIMATE, INT, INTEGER, NUMERIC

#: Type in which Flink truncates a DOUBLE.
_TRUNCATED: Final = types.DecimalType(38, 18)
#: Digits before the point that can be rounded away; a number has fewer.
_MOST_DIGITS: Final = 100_000
_CONTEXT: Final = Context(prec=400, rounding=ROUND_HALF_UP)


def _infer_rounding(site: CallSite) -> Signature:
    if len(site.arguments) not in (1, 2):
        raise SignatureError(f"Invalid number of arguments to function '{site.name}'. Was expecting 2 arguments")
    if not isinstance(site.types[0], (*NUMERIC, types.NullType)) or not all(
        isinstance(each, (*INTEGER, types.NullType)) for each in site.types[1:]
    ):
        raise refuse(site, f"'{site.name}(<NUMERIC>, <INTEGER>)'")
    value, nullable = site.types[0], site.any_nullable
    if isinstance(value, types.DecimalType):
        digits = 0 if len(site.arguments) == 1 else site.arguments[1].value
        if digits is not None:
            value = rounded_type(value, digits)
    digit_types = [INT.with_nullability(each.is_nullable) for each in site.types[1:]]
    return Signature([site.types[0], *digit_types], value.with_nullability(nullable))


def _bind_rounding(mode: str) -> Callable[[CallSite, types.DataType], Kernel]:
    def bind(site: CallSite, result_type: types.DataType) -> Kernel:
        refuse_bigint(site, 1)
        known = len(site.arguments) == 1 or site.arguments[1].is_literal
        round_to = _rounding(result_type, mode, known)
        if len(site.arguments) == 1:
            return value_kernel(lambda value: round_to(value, 0), result_type)
        return value_kernel(round_to, result_type)

    return bind


def _rounding(result_type: types.DataType, mode: str, scale_is_known: bool) -> Callable[[Any, int], Any]:
    if isinstance(result_type, types.TinyIntType | types.SmallIntType) and mode == ROUND_DOWN:
        return _refused
    if isinstance(result_type, types.IntegralType):
        range_: int = 1 << arrow_type(result_type).bit_width

        def round_whole(value: int, digits: int) -> int:
            rounded = value if digits >= 0 else int(_rounded(Decimal(value), digits, mode))
            return (rounded + range_ // 2) % range_ - range_ // 2  # as Java's whole numbers go round

        return round_whole
    if isinstance(result_type, types.DecimalType):
        if scale_is_known:
            return lambda value, digits: fitted_decimal(_rounded(value, digits, mode), result_type)
        return lambda value, digits: _misplaced(value, digits, mode, result_type)
    wide = np.float32 if isinstance(result_type, types.FloatType) else float

    def round_double(value: float, digits: int) -> float:
        text = repr(float(np.float64(value)))
        number = Decimal(text)
        if not number.is_finite():
            raise EvaluationError(
                f'Character {text[0].upper()} is neither a decimal digit number, decimal point, nor "e" notation '
                "exponential mark."
            )
        if mode == ROUND_DOWN:
            number = _truncatable(number)
        rounded = float(wide(_rounded(number, digits, mode)))
        return rounded + 0.0 if wide is np.float32 else rounded  # a FLOAT has no negative zero

    return round_double


def _truncatable(number: Decimal) -> Decimal:
    fitted = fitted_decimal(number, _TRUNCATED)
    if fitted is None:
        raise EvaluationError(f"TRUNCATE takes no number of more than 20 digits before the point: {number}")
    return fitted


def _refused(value: Any, digits: int) -> Any:
    raise EvaluationError('Assignment conversion not possible from type "int" to a smaller one')


def _rounded(value: Decimal, digits: int, mode: str) -> Decimal:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if digits >= -exponent:
        return value
    if digits < -_MOST_DIGITS:
        raise EvaluationError("Underflow")
    return value.quantize(Decimal(1).scaleb(-digits), mode, _CONTEXT)


def _misplaced(value: Decimal, digits: int, mode: str, result_type: types.DecimalType) -> Decimal | None:
    """Round to a scale that is not known before: Flink takes the digits of the result for those of its type."""
    scale = min(max(digits, 0), result_type.scale)
    rounded = _rounded(value, digits, mode)
    shown = Decimal(int(rounded.scaleb(scale, _CONTEXT))).scaleb(-result_type.scale, _CONTEXT)
    return fitted_decimal(shown, result_type)


def infer_whole(site: CallSite) -> Signature:
    """Infer FLOOR and CEIL of a number."""
    if len(site.arguments) != 1 or not isinstance(site.types[0], (*NUMERIC, types.NullType)):
        raise refuse(site, f"'{site.name}(<NUMERIC>)'")
    value = site.types[0]
    if isinstance(value, types.DecimalType):
        value = types.DecimalType(value.precision, 0, value.is_nullable)
    return Signature(site.types, value)


def floor_number(site: CallSite, result_type: types.DataType) -> Kernel:
    """Bind FLOOR of a number."""
    return _whole(result_type, pc.floor, ROUND_FLOOR)(site, result_type)


def ceil_number(site: CallSite, result_type: types.DataType) -> Kernel:
    """Bind CEIL of a number."""
    return _whole(result_type, pc.ceil, ROUND_CEILING)(site, result_type)


def _whole(
    result_type: types.DataType, kernel: Callable[..., Any], mode: str
) -> Callable[[CallSite, types.DataType], Kernel]:
    if isinstance(result_type, types.DecimalType):
        return lambda site, found: value_kernel(lambda value: value.quantize(Decimal(1), mode, _CONTEXT), found)
    return by_column(kernel if isinstance(result_type, APPROXIMATE) else lambda column: column)


def _bind_absolute(site: CallSite, result_type: types.DataType) -> Kernel:
    return by_column(pc.abs)(site, result_type)


def _bind_sign(site: CallSite, result_type: types.DataType) -> Kernel:
    if isinstance(result_type, types.TinyIntType | types.SmallIntType):
        return value_kernel(lambda value: _refused(value, 0), result_type)
    if isinstance(result_type, types.DecimalType):
        return value_kernel(lambda value: Decimal((value > 0) - (value < 0)), result_type)
    if isinstance(result_type, types.FloatType | types.DoubleType):
        return by_column(_sign_of_float)(site, result_type)
    return by_column(pc.sign)(site, result_type)


def _sign_of_float(column: Column) -> Column:
    """Return 1.0, -1.0, NaN, or the zero that a value is."""
    return pc.if_else(pc.equal(column, pa.scalar(0.0, column.type)), column, pc.sign(column))


_SAME: Final[Infer] = takes_numbers(argument(0), 1)

FUNCTIONS = (
    ScalarFunction("ROUND", _infer_rounding, _bind_rounding(ROUND_HALF_UP)),
    ScalarFunction("TRUNCATE", _infer_rounding, _bind_rounding(ROUND_DOWN)),
    ScalarFunction("ABS", _SAME, _bind_absolute),
    ScalarFunction("SIGN", _SAME, _bind_sign),
)
