"""Conversion of rows and dicts for fastavro, with checks, because fastavro accepts many invalid values."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from scurry.common.types import Row
from scurry.connectors.avro.schema import AvroSchema, Node, logical_type, without_null
from scurry.errors import TypeMismatchError
from scurry.errors.suggestions import similar_name

Convert = Callable[[Any], Any]


def record_maker(schema: AvroSchema) -> Convert:
    """Return the function that converts a value of a schema for fastavro.

    Records are rows, dicts, tuples or lists; dicts may lack fields with a default. Timestamps without time zone are in
    UTC. In a union of several types, fastavro chooses the one that fits.

    Returns:
        A function that raises `TypeMismatchError` for a value that does not fit.
    """
    return RecordMaker(schema).maker()


class RecordMaker:
    """Build the function that `record_maker` returns."""

    def __init__(self, schema: AvroSchema) -> None:
        self.schema = schema
        self._records: dict[str, Convert] = {}

    def maker(self) -> Convert:
        """Return the function."""
        return self.convert(self.schema.parsed) or _same

    def convert(self, node: Node) -> Convert | None:
        """Return the function that converts a value of a type; None if no conversion or check is needed."""
        node = self.schema.resolve(node)
        kind = logical_type(node)
        if kind in ("record", "error"):
            return self._record(node)
        if kind == "union":
            only = without_null(node)
            if only is None:
                return self.union(node)
            convert = self.convert(only)
            return None if convert is None else lambda value: None if value is None else convert(value)
        if kind == "array":
            return _array(self.convert(node["items"]) or _same)
        if kind == "map":
            return self.mapping(self.convert(node["values"]) or _same)
        return self.scalar(kind, node)

    def union(self, node: Node) -> Convert:
        """Return the function that converts a value of a union of several types."""
        return plain

    def mapping(self, item: Convert) -> Convert:
        """Return the function that converts a map, given the function for its values."""
        return _map(item)

    def scalar(self, kind: str, node: Node) -> Convert | None:
        """Return the function that converts a scalar value; None if fastavro's check suffices."""
        return _SCALARS.get(kind)

    def _record(self, node: Node) -> Convert:
        records = self._records
        if node["name"] in records:  # a recursive record
            return lambda value: records[node["name"]](value)
        names = tuple(field["name"] for field in node["fields"])
        defaults = {field["name"]: field["default"] for field in node["fields"] if "default" in field}
        parts: list[tuple[str, Convert]] = []
        declared = f"Avro record {node['name']}"

        def convert(value: Any) -> dict[str, Any]:
            given = _fields(declared, names, defaults, value)
            try:
                if len(given) == len(names):
                    return {name: field(given[name]) for name, field in parts}
                return {name: field(given[name]) if name in given else defaults[name] for name, field in parts}
            except TypeMismatchError:
                for name, field in parts:
                    if name not in given:
                        continue
                    try:
                        field(given[name])
                    except TypeMismatchError as error:
                        reason = f"{error.reason}, in field {name!r} of the {declared}"
                        raise TypeMismatchError(error.declared, error.value, reason) from None
                raise

        records[node["name"]] = convert
        parts += [(field["name"], self.convert(field["type"]) or _same) for field in node["fields"]]
        defaults.update({name: field(defaults[name]) for name, field in parts if name in defaults})
        return convert


def _fields(declared: str, names: tuple[str, ...], defaults: dict[str, Any], value: Any) -> dict[str, Any]:
    if isinstance(value, Row) and value._fields is not None:
        value = dict(zip(value._fields, value._values, strict=True))
    if isinstance(value, dict):
        if value.keys() == set(names):
            return value
        for name in value.keys() - set(names):
            if name != "-type":  # fastavro's hint for the type in a union
                near = similar_name(str(name), names)
                hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(names)}"
                raise TypeMismatchError(declared, value, f"it has no field {name!r}{hint}")
        missing = [name for name in names if name not in value and name not in defaults]
        if missing:
            raise TypeMismatchError(declared, value, f"the fields {', '.join(missing)} are missing")
        return {name: field for name, field in value.items() if name != "-type"}
    if not isinstance(value, (Row, tuple, list)):
        raise TypeMismatchError(declared, value, "a record is a Row, dict, tuple or list")
    if len(value) != len(names):
        raise TypeMismatchError(declared, value, f"it has {len(names)} fields, not {len(value)}")
    return dict(zip(names, value, strict=True))


def _array(element: Convert) -> Convert:
    def convert(value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise TypeMismatchError("Avro array", value, "an array is a list or tuple")
        return [element(part) for part in value]

    return convert


def _map(item: Convert) -> Convert:
    def convert(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise TypeMismatchError("Avro map", value, "a map is a dict")
        return {key: item(part) for key, part in value.items()}

    return convert


def plain(value: Any) -> Any:
    """Convert a value of a union so that fastavro finds its type: rows become dicts."""
    if isinstance(value, Row) and value._fields is not None:
        return {name: plain(part) for name, part in zip(value._fields, value._values, strict=True)}
    if isinstance(value, datetime.datetime):
        return _timestamp(value)
    if isinstance(value, list):
        return [plain(part) for part in value]
    return {key: plain(part) for key, part in value.items()} if isinstance(value, dict) else value


def _same(value: Any) -> Any:
    return value


def _integer(kind: str, bits: int) -> Convert:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def convert(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise TypeMismatchError(f"Avro {kind}", value, f"an {kind} is an int of {bits} bits")

    return convert


def checked(kind: str, *classes: type) -> Convert:
    """Return a function that accepts only values of some classes."""

    def convert(value: Any) -> Any:
        if isinstance(value, classes):
            return value
        raise TypeMismatchError(f"Avro {kind}", value, f"it is a {classes[0].__name__}")

    return convert


def _binary(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    raise TypeMismatchError("Avro bytes", value, "they are bytes or a bytearray")


def _timestamp(value: Any) -> datetime.datetime:
    if not isinstance(value, datetime.datetime):
        raise TypeMismatchError("Avro timestamp", value, "it is a datetime")
    # fastavro would interpret a timestamp without time zone in the machine's
    return value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)


_SCALARS: dict[str, Convert] = {
    "boolean": checked("boolean", bool),
    "int": _integer("int", 32),
    "long": _integer("long", 64),
    "bytes": _binary,
    "fixed": _binary,
    "date": checked("date", datetime.date),
    "time-millis": checked("time", datetime.time),
    "time-micros": checked("time", datetime.time),
    "timestamp-millis": _timestamp,
    "timestamp-micros": _timestamp,
}
