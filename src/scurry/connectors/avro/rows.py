"""Conversion of fastavro's values to rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from scurry.common.types import Row
from scurry.connectors.avro.schema import AvroSchema, Node, logical_type, without_null

Convert = Callable[[Any], Any]


def row_reader(schema: AvroSchema) -> Convert:
    """Return the function that converts fastavro's dict of a record schema to a row.

    Values are those of the declared type (`row_type_of`), with microseconds; timestamps are in UTC, without time zone.
    """
    return _record(schema, schema.resolve(schema.parsed))


def _record(schema: AvroSchema, node: Node) -> Convert:
    names = tuple(field["name"] for field in node["fields"])
    fields = [_convert(schema, field["type"]) for field in node["fields"]]
    if not any(fields):
        return lambda record: Row._from_values([record[name] for name in names], names)
    parts = [(name, field or _same) for name, field in zip(names, fields, strict=True)]
    return lambda record: Row._from_values([field(record[name]) for name, field in parts], names)


def _convert(schema: AvroSchema, node: Node) -> Convert | None:
    """Return the function that converts the value of a field, which may be None; None if no conversion is needed."""
    node = schema.resolve(node)
    kind = logical_type(node)
    if kind == "union":
        only = without_null(node)
        convert = None if only is None else _convert(schema, only)
        return None if convert is None else lambda value: None if value is None else convert(value)
    if kind in ("record", "error"):
        return _record(schema, node)
    if kind == "array":
        element = _convert(schema, node["items"])
        return None if element is None else lambda values: [element(value) for value in values]
    if kind == "map":
        item = _convert(schema, node["values"])
        return None if item is None else lambda entries: {key: item(value) for key, value in entries.items()}
    return _SCALARS.get(kind)


def _same(value: Any) -> Any:
    return value


def _utc(value: datetime.datetime) -> datetime.datetime:
    return value.replace(tzinfo=None)


_SCALARS: dict[str, Convert] = {"timestamp-millis": _utc, "timestamp-micros": _utc}
