"""Casts between numbers, and between numbers and BOOLEAN."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.decimals import as_decimals, fitted
from scurry.sql.functions.definition import Column
from scurry.sql.functions.kernels import on_values
from scurry.sql.types import BigIntType, BooleanType, DataType, DecimalType, IntegralType
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.families import APPROXIMATE

#: A whole number of so many digits is exact as a DOUBLE.
_EXACT_DIGITS: Final = 15
_EXACT: Final = Context(prec=400, rounding=ROUND_HALF_UP)

Cast = Callable[[Column], Column]


def fitted_decimal(value: Decimal, data_type: DecimalType) -> Decimal | None:
    """Return a number rounded half up to the scale of a type; None if it has too many digits."""
    rounded = value.quantize(Decimal(1).scaleb(-data_type.scale), ROUND_HALF_UP, _EXACT)
    return rounded if not rounded or rounded.adjusted() < data_type.precision - data_type.scale else None


def number_cast(source: DataType, target: DataType) -> Cast:
    """Return the cast between numbers or BOOLEAN."""
    kind = arrow_type(target)
    if isinstance(target, BooleanType):
        return lambda column: pc.not_equal(column, pa.scalar(0, column.type))
    if isinstance(source, BooleanType):
        if isinstance(target, DecimalType):
            to_decimal = _to_decimal(target)
            return lambda column: to_decimal(pc.cast(column, pa.int8()))
        return lambda column: pc.cast(column, kind)
    if isinstance(target, DecimalType):
        return _to_decimal(target)
    if isinstance(source, DecimalType):
        return _from_decimal(target)
    if isinstance(source, APPROXIMATE) and isinstance(target, IntegralType):
        return _truncated(target)
    return lambda column: pc.cast(column, kind, safe=False)


def _to_decimal(target: DecimalType) -> Cast:
    def convert(value: Any) -> Decimal | None:
        if isinstance(value, float):
            number = Decimal(repr(value))
            if not number.is_finite():
                raise EvaluationError("Infinite or NaN")
            return fitted_decimal(number, target)
        return fitted_decimal(Decimal(value), target)

    by_value = on_values(convert, target)

    def cast(column: Column) -> Column:
        if pa.types.is_floating(column.type):
            return by_value(column)
        return fitted(as_decimals(column), target)

    return cast


def _from_decimal(target: DataType) -> Cast:
    if isinstance(target, IntegralType):
        bits = int(arrow_type(target).bit_width)

        def truncated(value: Decimal) -> int:
            low = int(value) & ((1 << bits) - 1)
            return low - (1 << bits) if low >> (bits - 1) else low

        return on_values(truncated, target)
    kind = arrow_type(target)
    return lambda column: pc.cast(doubles_of(column), kind)


def doubles_of(column: Column) -> Column:
    """Return the doubles nearest to numbers; Arrow's cast of decimals multiplies by a power of ten: off by a bit."""
    if not pa.types.is_decimal(column.type):
        return pc.cast(column, pa.float64(), safe=False)
    if column.type.precision > _EXACT_DIGITS or column.type.scale > _EXACT_DIGITS:
        return pc.cast(pc.cast(column, pa.string()), pa.float64())
    # Both the digits and the power of ten are exact, so that their quotient is rounded once.
    digits = pc.cast(column.cast(pa.decimal128(_EXACT_DIGITS + 1, column.type.scale)), pa.float64())
    scale = 10.0**column.type.scale
    return pc.divide(pc.round(pc.multiply(digits, scale)), scale)


def _truncated(target: IntegralType) -> Cast:
    """Cut the fraction; numbers too large become the largest INT or BIGINT; smaller types take its low bits."""
    wide = np.int64 if isinstance(target, BigIntType) else np.int32
    limits = np.iinfo(wide)
    kind = arrow_type(target)

    def cast(column: Column) -> Column:
        array = pa.repeat(column, 1) if isinstance(column, pa.Scalar) else column
        values = np.asarray(pc.fill_null(array, 0)).astype(np.float64)
        whole = np.nan_to_num(np.trunc(values), nan=0.0)
        with np.errstate(invalid="ignore"):
            integers = whole.astype(wide)
        integers = np.where(
            whole >= float(limits.max), limits.max, np.where(whole <= float(limits.min), limits.min, integers)
        )
        result = pa.array(integers.astype(kind.to_pandas_dtype()), kind, mask=np.asarray(pc.is_null(array)))
        return result[0] if isinstance(column, pa.Scalar) else result

    return cast
