"""Values of results as PyFlink's Python values."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from typing import Any

from scurry.common._types import java_text
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.logical_types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DayTimeIntervalType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RawType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
)

__all__ = ["python_value"]

Convert = Callable[[Any], Any]

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_PER_SECOND = (1_000, 1_000, 1_000, 1_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000_000, 1_000_000_000, 1_000_000_000)


def python_value(data_type: DataType) -> Convert:
    """Return the function that makes PyFlink's Python value of a value, None of NULL."""
    convert = _python(data_type)
    return lambda value: None if value is None else convert(value)


def _python(data_type: DataType) -> Convert:
    if isinstance(data_type, TimestampType):
        per_second = _PER_SECOND[data_type.precision]
        return lambda value: _datetime(value, per_second)
    if isinstance(data_type, LocalZonedTimestampType):
        per_second = _PER_SECOND[data_type.precision]
        return lambda value: _instant(value, per_second)
    if isinstance(data_type, ArrayType):
        element = python_value(data_type.element_type)
        return lambda values: list(map(element, values))
    if isinstance(data_type, MapType):
        return _dict(data_type.key_type, data_type.value_type)
    if isinstance(data_type, MultisetType):
        return _dict(data_type.element_type, IntType())
    if isinstance(data_type, RowType):
        fields = [python_value(field.data_type) for field in data_type.fields]
        return lambda row: Row(*[field(value) for field, value in zip(fields, row, strict=True)])
    return _PYTHON.get(type(data_type), _same)


def _same(value: Any) -> Any:
    return value


def _dict(key_type: DataType, value_type: DataType) -> Convert:
    key, item = python_value(key_type), python_value(value_type)
    return lambda pairs: {key(k): item(v) for k, v in pairs}


def _datetime(value: int, per_second: int) -> datetime.datetime:
    seconds, rest = divmod(value, per_second)
    return _EPOCH + datetime.timedelta(seconds=seconds, microseconds=rest * 1_000_000 // per_second)


def _instant(value: int, per_second: int) -> Instant:
    seconds, rest = divmod(value, per_second)
    return Instant(seconds, rest * (1_000_000_000 // per_second))


_PYTHON: dict[type[DataType], Convert] = {
    BinaryType: bytearray,
    VarBinaryType: bytearray,
    RawType: pickle.loads,
    # PyFlink gets the text that Java shows: 1.1, not 1.10000002384185791015625.
    FloatType: lambda value: float(java_text.single(value)),
    DateType: lambda days: datetime.date.fromordinal(_EPOCH_DAY + days),
    TimeType: lambda millis: (_EPOCH + datetime.timedelta(milliseconds=millis)).time(),
    DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
}
