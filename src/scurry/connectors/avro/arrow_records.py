"""Conversion of Avro's records to Arrow tables, with the same checks as for Avro files."""

from __future__ import annotations

import io
import struct
from decimal import Decimal
from typing import Any

from scurry.connectors.avro.arrow_types import arrow_schema
from scurry.connectors.avro.library import fastavro
from scurry.connectors.avro.records import Convert, RecordMaker, checked, plain
from scurry.connectors.avro.schema import AvroSchema, Node, logical_type
from scurry.connectors.files.formats.columnar import Tables
from scurry.errors import TypeMismatchError

#: Metadata keys of parquet-avro in a Parquet file: the Avro schema, and the writer's name.
_METADATA_SCHEMA, _METADATA_MODEL = "parquet.avro.schema", "writer.model.name"


class AvroTables(Tables):
    """Convert records of a schema to tables.

    Args:
        schema: The schema of the records.

    Raises:
        UnsupportedError: Parquet files do not support the schema.
    """

    def __init__(self, schema: AvroSchema) -> None:
        """Derive the columns."""
        self.schema = arrow_schema(schema).with_metadata({_METADATA_SCHEMA: str(schema), _METADATA_MODEL: "avro"})
        self._made = _ArrowRecordMaker(schema).maker()

    def prepare(self, values: list[Any]) -> list[Any]:
        """Convert the records to dicts of values that Arrow takes.

        Raises:
            TypeMismatchError: A record does not fit the schema.
        """
        return list(map(self._made, values))

    def table(self, prepared: list[Any]) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist(prepared, schema=self.schema)


class _ArrowRecordMaker(RecordMaker):
    """Convert values for Arrow, and check them like fastavro, because Arrow is more tolerant."""

    def mapping(self, item: Convert) -> Convert:
        def convert(value: Any) -> list[tuple[str, Any]]:
            if not isinstance(value, dict):
                raise TypeMismatchError("Avro map", value, "a map is a dict")
            return [(_string(key), item(part)) for key, part in value.items()]

        return convert

    def union(self, node: Node) -> Convert:
        branches = [self.schema.resolve(branch) for branch in node]
        kinds = list(map(logical_type, branches))
        converts = [self.convert(branch) for branch in branches]
        members: list[str | None] = []
        for kind in kinds:
            members.append(None if kind == "null" else f"member{sum(name is not None for name in members)}")
        branch_of = _branch_finder(self.schema.part(node))

        def convert(value: Any) -> dict[str, Any] | None:
            index = branch_of(value)
            name, made = members[index], converts[index]
            if name is None:
                return None
            named = value[1] if isinstance(value, tuple) and kinds[index] != "array" else value
            return {name: named if made is None else made(named)}

        return convert

    def scalar(self, kind: str, node: Node) -> Convert | None:
        if kind == "enum":
            return _enum(frozenset(node["symbols"]))
        if kind == "fixed":
            return _fixed(node["size"])
        if kind == "decimal":
            return _decimal(node["precision"], node.get("scale", 0))
        return _SCALARS.get(kind) or super().scalar(kind, node)


def _branch_finder(union: Node) -> Any:
    """Return a function that returns the index of the type in a union that fastavro chooses for a value."""
    module = fastavro()

    def find(value: Any) -> int:
        stream = io.BytesIO()
        try:
            module.schemaless_writer(stream, union, plain(value))
        except Exception as error:
            raise TypeMismatchError("Avro union", value, str(error) or type(error).__name__) from None
        stream.seek(0)
        return int(module.schemaless_reader(stream, "long"))

    return find


def _enum(symbols: frozenset[str]) -> Convert:
    def convert(value: Any) -> Any:
        if isinstance(value, str) and value in symbols:
            return value
        raise TypeMismatchError("Avro enum", value, f"the symbols are {', '.join(sorted(symbols))}")

    return convert


def _fixed(size: int) -> Convert:
    def convert(value: Any) -> bytes:
        if isinstance(value, (bytes, bytearray)) and len(value) == size:
            return bytes(value)
        raise TypeMismatchError("Avro fixed", value, f"it is bytes or a bytearray, {size} long")

    return convert


def _decimal(precision: int, scale: int) -> Convert:
    def convert(value: Any) -> Decimal:
        if not isinstance(value, Decimal) or not value.is_finite():
            raise TypeMismatchError("Avro decimal", value, "it is a finite Decimal")
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        if -exponent > scale or (any(digits) and len(digits) + exponent > precision - scale):
            raise TypeMismatchError(
                "Avro decimal", value, f"it has at most {precision} digits, {scale} of them behind the point"
            )
        return value

    return convert


def _float(value: Any) -> Any:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except (struct.error, OverflowError) as error:
        raise TypeMismatchError("Avro float", value, str(error)) from None


def _double(value: Any) -> float:
    if not isinstance(value, (float, int)):
        raise TypeMismatchError("Avro double", value, "it is a float")
    try:
        return float(value)
    except OverflowError as error:
        raise TypeMismatchError("Avro double", value, str(error)) from None


_string = checked("string", str)
_SCALARS: dict[str, Convert] = {
    "string": _string,
    "float": _float,
    "double": _double,
    "null": checked("null", type(None)),
}
