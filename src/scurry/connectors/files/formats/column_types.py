"""ColumnType: the SQL type of a column in a file, with its Flink type information and its Arrow type."""

from __future__ import annotations

import datetime
import decimal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scurry.common._epoch import EPOCH_UTC, micros_of_datetime
from scurry.common.nullable import nullable
from scurry.common.time import Instant
from scurry.common.typeinfo import TypeInformation, Types
from scurry.common.types import Row
from scurry.errors import TypeMismatchError

_MILLIS, _MICROS = 3, 6


@dataclass(frozen=True)
class ColumnType:
    """A SQL type.

    Attributes:
        kind: STRING, BYTES, BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, DATE, TIME, TIMESTAMP,
            TIMESTAMP_LTZ, ARRAY, MAP or ROW.
        precision: Number of digits of a DECIMAL; number of fractional digits of the seconds of a time.
        scale: Scale of a DECIMAL.
        parts: Types of an ARRAY's elements, of a MAP's keys and values, or of a ROW's fields.
        names: Field names of a ROW.
    """

    kind: str
    precision: int = 0
    scale: int = 0
    parts: tuple[ColumnType, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def type_info(self) -> TypeInformation:
        """The type of the values in a stream."""
        if self.kind == "ARRAY":
            return Types.LIST(self.parts[0].type_info)
        if self.kind == "MAP":
            return Types.MAP(self.parts[0].type_info, self.parts[1].type_info)
        if self.kind == "ROW":
            return Types.ROW_NAMED(list(self.names), [part.type_info for part in self.parts])
        return _TYPES[self.kind]()

    @property
    def arrow(self) -> Any:
        """The `pyarrow.DataType`."""
        import pyarrow as pa

        unit = "ms" if self.precision <= _MILLIS else "us"
        if self.kind == "DECIMAL":
            return pa.decimal128(self.precision, self.scale)
        if self.kind == "TIME":
            return pa.time32("ms") if self.precision <= _MILLIS else pa.time64("us")
        if self.kind == "TIMESTAMP":
            return pa.timestamp(unit)
        if self.kind == "TIMESTAMP_LTZ":
            return pa.timestamp(unit, tz="UTC")
        if self.kind == "ARRAY":
            return pa.list_(self.parts[0].arrow)
        if self.kind == "MAP":
            return pa.map_(self.parts[0].arrow, self.parts[1].arrow)
        if self.kind == "ROW":
            return pa.struct([pa.field(n, p.arrow) for n, p in zip(self.names, self.parts, strict=True)])
        return pa.type_for_alias(_ARROW[self.kind])

    def from_arrow(self, utc: bool) -> Callable[[Any], Any] | None:
        """Return the function that converts Arrow's Python value to a stream's value; None if they are the same.

        Args:
            utc: Leave TIMESTAMPs as they are, in UTC; otherwise convert them to the machine's time zone.
        """
        if self.kind == "TIMESTAMP" and not utc and _zone_matters():
            return nullable(lambda v: v.replace(tzinfo=datetime.UTC).astimezone().replace(tzinfo=None))
        if self.kind == "TIMESTAMP_LTZ":
            return nullable(_instant)
        parts = [part.from_arrow(utc) or _same for part in self.parts]
        if self.kind == "MAP":
            key, value = parts
            return nullable(lambda v: {key(k): value(x) for k, x in v})
        if self.kind == "ROW":
            names = self.names
            return nullable(lambda v: Row._from_values([p(v[n]) for n, p in zip(names, parts, strict=True)], names))
        if self.kind == "ARRAY" and parts[0] is not _same:
            element = parts[0]
            return nullable(lambda v: list(map(element, v)))
        return None

    def to_arrow(self, utc: bool) -> Callable[[Any], Any] | None:
        """Return the function that converts a stream's value to Arrow's Python value; None if they are the same."""
        if self.kind == "TIMESTAMP" and not utc and _zone_matters():
            return nullable(lambda v: v.astimezone(datetime.UTC).replace(tzinfo=None))
        if self.kind == "TIMESTAMP_LTZ":
            return nullable(_datetime)
        if self.kind == "DECIMAL":
            return nullable(self._to_decimal())
        parts = [part.to_arrow(utc) or _same for part in self.parts]
        if self.kind == "MAP":
            key, value = parts
            return nullable(lambda v: [(key(k), value(x)) for k, x in v.items()])
        if self.kind == "ROW":
            names = self.names
            return nullable(lambda v: {n: p(x) for n, p, x in zip(names, parts, _fields(v, names), strict=True)})
        if self.kind == "ARRAY" and parts[0] is not _same:
            element = parts[0]
            return nullable(lambda v: list(map(element, v)))
        return None

    def _to_decimal(self) -> Callable[[Any], Any]:
        rounded, declared = rounding(self.precision, self.scale), f"DECIMAL({self.precision}, {self.scale})"

        def convert(value: Any) -> Any:
            if not isinstance(value, decimal.Decimal):
                return value
            fitting = rounded(value)
            if fitting is None:
                raise TypeMismatchError(declared, value, "it has more digits before the point; Flink would write null")
            return fitting

        return convert


def rounding(precision: int, scale: int) -> Callable[[decimal.Decimal], decimal.Decimal | None]:
    """Return a function that rounds half up to the scale, like Flink, or returns None if the precision is exceeded."""
    unit = decimal.Decimal(1).scaleb(-scale)
    context = decimal.Context(prec=precision, rounding=decimal.ROUND_HALF_UP, traps=[decimal.InvalidOperation])

    def rounded(value: decimal.Decimal) -> decimal.Decimal | None:
        try:
            return value.quantize(unit, None, context)
        except decimal.InvalidOperation:
            return None

    return rounded


_TYPES: dict[str, Callable[[], TypeInformation]] = {
    "STRING": Types.STRING,
    "BYTES": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "BOOLEAN": Types.BOOLEAN,
    "TINYINT": Types.BYTE,
    "SMALLINT": Types.SHORT,
    "INT": Types.INT,
    "BIGINT": Types.LONG,
    "FLOAT": Types.FLOAT,
    "DOUBLE": Types.DOUBLE,
    "DECIMAL": Types.BIG_DEC,
    "DATE": Types.SQL_DATE,
    "TIME": Types.SQL_TIME,
    "TIMESTAMP": Types.SQL_TIMESTAMP,
    "TIMESTAMP_LTZ": Types.INSTANT,
}
_ARROW = {
    "STRING": "string",
    "BYTES": "binary",
    "BOOLEAN": "bool",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "DATE": "date32",
}


def _same(value: Any) -> Any:
    return value


def _zone_matters() -> bool:
    return bool(time.timezone or time.daylight)


def _instant(value: datetime.datetime) -> Instant:
    seconds, micros = divmod(micros_of_datetime(value), 1_000_000)
    return Instant(seconds, micros * 1000)


def _datetime(value: Instant | datetime.datetime) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    return EPOCH_UTC + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)


def _fields(value: Any, names: tuple[str, ...]) -> Any:
    if isinstance(value, Row):
        return value.get_fields_by_names(names)
    return [value[name] for name in names] if isinstance(value, dict) else value
