"""Type objects and constructors of PEP 249."""

from __future__ import annotations

import datetime
import time

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Date",
    "DateFromTicks",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
]


class TypeObject:
    """Equal to the type codes of `Cursor.description` that belong to it: texts of SQL types."""

    def __init__(self, *roots: str) -> None:
        """Name the types, without precision and scale."""
        self._roots = frozenset(roots)

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, str) and other.partition("(")[0].strip() in self._roots)

    def __hash__(self) -> int:
        return hash(self._roots)

    def __repr__(self) -> str:
        return f"<types {', '.join(sorted(self._roots))}>"


#: Texts.
STRING = TypeObject("CHAR", "VARCHAR", "STRING")
#: Bytes.
BINARY = TypeObject("BINARY", "VARBINARY", "BYTES")
#: Numbers.
NUMBER = TypeObject("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")
#: Dates, times and points of time.
DATETIME = TypeObject("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")
#: No type is one of row identifiers.
ROWID = TypeObject()

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """Return the local date of a point of time, in seconds since 1970-01-01 00:00:00 UTC."""
    return datetime.date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    """Return the local time of day of a point of time, in seconds since 1970-01-01 00:00:00 UTC."""
    return datetime.time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """Return the local date and time of a point of time, in seconds since 1970-01-01 00:00:00 UTC."""
    return datetime.datetime(*time.localtime(ticks)[:6])
