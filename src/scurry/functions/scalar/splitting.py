"""Texts that become several: SPLIT, SPLIT_INDEX, STR_TO_MAP."""

from __future__ import annotations

from scurry.functions.definition import CallSite, ScalarFunction, Signature
from scurry.functions.java_regex import compiled, split_java
from scurry.functions.kernels import by_value
from scurry.functions.signatures import always, if_any_nullable, refuse, signature
from scurry.logical_types import (
    ArrayType,
    MapType,
    NullType,
)
from scurry.logical_types.families import CHARACTER, INTEGER, STRING

__all__ = ["FUNCTIONS"]


def split(text: str, separator: str) -> list[str]:
    """SPLIT: the parts between separators; the characters, if the separator is empty."""
    return text.split(separator) if separator else list(text)


def split_index(text: str, separator: str | int, index: int) -> str | None:
    """SPLIT_INDEX: the part of a number, from 0, between separators."""
    if isinstance(separator, int):
        if not 0 < separator <= 0x10FFFF:
            return None
        separator = chr(separator)
    parts = _split_by_whole_separator(text, separator)
    return parts[index] if 0 <= index < len(parts) else None


def _split_by_whole_separator(text: str, separator: str) -> list[str]:
    if not text:
        return []
    return text.split(separator) if separator else [part for part in text.split(" ") if part] or text.split()


def string_to_map(text: str, entries: str = ",", pairs: str = "=") -> list[tuple[str, str | None]]:
    """STR_TO_MAP: pairs of keys and values, separated by regular expressions."""
    if not text:
        return []
    found: dict[str, str | None] = {}
    for entry in split_java(compiled(entries), text):
        parts = split_java(compiled(pairs), entry, 2)
        found[parts[0]] = parts[1] if len(parts) > 1 else None
    return list(found.items())


def _infer_split_index(site: CallSite) -> Signature:
    shapes = ((*CHARACTER, NullType), (*CHARACTER, *INTEGER, NullType), (*INTEGER, NullType))
    if len(site.arguments) != 3 or not all(
        isinstance(each, shape) for each, shape in zip(site.types, shapes, strict=True)
    ):
        raise refuse(site, "'SPLIT_INDEX(<CHARACTER>, <CHARACTER>, <INTEGER>)'")
    return Signature(site.types, STRING)


FUNCTIONS = (
    ScalarFunction("SPLIT", signature([STRING, STRING], if_any_nullable(ArrayType(STRING))), by_value(split)),
    ScalarFunction("SPLIT_INDEX", _infer_split_index, by_value(split_index)),
    ScalarFunction(
        "STR_TO_MAP",
        signature([CHARACTER, CHARACTER, CHARACTER], always(MapType(STRING, STRING)), optional=2),
        by_value(string_to_map),
    ),
)
