"""Values of databases as columns, and columns as parameters of statements."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._epoch import date_of_days, days_of_date, micros_of_datetime, millis_of_time, time_of_millis
from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.jdbc.row_text import each_of
from scurry.errors import ValidationError
from scurry.sql import types
from scurry.sql.connectors.jdbc.statements import Dialect
from scurry.sql.values.parsing import parse_date, parse_time, parse_timestamp
from scurry.sql.values.texts import timestamp_text

_WIDE = decimal.Context(prec=100)


@dataclass(frozen=True)
class ColumnValues:
    """Conversions of a column's values to a database and back; neither is called with None.

    Attributes:
        type_info: The type of parameters.
        read: Makes a value of what the driver returns.
        write: Makes a parameter of a value.
    """

    type_info: TypeInformation
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]

    def written(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the parameters of a column's values."""
        if self.write is _same:
            return values
        return [None if value is None else self.write(value) for value in values]


def column_values(data_type: types.DataType, dialect: Dialect, name: str = "") -> ColumnValues:
    """Return how the values of a type are read and written.

    Args:
        name: Name of the column, for messages.

    Raises:
        ValidationError: The database has no such values.
    """
    simple = _SIMPLE.get(type(data_type))
    if simple is not None:
        return simple
    if isinstance(data_type, types.DecimalType):
        return ColumnValues(Types.BIG_DEC(), _decimal(data_type), _same)
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        if data_type.precision > 6:
            raise ValidationError(
                f"The precision of field '{name}' is out of the TIMESTAMP precision range [1, 6] supported by "
                f"{dialect.name} dialect."
            )
        unit = 1000 if data_type.precision <= 3 else 1
        return ColumnValues(Types.STRING(), _timestamp(unit), _timestamp_text(unit))
    if isinstance(data_type, types.ArrayType) and dialect.arrays:
        element = column_values(data_type.element_type, dialect, name)
        return ColumnValues(Types.OBJECT_ARRAY(element.type_info), each_of(element.read), each_of(element.write))
    raise ValidationError(f"The {dialect.name} dialect doesn't support type: {data_type.as_summary_string()}.")


def _same(value: Any) -> Any:
    return value


def _decimal(data_type: types.DecimalType) -> Callable[[Any], Any]:
    unit = decimal.Decimal(1).scaleb(-data_type.scale)

    def read(value: Any) -> decimal.Decimal | None:
        number = decimal.Decimal(str(value))
        if not number.is_finite():
            return None
        rounded = number.quantize(unit, decimal.ROUND_HALF_UP, _WIDE)
        return rounded if abs(rounded).adjusted() < data_type.precision - data_type.scale or not rounded else None

    return read


def _date(value: Any) -> int:
    return parse_date(value[:10]) if isinstance(value, str) else days_of_date(value)


def _time(value: Any) -> int:
    if isinstance(value, str):
        return parse_time(value)
    return millis_of_time(value)


def _timestamp(unit: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, str):
            return parse_timestamp(value.replace("T", " "), False, False) // (unit * 1000)
        return micros_of_datetime(value.replace(tzinfo=None)) // unit

    return read


def _timestamp_text(unit: int) -> Callable[[int], str]:
    # as text: parameters of type SQL_TIMESTAMP have milliseconds
    return lambda value: timestamp_text(value * unit * 1000)


def _boolean(value: Any) -> bool:
    return any(value) if isinstance(value, bytes) else bool(value)  # BIT of MySQL comes as bytes


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


_WHOLE = ColumnValues(Types.LONG(), int, _same)
_BYTES = ColumnValues(Types.PRIMITIVE_ARRAY(Types.BYTE()), bytes, _same)
_TEXT = ColumnValues(Types.STRING(), _text, _same)

_SIMPLE: dict[type[types.DataType], ColumnValues] = {
    types.BooleanType: ColumnValues(Types.BOOLEAN(), _boolean, _same),
    types.TinyIntType: _WHOLE,
    types.SmallIntType: _WHOLE,
    types.IntType: _WHOLE,
    types.BigIntType: _WHOLE,
    types.FloatType: ColumnValues(Types.DOUBLE(), float, _same),
    types.DoubleType: ColumnValues(Types.DOUBLE(), float, _same),
    types.CharType: _TEXT,
    types.VarCharType: _TEXT,
    types.VarBinaryType: _BYTES,
    types.DateType: ColumnValues(Types.SQL_DATE(), _date, date_of_days),
    types.TimeType: ColumnValues(Types.SQL_TIME(), _time, time_of_millis),
}
