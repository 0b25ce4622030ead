"""Convert a JSON schema to the type of a row."""

from __future__ import annotations

import json
from typing import Any

from scurry.common.typeinfo import TypeInformation, Types
from scurry.errors import ArgumentError, UnsupportedError

_STRING_FORMATS = {"date": Types.SQL_DATE, "time": Types.SQL_TIME, "date-time": Types.SQL_TIMESTAMP}
_SIMPLE = {"boolean": Types.BOOLEAN, "number": Types.BIG_DEC, "integer": Types.BIG_INT}


def type_info_of_schema(json_schema: str) -> TypeInformation:
    """Return the type information a JSON schema describes.

    Raises:
        ArgumentError: The text is not JSON, or not a JSON schema.
        UnsupportedError: It uses a part of JSON schema that has no type.
    """
    try:
        root = json.loads(json_schema)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"the JSON schema is no JSON: {error}") from None
    return _convert("<root>", root, root)


def _convert(where: str, node: Any, root: Any) -> TypeInformation:
    if not isinstance(node, dict):
        raise ArgumentError(f"JSON schema, {where}: expected an object, found {node!r}")
    if "$ref" in node:
        return _convert(where, _referenced(where, node["$ref"], root), root)
    if "type" not in node:
        raise UnsupportedError(f"JSON schema, {where}: needs a 'type' or a '$ref'; oneOf, allOf and anyOf have no type")
    kind = node["type"]
    if isinstance(kind, list):
        kinds = [k for k in kind if k != "null"]
        if len(kinds) != 1:
            raise UnsupportedError(f"JSON schema, {where}: a type besides null must be exactly one, found {kind}")
        kind = kinds[0]
    if kind in _SIMPLE:
        return _SIMPLE[kind]()
    if kind == "string":
        return _string(where, node)
    if kind == "object":
        properties = node.get("properties", {})
        types = [_convert(f"{where}/{name}", child, root) for name, child in properties.items()]
        return Types.ROW_NAMED(list(properties), types)
    if kind == "array":
        items = node.get("items")
        if isinstance(items, list):
            return Types.ROW([_convert(f"{where}[{i}]", item, root) for i, item in enumerate(items)])
        return Types.OBJECT_ARRAY(_convert(f"{where}[]", items, root))
    raise UnsupportedError(f"JSON schema, {where}: type {kind!r} has no type information")


def _string(where: str, node: dict[str, Any]) -> TypeInformation:
    if "contentEncoding" in node:
        if node["contentEncoding"] != "base64":
            raise UnsupportedError(f"JSON schema, {where}: contentEncoding must be base64")
        return Types.PRIMITIVE_ARRAY(Types.BYTE())
    return _STRING_FORMATS.get(node.get("format", ""), Types.STRING)()


def _referenced(where: str, reference: str, root: Any) -> Any:
    if not reference.startswith("#/"):
        raise UnsupportedError(
            f"JSON schema, {where}: only references within the schema (#/...) are known: {reference}"
        )
    found = root
    for part in reference[2:].split("/"):
        if not isinstance(found, dict) or part not in found:
            raise ArgumentError(f"JSON schema, {where}: there is nothing at {reference}")
        found = found[part]
    return found
