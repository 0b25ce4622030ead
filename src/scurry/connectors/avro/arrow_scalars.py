"""Conversion of Arrow's scalar values to Avro's."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._epoch import EPOCH_UTC
from scurry.common.nullable import nullable
from scurry.connectors.avro.schema import Node

Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class ScalarReader:
    """The conversion of a type.

    Attributes:
        convert: Converts Arrow's Python value, which may be None; None if the values are the same.
    """

    convert: Convert | None = None


def scalar_reader(kind: str, node: Node, arrow: Any) -> ScalarReader | None:
    """Return the conversion from an Arrow type to an Avro type, or None if Avro lacks the type.

    Args:
        kind: Avro's type or logical type.
        node: The type in a parsed schema.
        arrow: A `pyarrow.DataType`.
    """
    import pyarrow as pa

    types = pa.types
    if kind == "enum":
        return _text(arrow, _symbol(node)) if _is_text(arrow) or _is_binary(arrow) else None
    if kind == "fixed":
        return _SAME if types.is_fixed_size_binary(arrow) and arrow.byte_width == node["size"] else None
    if kind == "decimal":
        return _SAME if types.is_decimal(arrow) and arrow.scale == node.get("scale", 0) else None
    if kind == "string":
        return _text(arrow, None)
    if kind == "bytes":
        if _is_text(arrow):
            return ScalarReader(nullable(str.encode))
        return _SAME if _is_binary(arrow) or types.is_fixed_size_binary(arrow) else None
    if kind in ("float", "double"):
        if types.is_integer(arrow):
            return ScalarReader(nullable(float))
        return _SAME if types.is_floating(arrow) and arrow.bit_width <= _BITS[kind] else None
    if kind in ("int", "long"):
        return _integer(kind, arrow)
    if kind in ("time-millis", "time-micros"):
        return _SAME if types.is_time(arrow) and arrow.unit != "ns" else None
    if kind in ("timestamp-millis", "timestamp-micros"):
        return _timestamp(arrow)
    same = {"boolean": types.is_boolean, "date": types.is_date32, "null": types.is_null}[kind]
    return _SAME if same(arrow) else None


_SAME = ScalarReader()
_BITS = {"int": 32, "long": 64, "float": 32, "double": 64}


def _is_text(arrow: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow))


def _is_binary(arrow: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(arrow) or pa.types.is_large_binary(arrow))


def _text(arrow: Any, convert: Convert | None) -> ScalarReader | None:
    if _is_text(arrow):
        return _SAME if convert is None else ScalarReader(nullable(convert))
    if _is_binary(arrow):
        return ScalarReader(nullable(bytes.decode if convert is None else lambda value: convert(value.decode())))
    return None


def _symbol(node: Node) -> Convert:
    symbols, default = frozenset(node["symbols"]), node.get("default")

    def convert(value: str) -> str:
        if value in symbols:
            return value
        if default is None:
            raise ValueError(f"{value!r} is no symbol of the enum {node['name']}, which has no default")
        return str(default)

    return convert


def _integer(kind: str, arrow: Any) -> ScalarReader | None:
    import pyarrow as pa

    if pa.types.is_timestamp(arrow) and kind == "long" and arrow.unit in _TICKS:
        return ScalarReader(nullable(_ticks(_TICKS[arrow.unit])))  # local-timestamp-*, which is read as a long
    if not pa.types.is_integer(arrow):
        return None
    bits = arrow.bit_width + pa.types.is_unsigned_integer(arrow)
    return _SAME if bits <= _BITS[kind] else None


def _ticks(step: datetime.timedelta) -> Convert:
    return lambda value: (value.replace(tzinfo=datetime.UTC) - EPOCH_UTC) // step


_TICKS = {"ms": datetime.timedelta(milliseconds=1), "us": datetime.timedelta(microseconds=1)}


def _timestamp(arrow: Any) -> ScalarReader | None:
    import pyarrow as pa

    if not pa.types.is_timestamp(arrow) or arrow.unit == "ns":
        return None
    if arrow.tz in (None, "UTC"):
        return ScalarReader(nullable(lambda value: value.replace(tzinfo=datetime.UTC)))
    return ScalarReader(nullable(lambda value: value.astimezone(datetime.UTC)))
