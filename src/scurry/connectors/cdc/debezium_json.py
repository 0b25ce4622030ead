"""DebeziumJson: rows and changes as texts of JSON, with the fields and values that Debezium gives them."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from scurry._dataclasses import dataclass
from scurry.common._epoch import EPOCH, days_of_date
from scurry.common.typeinfo import TypeInformation, Types
from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import RowBlock
from scurry.connectors.cdc.postgres.arrays import parse_array
from scurry.connectors.cdc.stream import ChangeDecoder
from scurry.errors import MalformedRecordError

_INSERT, _BEFORE = RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value
_DELETE = RowKind.DELETE.value
_DIGITS = re.compile(r"\((\d+)(?:,\d+)?\)")
_NOT_OF_NAMES = re.compile(r"\(.*\)| unsigned| zerofill| with time zone| without time zone")
_MILLIS_DIGITS = 3
#: The form of decimals: `base64` of their digits as a number in bytes, as numbers, or as texts.
Decimals = Literal["base64", "numeric", "string"]


@dataclass(frozen=True)
class DebeziumJson(ChangeDecoder):
    """Write a row or a change as a text of JSON.

    A row that is read from its table has `"op": "r"`, a change `c`, `u` or `d`, with the row before and the row after.

    Attributes:
        connector: The kind of database, as Debezium calls it: `mysql` or `postgresql`.
        name: Name of the source.
        decimals: How decimals are written.
    """

    connector: str
    name: str
    decimals: Decimals = "base64"

    @property
    def produced_type(self) -> TypeInformation:
        """Return the type of texts."""
        return Types.STRING()

    def records(self, block: RowBlock) -> list[str]:
        """Return a text for each row and each change.

        Raises:
            MalformedRecordError: A value is none of its type.
        """
        rows = self._rows(block)
        origin = self._origin(block)
        if block.kinds is None or block.times is None or block.positions is None:
            source = origin % '0,"snapshot":"false"'
            return [f'{{"before":null,"after":{row},"source":{source},"op":"r","ts_ms":0}}' for row in rows]
        found: list[str] = []
        before = "null"
        for kind, row, millis, position in zip(block.kinds, rows, block.times, block.positions, strict=True):
            if kind == _BEFORE:
                before = row
                continue
            operation = "d" if kind == _DELETE else "c" if kind == _INSERT else "u"
            old, new = (row, "null") if kind == _DELETE else (before, row)
            source = origin % f'{millis},"snapshot":"false"{self._place(position)}'
            found.append(f'{{"before":{old},"after":{new},"source":{source},"op":"{operation}","ts_ms":{millis}}}')
            before = "null"
        return found

    def _rows(self, block: RowBlock) -> Iterator[str]:
        columns = [self._texts(block, at) for at in range(len(block.names))]
        labels = [json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in block.names]
        shape = "{" + ",".join(f"{label}:%s" for label in labels) + "}"
        return (shape % row for row in zip(*columns, strict=True))

    def _texts(self, block: RowBlock, at: int) -> list[str]:
        column = block.columns[at]
        values = column if isinstance(column, list) else column.to_pylist()
        write = json_writer(block.types[at], self.decimals)
        value = None
        try:
            return ["null" if (value := each) is None else write(value) for each in values]
        except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError):
            reason = f"column {block.names[at]!r} is {block.types[at]} in the database"
            raise MalformedRecordError(f"table {block.table.path}", None, repr(value), reason) from None

    def _origin(self, block: RowBlock) -> str:
        """Return the field `source`, with a place for its time and later fields."""
        table = block.table
        schema = {"schema": table.schema} if table.schema else {}
        known = {"connector": self.connector, "name": self.name, "db": table.database, **schema, "table": table.name}
        text = json.dumps(known, ensure_ascii=False, separators=(",", ":")).replace("%", "%%")
        return f'{text[:-1]},"ts_ms":%s}}'

    @staticmethod
    def _place(position: Any) -> str:
        if isinstance(position, int):
            return f',"lsn":{position}'
        file, place = position
        return f',"file":{json.dumps(file)},"pos":{place}'


def json_writer(database_type: str, decimals: Decimals) -> Callable[[Any], str]:
    """Return the function that writes a value of the database as JSON.

    Args:
        database_type: The type of the column, as the database calls it.
        decimals: How decimals are written.
    """
    if database_type.endswith("[]"):
        element = json_writer(database_type.removesuffix("[]"), decimals)
        return lambda value: _array(parse_array(value, element))
    found, name = _DIGITS.search(database_type), _NOT_OF_NAMES.sub("", database_type)
    digits = int(found[1]) if found else None
    if name in ("numeric", "decimal"):
        return _DECIMALS[decimals]
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in ("timestamp", "datetime"):
        return _of_timestamps(database_type, digits)
    if name == "time":
        return json.dumps if "with time zone" in database_type else _micros_of_day
    if name in ("bit", "bit varying"):
        return _truth if digits in (None, 1) and name == "bit" else _bits
    return _WRITERS.get(name, _string)


def _array(elements: list[Any]) -> str:
    texts = ("null" if each is None else _array(each) if isinstance(each, list) else each for each in elements)
    return f"[{','.join(texts)}]"


def _string(value: Any) -> str:
    if isinstance(value, bytes):
        return _bytes(value)
    return json.dumps(value, ensure_ascii=False)


def _bytes(value: Any) -> str:
    if not isinstance(value, bytes):
        value = bytes.fromhex(value[2:]) if value.startswith("\\x") else value.encode()
    return f'"{base64.b64encode(value).decode()}"'


def _whole(value: Any) -> str:
    return str(int(value))


def _float(value: Any) -> str:
    number = float(value)
    if number - number == 0:
        return repr(number)
    return {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}[str(number)]


def _single(value: Any) -> str:
    """Return a number of 32 bits, as few digits as tell it from others."""
    import numpy as np

    return _float(str(np.float32(value)))


def _plain_number(value: str) -> str:
    number = decimal.Decimal(value)
    return format(number, "f") if number.is_finite() else json.dumps(value)


def _base64_of_digits(value: str) -> str:
    """Return the digits of a number as a number in bytes, two's complement; its scale is that of the column."""
    number = decimal.Decimal(value)
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return json.dumps(value)  # NaN, which has no digits
    unscaled = int("".join(map(str, digits))) * 10 ** max(exponent, 0) * (-1 if sign else 1)
    size = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return _bytes(unscaled.to_bytes(size, "big", signed=True))


