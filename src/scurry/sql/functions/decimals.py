"""Columns of DECIMAL: exact results rounded to a type, and division over the integers without their points."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import EvaluationError
from scurry.sql.functions.definition import Column
from scurry.sql.types import DecimalType

_MAX: Final = 38
_WIDEST: Final = 76
#: Digits that an integer of 64 bits always has room for.
_WORD: Final = 18
_DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 19}
_LOW: Final = (1 << 64) - 1


def as_decimals(column: Column) -> Column:
    """Return a column of exact numbers as decimals."""
    return (
        pc.cast(column, pa.decimal128(_DIGITS[column.type.bit_width], 0))
        if pa.types.is_integer(column.type)
        else column
    )


def fitted(column: Column, data_type: DecimalType) -> Column:
    """Return decimals rounded half up to a type; null where they have too many digits."""
    given = column.type
    if given.scale > data_type.scale:
        column = column.cast(pa.decimal256(min(given.precision + 1, _WIDEST), given.scale))
        column = pc.round(column, data_type.scale, "half_towards_infinity")
    whole = data_type.precision - data_type.scale
    if column.type.precision - column.type.scale > whole:
        limit = pa.scalar(Decimal(10) ** whole, pa.decimal256(whole + 1, 0))
        fits = pc.less(pc.abs(column), limit)
        column = pc.if_else(fits, column, pa.scalar(None, column.type))
    return column.cast(pa.decimal128(data_type.precision, data_type.scale))


def sum_of(left: Column, right: Column, negated: bool, data_type: DecimalType) -> Column:
    scale = max(left.type.scale, right.type.scale)
    digits = max(left.type.precision - left.type.scale, right.type.precision - right.type.scale) + scale + 1
    if digits > _MAX:
        left, right = (each.cast(pa.decimal256(each.type.precision, each.type.scale)) for each in (left, right))
    return fitted((pc.subtract if negated else pc.add)(left, right), data_type)


def product(left: Column, right: Column, data_type: DecimalType) -> Column | None:
    """Return products; None if they can have more digits than there is a column for."""
    digits = left.type.precision + right.type.precision + 1
    if digits > _WIDEST:
        return None
    if digits > _MAX:
        left, right = (each.cast(pa.decimal256(each.type.precision, each.type.scale)) for each in (left, right))
    return fitted(pc.multiply(left, right), data_type)


def divided(left: Column, right: Column, data_type: DecimalType, rows: int) -> Column:
    """Return quotients rounded half up.

    Raises:
        EvaluationError: A divisor is zero.
    """
    scalars = isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar)
    one, other = (
        pa.repeat(each, 1 if scalars else rows) if isinstance(each, pa.Scalar) else each for each in (left, right)
    )
    valid = np.asarray(pc.and_(one.is_valid(), other.is_valid()))
    dividend, divisor = _unscaled(one), _unscaled(other)
    if ((divisor == 0) & valid).any():
        raise EvaluationError("Division by zero")
    divisor = np.where(valid, divisor, 1)
    shift = data_type.scale - one.type.scale + other.type.scale
    if max(one.type.precision + max(shift, 0), other.type.precision + max(-shift, 0)) > _WORD:
        dividend, divisor = dividend.astype(object), divisor.astype(object)
    dividend, divisor = dividend * 10 ** max(shift, 0), divisor * 10 ** max(-shift, 0)
    size, divisor_size = abs(dividend), abs(divisor)
    quotient = size // divisor_size
    quotient = quotient + (2 * (size - quotient * divisor_size) >= divisor_size)
    result = _from_unscaled(np.where((dividend < 0) == (divisor < 0), quotient, -quotient), valid, data_type)
    return result[0] if scalars else result


def _unscaled(array: pa.Array) -> Any:
    """Return the integers of decimals without their points; those of nulls mean nothing."""
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)[array.offset : array.offset + len(array)]
    if array.type.precision <= _WORD:
        return words[:, 0]
    return words[:, 1].astype(object) * (1 << 64) + words[:, 0].view(np.uint64).astype(object)


def _from_unscaled(values: Any, valid: Any, data_type: DecimalType) -> pa.Array:
    kind = pa.decimal128(data_type.precision, data_type.scale)
    fits = valid & (abs(values) < 10**data_type.precision).astype(np.bool_)
    words = np.empty((len(values), 2), np.int64)
    if values.dtype == object:
        values = np.where(fits, values, 0)
        words[:, 0] = (values & _LOW).astype(np.uint64).view(np.int64)
        words[:, 1] = (values >> 64).astype(np.int64)
    else:
        words[:, 0] = values
        words[:, 1] = values >> 63
    array = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(words)])
    return array if fits.all() else pc.if_else(pa.array(fits), array, pa.scalar(None, kind))
