"""Data types as statements write them, resolved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scurry.errors import ArgumentError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql import types
from scurry.sql.syntax import nodes
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.intervals import interval_type

_PLAIN: dict[str, Callable[[], types.DataType]] = {
    "BOOLEAN": types.BooleanType,
    "TINYINT": types.TinyIntType,
    "SMALLINT": types.SmallIntType,
    "INTEGER": types.IntType,
    "INT": types.IntType,
    "BIGINT": types.BigIntType,
    "FLOAT": types.FloatType,
    "DOUBLE": types.DoubleType,
    "DATE": types.DateType,
    "NULL": types.NullType,
    "STRING": lambda: types.VarCharType(types.MAX_LENGTH),
    "VARIANT": types.VariantType,
    "BITMAP": types.BitmapType,
    "BYTES": lambda: types.VarBinaryType(types.MAX_LENGTH),
}

_SIZED: dict[str, Callable[[int], types.DataType]] = {
    "CHAR": types.CharType.of_length,
    "VARCHAR": types.VarCharType.of_length,
    "BINARY": types.BinaryType.of_length,
    "VARBINARY": types.VarBinaryType.of_length,
}
_NAMES = sorted({*_PLAIN, *_SIZED, "ARRAY", "DECIMAL", "MAP", "MULTISET", "ROW", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"})
#: Larger precisions mean these, as in Flink.
_LARGEST_OF_TIME = 3
_LARGEST_OF_TIMESTAMP = 9
_LARGEST_OF_DECIMAL = 38


def data_type(spec: nodes.TypeSpec) -> types.DataType:
    """Return the type that a statement writes.

    Args:
        spec: The syntax tree of the type.

    Raises:
        ValidationError: There is no such type, or a number in it is out of range.
    """
    try:
        found = _resolved(spec)
    except ArgumentError as error:
        raise invalid(spec.span, str(error)) from error
    return found.not_null() if spec.nullable is False else found


def _resolved(spec: Any) -> types.DataType:
    if isinstance(spec, nodes.BasicTypeSpec):
        return _basic(spec)
    if isinstance(spec, nodes.ArrayTypeSpec):
        return types.ArrayType(data_type(spec.element))
    if isinstance(spec, nodes.MultisetTypeSpec):
        return types.MultisetType(data_type(spec.element))
    if isinstance(spec, nodes.MapTypeSpec):
        return types.MapType(data_type(spec.key), data_type(spec.value))
    if isinstance(spec, nodes.RowTypeSpec):
        return types.RowType(
            [types.RowField(each.name.last, data_type(each.type), each.comment) for each in spec.fields]
        )
    if isinstance(spec, nodes.IntervalTypeSpec):
        return interval_type(spec.qualifier, nullable=True)
    if isinstance(spec, nodes.NamedTypeSpec):
        hint = did_you_mean(str(spec.name), _NAMES)
        raise invalid(spec.name.span, f"Unknown identifier '{spec.name}'").with_hint(
            hint or f"the types are {', '.join(_NAMES)}"
        )
    raise invalid(spec.span, f"The type {spec.span.source} is not supported")


def _basic(spec: nodes.BasicTypeSpec) -> types.DataType:
    name = spec.name
    if name in _PLAIN:
        return _PLAIN[name]()
    if name in _SIZED:
        default = types.MAX_LENGTH if name.startswith("VAR") else 1
        return _SIZED[name](default if spec.precision is None else spec.precision)
    if name in ("DECIMAL", "DEC", "NUMERIC"):
        return _decimal(10 if spec.precision is None else spec.precision, spec.scale or 0)
    if name == "TIME":
        return types.TimeType(min(spec.precision or 0, _LARGEST_OF_TIME))
    precision = 6 if spec.precision is None else min(spec.precision, _LARGEST_OF_TIMESTAMP)
    if name == "TIMESTAMP_LTZ" or (name == "TIMESTAMP" and spec.time_zone == "WITH LOCAL TIME ZONE"):
        return types.LocalZonedTimestampType(precision)
    if name == "TIMESTAMP" and spec.time_zone is None:
        return types.TimestampType(precision)
    raise invalid(spec.span, f"The type {spec.span.source or name} is not supported")


def _decimal(precision: int, scale: int) -> types.DataType:
    precision = min(precision, _LARGEST_OF_DECIMAL)
    if precision < 1:
        raise ValidationError("Decimal precision must be between 1 and 38 (both inclusive).")
    if scale > precision:
        raise ValidationError(f"Decimal scale must be between 0 and the precision {precision} (both inclusive).")
    return types.DecimalType(precision, scale)