def _boolean(value: str) -> str:
    return "true" if value in ("t", "true", "1") else "false"


def _days(value: str) -> str:
    return str(days_of_date(datetime.date.fromisoformat(value)))


def _truth(value: Any) -> str:
    return "true" if value in (b"\x01", "1") else "false"


def _bits(value: Any) -> str:
    """Return bits as bytes, of which the first one is the lowest."""
    if isinstance(value, bytes):
        return _bytes(value[::-1])
    return _bytes(int(value or "0", 2).to_bytes((len(value) + 7) // 8, "little"))


def _of_timestamps(database_type: str, digits: int | None) -> Callable[[str], str]:
    """Return the writer of timestamps: moments are texts, others milliseconds or microseconds since 1970."""
    is_of_postgres = database_type.endswith(" time zone")
    if "with time zone" in database_type or (database_type.startswith("timestamp") and not is_of_postgres):
        return _moment
    most = 6 if is_of_postgres else 0
    unit = datetime.timedelta(microseconds=1000 if (most if digits is None else digits) <= _MILLIS_DIGITS else 1)
    return lambda value: str((datetime.datetime.fromisoformat(value) - EPOCH) // unit)


def _micros_of_day(value: str) -> str:
    sign = -1 if value.startswith("-") else 1
    hours, minutes, seconds = value.lstrip("-").split(":")
    micros = (int(hours) * 3600 + int(minutes) * 60) * 1_000_000 + int(decimal.Decimal(seconds) * 1_000_000)
    return str(sign * micros)


def _moment(value: str) -> str:
    """Return a moment in UTC, such as `2026-01-31T12:00:00.5Z`."""
    at = datetime.datetime.fromisoformat(value)
    text = at.replace(tzinfo=None).isoformat()
    return f'"{text.rstrip("0") if "." in text else text}Z"'


_DECIMALS: dict[Decimals, Callable[[Any], str]] = {
    "base64": _base64_of_digits,
    "numeric": _plain_number,
    "string": json.dumps,
}
_NUMBERS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year"), _whole),
    **dict.fromkeys(("real", "double precision", "double"), _float),
    "float": _single,
}
_WRITERS: dict[str, Callable[[Any], str]] = {
    "boolean": _boolean,
    "date": _days,
    **dict.fromkeys(("bytea", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), _bytes),
}
