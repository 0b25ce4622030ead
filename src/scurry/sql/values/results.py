"""Conversion of the results of user-defined functions to columns, as in PyFlink."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._copies import copy_of
from scurry.common._epoch import EPOCH, days_of_date, millis_of_time
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.errors import TypeMismatchError, UnsupportedError
from scurry.sql import types
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.values import from_values
from scurry.sql.values.converters import Convert, FromPython

if TYPE_CHECKING:
    import pyarrow


_MICROSECOND = datetime.timedelta(microseconds=1)
#: Python types whose values are those of columns already.
_OWN: dict[type[types.DataType], type] = {
    types.TinyIntType: int,
    types.SmallIntType: int,
    types.IntType: int,
    types.BigIntType: int,
    types.FloatType: float,
    types.DoubleType: float,
    types.CharType: str,
    types.VarCharType: str,
    types.BooleanType: bool,
    types.BinaryType: bytes,
    types.VarBinaryType: bytes,
}
#: Types whose Python values can change.
_CHANGEABLE = (types.ArrayType, types.MapType, types.RowType, types.RawType, types.BinaryType, types.VarBinaryType)


class ResultColumn:
    """Makes columns of a type out of the results of functions.

    Attributes:
        convert: Makes a value of the column of one result that is not None; raises the error of the conversion.
        changeable: Whether results can be changed after they were returned.
    """

    def __init__(self, data_type: types.DataType) -> None:
        self._type = data_type
        self._kind = arrow_type(data_type)
        self._own = _OWN.get(type(data_type))
        self.changeable = isinstance(data_type, _CHANGEABLE)
        self.convert = _RESULTS.converter(data_type)

    def __call__(self, results: Sequence[Any]) -> pyarrow.Array:
        """Return the column of some results.

        Raises:
            Exception: Whatever a result that does not fit causes; `misfit` finds it.
        """
        import pyarrow as pa

        if self._own is not None and {self._own, type(None)}.issuperset(map(type, results)):
            return pa.array(results, self._kind)
        convert = self.convert
        return from_values([None if each is None else convert(each) for each in results], self._type)

    def as_returned(self, results: Iterable[Any]) -> Iterable[Any]:
        """Return results as they are when they come, whatever the function does with them afterwards."""
        return map(copy_of, results) if self.changeable else results

    def misfit(self, results: Sequence[Any]) -> tuple[int, Exception] | None:
        """Return the place of the first result that is no value of the type, and why; None if all are."""
        for place, each in enumerate(results):
            try:
                self([each])
            except Exception as error:
                return place, error
        return None


class _Results(FromPython):
    def atom(self, data_type: types.DataType) -> Convert:
        if isinstance(data_type, types.IntegralType):
            return _whole(data_type)
        if isinstance(data_type, types.DecimalType):
            return _decimal(data_type)
        if isinstance(data_type, types.LocalZonedTimestampType):
            return _instant(units_per_second(data_type))
        if isinstance(data_type, types.TimestampType):
            return _timestamp(units_per_second(data_type))
        simple = _SIMPLE.get(type(data_type))
        if simple is None:
            raise _unsupported(data_type)
        return simple

    def converter(self, data_type: types.DataType, field: str = "") -> Convert:
        if isinstance(data_type, types.MultisetType):
            raise _unsupported(data_type)
        return super().converter(data_type, field)

    def fields(self, data_type: types.RowType) -> Callable[[Any], Sequence[Any]]:
        names = data_type.field_names()

        def values_of(value: Any) -> Sequence[Any]:
            if isinstance(value, dict):
                values: Sequence[Any] = [value.get(name) for name in names]
            elif dataclasses.is_dataclass(value):
                values = [getattr(value, each.name) for each in dataclasses.fields(value) if each.init]
            else:
                values = list(value) if isinstance(value, Row) else value
            if len(values) != len(names):
                raise TypeMismatchError(
                    data_type.as_summary_string(), value, f"{len(names)} fields are declared, got {len(values)}"
                )
            return values

        return values_of


def _unsupported(data_type: types.DataType) -> UnsupportedError:
    return UnsupportedError(f"user-defined functions cannot return {data_type.as_summary_string()}")


def _whole(data_type: types.IntegralType) -> Convert:
    limit = data_type.limit

    def convert(value: Any) -> int:
        # Fractions are cut off, as PyFlink's coders do; texts are no numbers.
        if isinstance(value, str | bytes):
            raise TypeMismatchError(data_type.as_summary_string(), value, "an integer is required")
        number = int(value)
        if not -limit <= number < limit:
            raise TypeMismatchError(data_type.as_summary_string(), value, "the value is too large")
        return number

    return convert


def _decimal(data_type: types.DecimalType) -> Convert:
    unit = decimal.Decimal(1).scaleb(-data_type.scale)
    context = decimal.Context(prec=data_type.precision)

    def convert(value: Any) -> decimal.Decimal:
        if not isinstance(value, decimal.Decimal):
            raise TypeMismatchError(data_type.as_summary_string(), value, "a decimal.Decimal is required")
        try:
            return value.quantize(unit, context=context)
        except decimal.InvalidOperation:
            raise TypeMismatchError(data_type.as_summary_string(), value, "it has too many digits") from None

    return convert


def _timestamp(per_second: int) -> Convert:
    return lambda value: (value.replace(tzinfo=None) - EPOCH) // _MICROSECOND * per_second // 1_000_000


def _instant(per_second: int) -> Convert:
    # As in PyFlink the wall clock is that of UTC, whatever the zone: see `arguments`.
    wall_clock = _timestamp(per_second)

    def convert(value: Any) -> Any:
        if isinstance(value, Instant):
            return value.seconds * per_second + value.nanos * per_second // 1_000_000_000
        return wall_clock(value)

    return convert


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeMismatchError("STRING", value, "a str is required")
    return value


def _binary(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeMismatchError("BYTES", value, "bytes are required")
    return bytes(value)


_SIMPLE: dict[type[types.DataType], Convert] = {
    types.BooleanType: bool,
    types.FloatType: float,
    types.DoubleType: float,
    types.CharType: _text,
    types.VarCharType: _text,
    types.BinaryType: _binary,
    types.VarBinaryType: _binary,
    # The protocol of the pickler that PyFlink has in Java, so that bytes are the same.
    types.RawType: lambda value: pickle.dumps(value, 3),
    types.DateType: days_of_date,
    types.TimeType: millis_of_time,
}
_RESULTS = _Results()
