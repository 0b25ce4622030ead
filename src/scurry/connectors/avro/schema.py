"""AvroSchema: Avro schemas, and the declared types of their values."""

from __future__ import annotations

import functools
import json
from typing import Any, TypeAlias

from scurry.common.typeinfo import MapTypeInfo, ObjectArrayTypeInfo, RowTypeInfo, TypeInformation, Types
from scurry.connectors.avro.defaults import decode_defaults, whole
from scurry.connectors.avro.library import fastavro
from scurry.errors import ArgumentError, ArgumentTypeError, SourceNotFoundError, UnsupportedError

#: A type in a parsed schema: a name, a union's list of types, or a dict.
Node: TypeAlias = Any

_SIMPLE: dict[str, TypeInformation] = {
    "null": Types.PICKLED_BYTE_ARRAY(),
    "boolean": Types.BOOLEAN(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "bytes": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "string": Types.STRING(),
    "enum": Types.STRING(),
}
_LOGICAL: dict[str, TypeInformation] = {
    "date": Types.SQL_DATE(),
    "time-millis": Types.SQL_TIME(),
    "time-micros": Types.SQL_TIME(),
    "timestamp-millis": Types.SQL_TIMESTAMP(),
    "timestamp-micros": Types.SQL_TIMESTAMP(),
    "decimal": Types.BIG_DEC(),
}


class AvroSchema:
    """An Avro schema, created by `parse_string` or `parse_file`. Schemas with equal JSON are equal."""

    def __init__(self, json_schema: str) -> None:
        """Parse a schema.

        Args:
            json_schema: Its JSON.

        Raises:
            ArgumentTypeError: The argument is not a text.
            ArgumentError: The text is not a valid schema.
            ExtraMissingError: The package fastavro is missing.
        """
        if not isinstance(json_schema, str):
            raise ArgumentTypeError(f"an Avro schema is given as the text of its JSON, got {json_schema!r}")
        try:
            self._text = json.dumps(json.loads(json_schema), separators=(",", ":"), ensure_ascii=False)
        except ValueError as error:
            raise ArgumentError(f"the Avro schema is no JSON: {error}") from None
        self._parsed, self._named = _parsed(self._text, fastavro())

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """Return the schema in a text.

        Raises:
            ArgumentTypeError: The argument is not a text.
            ArgumentError: It does not contain a valid schema.
            ExtraMissingError: The package fastavro is missing.
        """
        return AvroSchema(json_schema)

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """Return the schema in a file.

        Raises:
            SourceNotFoundError: There is no such file.
            ArgumentError: It does not contain a valid schema.
            ExtraMissingError: The package fastavro is missing.
        """
        try:
            with open(file_path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            raise SourceNotFoundError(f"there is no Avro schema {file_path!r}") from None
        return AvroSchema(text)

    @property
    def parsed(self) -> Node:
        """The schema as parsed by fastavro."""
        return self._parsed

    @property
    def mutable_defaults(self) -> bool:
        """Return whether a field's default is a list or dict, which records must not share."""
        fields = (field for node in self._named.values() for field in node.get("fields", ()))
        return any(isinstance(field.get("default"), (list, dict)) for field in fields)

    def resolve(self, node: Node) -> Node:
        """Return the type of a node; the name of a record, enum or fixed is replaced by its definition."""
        return self._named.get(node, node) if isinstance(node, str) else node

    def part(self, node: Node) -> Node:
        """Return a type within the schema as a complete schema for fastavro."""
        return whole(node, self._named)

    def __str__(self) -> str:
        """Return the schema's JSON."""
        return self._text

    def __repr__(self) -> str:
        """Return a text with the schema's JSON."""
        return f"AvroSchema({self._text})"

    def __eq__(self, other: object) -> bool:
        """Compare the JSON."""
        return isinstance(other, AvroSchema) and self._text == other._text

    def __hash__(self) -> int:
        """Hash the JSON."""
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the JSON."""
        return AvroSchema, (self._text,)


@functools.lru_cache(maxsize=1024)
def _parsed(text: str, module: Any) -> tuple[Node, dict[str, Node]]:
    named: dict[str, Node] = {}
    raw: dict[str, Node] = {}
    try:
        parsed = module.parse_schema(_with_logical_types(json.loads(text), set(_LOGICAL)), named_schemas=named)
        module.parse_schema(_with_logical_types(json.loads(text), set()), named_schemas=raw)
        decode_defaults(named, raw)
    except (module.schema.SchemaParseException, module.schema.UnknownType, KeyError, TypeError, ValueError) as error:
        reason = f"unknown type {error.name!r}" if isinstance(error, module.schema.UnknownType) else str(error)
        raise ArgumentError(f"no Avro schema: {reason}, in {text[:200]}") from None
    return parsed, named


def _with_logical_types(node: Node, known: set[str]) -> Node:
    """Remove unsupported logical types; their values are those of the underlying type."""
    if isinstance(node, list):
        return [_with_logical_types(part, known) for part in node]
    if not isinstance(node, dict):
        return node
    left = {k: v if k == "default" else _with_logical_types(v, known) for k, v in node.items()}
    if left.get("logicalType") not in known:
        left.pop("logicalType", None)
    return left


def logical_type(node: Node) -> str:
    """Return the logical type of a resolved type if it has one, else its type; "union" for unions."""
    if isinstance(node, list):
        return "union"
    return str(node.get("logicalType") or node["type"]) if isinstance(node, dict) else str(node)


def without_null(union: list[Node]) -> Node | None:
    """Return the only type in a union other than null, or None if there are several."""
    others = [node for node in union if node != "null"]
    return others[0] if len(others) == 1 else None


def row_type_of(schema: AvroSchema) -> RowTypeInfo:
    """Return the declared type of rows with the fields of a record schema; Flink's `AvroSchemaConverter`.

    Raises:
        UnsupportedError: The schema is not that of a record, or the record contains itself.
    """
    root = schema.resolve(schema.parsed)
    if logical_type(root) != "record":
        raise UnsupportedError(f"only records of Avro can be rows, not {schema}; wrap it in a record")
    declared = _type_info(schema, root, ())
    assert isinstance(declared, RowTypeInfo)
    return declared


def _type_info(schema: AvroSchema, node: Node, within: tuple[str, ...]) -> TypeInformation:
    node = schema.resolve(node)
    kind = logical_type(node)
    if kind in ("record", "error"):
        if node["name"] in within:
            raise UnsupportedError(
                f"the Avro record {node['name']} contains itself, which no type of rows can; read it as a dict, with "
                "AvroDeserializationSchema.for_generic"
            )
        below = (*within, node["name"])
        types = [_type_info(schema, field["type"], below) for field in node["fields"]]
        return Types.ROW_NAMED([field["name"] for field in node["fields"]], types)
    if kind == "array":
        element = _type_info(schema, node["items"], within)
        return Types.BASIC_ARRAY(element) if element == Types.STRING() else ObjectArrayTypeInfo(element)
    if kind == "map":
        return MapTypeInfo(Types.STRING(), _type_info(schema, node["values"], within))
    if kind == "union":
        only = without_null(node)
        return Types.PICKLED_BYTE_ARRAY() if only is None else _type_info(schema, only, within)
    return _LOGICAL.get(kind) or _SIMPLE[kind]
