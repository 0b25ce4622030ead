"""Result types of arithmetic and rounding."""

from __future__ import annotations

from scurry.sql.types.atomic_types import MAX_PRECISION, DecimalType
from scurry.sql.types.common_type import WIDTH, least_restrictive
from scurry.sql.types.families import APPROXIMATE, DOUBLE, EXACT, INTEGER
from scurry.sql.types.logical_type import DataType

_MINIMUM_SCALE = 6


def as_decimal(data_type: DataType) -> DecimalType:
    """Return the DECIMAL that holds every value of an exact number's type."""
    if isinstance(data_type, DecimalType):
        return data_type
    return DecimalType(WIDTH[type(data_type)], 0, data_type.is_nullable)


def arithmetic_type(operator: str, left: DataType, right: DataType) -> DataType | None:
    """Return the type of `left operator right` for numbers; None if these are not numbers.

    Args:
        operator: One of + - * / %.
        left: Type of the left operand.
        right: Type of the right operand.
    """
    nullable = left.is_nullable or right.is_nullable
    if not (isinstance(left, EXACT + APPROXIMATE) and isinstance(right, EXACT + APPROXIMATE)):
        return None
    if isinstance(left, APPROXIMATE) or isinstance(right, APPROXIMATE):
        if isinstance(left, DecimalType) or isinstance(right, DecimalType):
            return DOUBLE.with_nullability(nullable)
        return left.with_nullability(nullable) if isinstance(left, APPROXIMATE) else right.with_nullability(nullable)
    if isinstance(left, INTEGER) and isinstance(right, INTEGER):
        if operator == "%":
            return right.with_nullability(nullable)
        return least_restrictive([left, right])
    precision, scale = _decimal(operator, as_decimal(left), as_decimal(right))
    return DecimalType(precision, scale, nullable)


def _decimal(operator: str, left: DecimalType, right: DecimalType) -> tuple[int, int]:
    p1, s1, p2, s2 = left.precision, left.scale, right.precision, right.scale
    if operator == "*":
        return _fitted(p1 + p2 + 1, s1 + s2)
    if operator == "/":
        scale = max(_MINIMUM_SCALE, s1 + p2 + 1)
        return _fitted(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    if operator == "%":
        return _fitted(min(p1 - s1, p2 - s2) + scale, scale)
    return _fitted(max(p1 - s1, p2 - s2) + scale + 1, scale)


def _fitted(precision: int, scale: int) -> tuple[int, int]:
    """Give up digits after the point, down to six, where there are more digits than a DECIMAL has."""
    if precision <= MAX_PRECISION:
        return precision, scale
    return MAX_PRECISION, max(MAX_PRECISION - (precision - scale), min(scale, _MINIMUM_SCALE))


def rounded_type(data_type: DecimalType, digits: int) -> DecimalType:
    """Return the type of a DECIMAL rounded to a number of digits after the point."""
    precision, scale, nullable = data_type.precision, data_type.scale, data_type.is_nullable
    if digits >= scale:
        return data_type
    if digits < 0:
        return DecimalType(min(MAX_PRECISION, 1 + precision - scale), 0, nullable)
    return DecimalType(1 + precision - scale + digits, digits, nullable)


def sum_type(data_type: DataType) -> DataType:
    """Return the type of SUM over values of a type."""
    if isinstance(data_type, DecimalType):
        return DecimalType(MAX_PRECISION, data_type.scale, data_type.is_nullable)
    return data_type


def average_type(data_type: DataType) -> DataType:
    """Return the type of AVG over values of a type."""
    if isinstance(data_type, DecimalType):
        precision, scale = _decimal("/", DecimalType(MAX_PRECISION, data_type.scale), DecimalType(20, 0))
        return DecimalType(precision, scale, data_type.is_nullable)
    return data_type
