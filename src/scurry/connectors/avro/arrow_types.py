"""Conversion of Avro's types to Arrow's, with the layout of parquet-avro's AvroSchemaConverter."""

from __future__ import annotations

from typing import Any

from scurry.connectors.avro.schema import AvroSchema, Node, logical_type
from scurry.errors import UnsupportedError

_ARROW = {
    "boolean": "bool",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
    "date": "date32",
    "time-millis": "time32[ms]",
    "time-micros": "time64[us]",
}
_NARROW_BYTES, _WIDE_BYTES = 16, 32


def arrow_schema(schema: AvroSchema) -> Any:
    """Return the columns of a record schema, as a `pyarrow.Schema`.

    Raises:
        UnsupportedError: The schema is not that of a record, or has a type that Parquet files do not support.
    """
    import pyarrow as pa

    root = schema.resolve(schema.parsed)
    if logical_type(root) != "record":
        raise UnsupportedError(f"only records of Avro can be in Parquet files, not {schema}; wrap it in a record")
    return pa.schema(list(arrow_type(schema, root)))


def arrow_type(schema: AvroSchema, node: Node, within: tuple[str, ...] = ()) -> Any:
    """Return the `pyarrow.DataType` of a type in a schema.

    Args:
        schema: The schema.
        node: The type.
        within: The names of the enclosing records.

    Raises:
        UnsupportedError: Parquet files do not support it.
    """
    import pyarrow as pa

    node = schema.resolve(node)
    kind = logical_type(node)
    if kind in ("record", "error"):
        return _struct(schema, node, within)
    if kind == "array":
        return pa.list_(_field(schema, "element", node["items"], within))
    if kind == "map":
        return pa.map_(pa.string(), _field(schema, "value", node["values"], within))
    if kind == "union":
        types = [arrow_type(schema, branch, within) for branch in branches(schema, node) or ["null"]]
        return types[0] if len(types) == 1 else pa.struct([(f"member{i}", each) for i, each in enumerate(types)])
    if kind == "fixed":
        return pa.binary(node["size"])
    if kind == "decimal":
        return _decimal(node)
    if kind in ("timestamp-millis", "timestamp-micros"):
        return pa.timestamp("ms" if kind == "timestamp-millis" else "us", tz="UTC")
    if kind == "null":
        raise UnsupportedError("Parquet files cannot hold the Avro type null in arrays, maps and unions")
    return pa.type_for_alias(_ARROW[kind])


def branches(schema: AvroSchema, union: list[Node]) -> list[Node]:
    """Return the types in a union other than null."""
    return [node for node in map(schema.resolve, union) if logical_type(node) != "null"]


def is_nullable(schema: AvroSchema, node: Node) -> bool:
    """Return whether a type includes null."""
    node = schema.resolve(node)
    return (
        any(is_nullable(schema, branch) for branch in node) if isinstance(node, list) else logical_type(node) == "null"
    )


def _field(schema: AvroSchema, name: str, node: Node, within: tuple[str, ...]) -> Any:
    import pyarrow as pa

    return pa.field(name, arrow_type(schema, node, within), nullable=is_nullable(schema, node))


def _struct(schema: AvroSchema, node: Node, within: tuple[str, ...]) -> Any:
    """Return the columns of a record; those of type null are omitted, as in parquet-avro."""
    import pyarrow as pa

    if node["name"] in within:
        raise UnsupportedError(
            f"the Avro record {node['name']} contains itself, which Parquet files cannot; use Avro files"
        )
    below = (*within, node["name"])
    fields = [field for field in node["fields"] if schema.resolve(field["type"]) != "null"]
    if not fields:
        raise UnsupportedError(f"the Avro record {node['name']} has no fields to be columns of a Parquet file; add one")
    return pa.struct([_field(schema, field["name"], field["type"], below) for field in fields])


def _decimal(node: Node) -> Any:
    """Return a decimal type of the declared precision; for a fixed, one whose size in bytes is that of the fixed."""
    import pyarrow as pa

    digits, size = node["precision"], node.get("size", 0)
    if size and _decimal_bytes(digits) != size:
        digits = len(str((1 << 8 * size - 1) - 1)) - 1
    if _decimal_bytes(digits) > _WIDE_BYTES:
        raise UnsupportedError(
            f"the Avro decimal of precision {node['precision']} is wider than the {_WIDE_BYTES} bytes that can be "
            "written to Parquet files; use a smaller one, or bytes"
        )
    make = pa.decimal128 if _decimal_bytes(digits) <= _NARROW_BYTES else pa.decimal256
    return make(digits, node.get("scale", 0))


def _decimal_bytes(digits: int) -> int:
    """Return the bytes that signed numbers of this many decimal digits need."""
    return (int(10**digits - 1).bit_length() + 8) // 8
