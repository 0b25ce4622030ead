"""Partitions: values in the names of directories, `day=2024-01-01/hour=1`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from scurry.errors import UnsupportedError
from scurry.sql import types
from scurry.sql.values.parsing import parse_date, parse_time, parse_timestamp
from scurry.sql.values.texts import date_text, nanos_of_timestamp, time_text, timestamp_text

#: characters that directory names escape, as Hive does
_ESCAPED = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{\\[\\]^]")


def partition_directory(values: Mapping[str, str | None], default: str) -> str:
    """Return the directory of a partition.

    Args:
        values: The text of each partition column, in order; None for NULL.
        default: The name for NULL and the empty text.
    """
    return "/".join(f"{_escape(key)}={_escape(value) if value else default}" for key, value in values.items())


def partition_of_path(path: str, base: str, default: str) -> dict[str, str | None]:
    """Return the texts that the directories of a file between the table's directory and the file give."""
    found: dict[str, str | None] = {}
    for part in path[len(base) :].split("/")[:-1]:
        key, equals, value = part.partition("=")
        if equals:
            text = unquote(value)
            found[unquote(key)] = None if text == default else text
    return found


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)


def partition_value(text: str | None, data_type: types.DataType) -> Any:
    """Return the value of a partition's text.

    Raises:
        ValueError: It is no such value.
    """
    if text is None:
        return None
    if isinstance(data_type, types.CharType | types.VarCharType):
        return text
    if isinstance(data_type, types.BooleanType):
        return text.lower() == "true"
    if isinstance(data_type, types.IntegralType):
        return int(text)
    if isinstance(data_type, types.FloatType | types.DoubleType):
        return float(text)
    if isinstance(data_type, types.DecimalType):
        import decimal

        return decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-data_type.scale))
    if isinstance(data_type, types.DateType):
        return parse_date(text)
    if isinstance(data_type, types.TimeType):
        return parse_time(text)
    if isinstance(data_type, types.TimestampType):
        unit = 1_000_000 if data_type.precision <= 3 else 1_000 if data_type.precision <= 6 else 1
        return parse_timestamp(text.replace("T", " "), False, False) // unit
    raise UnsupportedError(f"a partition column cannot be {data_type.as_summary_string()}")


def partition_text(value: Any, data_type: types.DataType) -> str | None:
    """Return the text of a value in the name of a directory, None for NULL."""
    if value is None:
        return None
    if isinstance(data_type, types.BooleanType):
        return "true" if value else "false"
    if isinstance(data_type, types.DateType):
        return date_text(value)
    if isinstance(data_type, types.TimeType):
        return time_text(value * 1_000_000)
    if isinstance(data_type, types.TimestampType | types.LocalZonedTimestampType):
        return timestamp_text(nanos_of_timestamp(value, data_type.precision))
    return str(value)
