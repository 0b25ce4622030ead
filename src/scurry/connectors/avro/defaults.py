"""Decoding of default values, which fastavro leaves as in JSON, with dates as numbers and bytes as texts."""

from __future__ import annotations

import io
from typing import Any

from scurry.connectors.avro.library import fastavro


def decode_defaults(named: dict[str, Any], raw: dict[str, Any]) -> None:
    """Replace all defaults in parsed schemas by the values that fastavro would read.

    Args:
        named: The records, enums and fixed types of a schema by name; modified in place.
        raw: The same types without logical types.
    """
    module = fastavro()
    for name, node in named.items():
        for field, below in zip(node.get("fields", ()), raw[name].get("fields", ()), strict=True):
            if "default" in field:
                stream = io.BytesIO()
                module.schemaless_writer(stream, whole(below["type"], raw), _raw(below["type"], field["default"], raw))
                stream.seek(0)
                field["default"] = module.schemaless_reader(stream, whole(field["type"], named))


def whole(node: Any, named: dict[str, Any]) -> Any:
    """Return a part of a parsed schema as a complete schema."""
    return fastavro().parse_schema(_forget_parsing(node, named, set()))


def _forget_parsing(node: Any, named: dict[str, Any], seen: set[str]) -> Any:
    if isinstance(node, list):
        return [_forget_parsing(part, named, seen) for part in node]
    if isinstance(node, str) and node in named and node not in seen:
        node = named[node]
    if not isinstance(node, dict):
        return node
    if "name" in node and "type" in node and node["type"] in ("record", "error", "enum", "fixed"):
        if node["name"] in seen:
            return node["name"]
        seen.add(node["name"])
    return {k: v if k == "default" else _forget_parsing(v, named, seen) for k, v in node.items() if k[:2] != "__"}


def _raw(node: Any, default: Any, named: dict[str, Any]) -> Any:
    """Return a default as a value to write: JSON has bytes as text, and a union's default is of its first type."""
    node = named.get(node, node) if isinstance(node, str) else node
    if isinstance(node, list):
        return _raw(node[0], default, named)
    kind = node["type"] if isinstance(node, dict) else node
    if kind in ("bytes", "fixed"):
        return default.encode("iso-8859-1")
    if kind == "array":
        return [_raw(node["items"], part, named) for part in default]
    if kind == "map":
        return {key: _raw(node["values"], part, named) for key, part in default.items()}
    if kind in ("record", "error"):
        given = {field["name"]: default.get(field["name"], field.get("default")) for field in node["fields"]}
        return {field["name"]: _raw(field["type"], given[field["name"]], named) for field in node["fields"]}
    return default
