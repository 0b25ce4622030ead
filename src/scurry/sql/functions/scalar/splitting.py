"""Texts that become several: SPLIT, SPLIT_INDEX, STR_TO_MAP."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.common._java_regex.patterns import compiled, split_java
from scurry.sql.functions.definition import CallSite, Column, Kernel, ScalarFunction, Signature
from scurry.sql.functions.kernels import by_value, refuse_bigint, value_kernel
from scurry.sql.functions.signatures import always, if_any_nullable, refuse, signature
from scurry.sql.types import ArrayType, DataType, MapType, NullType
from scurry.sql.types.families import CHARACTER, INTEGER, STRING
from scurry.sql.types.values import to_value


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


def _bind_split_index(site: CallSite, result_type: DataType) -> Kernel:
    refuse_bigint(site, 2)
    by_row = value_kernel(split_index, result_type)

    def kernel(columns: Sequence[Column], rows: int) -> Column:
        texts, *constants = columns
        if isinstance(texts, pa.Scalar) or not all(isinstance(each, pa.Scalar) and each.is_valid for each in constants):
            return by_row(columns, rows)
        separator, index = map(to_value, constants)
        if not isinstance(separator, str) or not separator or index < 0 or not pa.types.is_string(texts.type):
            return by_row(columns, rows)
        return _parts_at(texts, separator, index)

    return kernel


def _parts_at(texts: pa.Array, separator: str, index: int) -> pa.Array:
    """Return the result of `split_index` for each text, NULL of NULL."""
    parts = pc.split_pattern(texts, separator, max_splits=index + 1)
    offsets = parts.offsets.to_numpy().astype(np.int64)
    places = offsets[:-1] + index
    is_empty = np.asarray(pc.equal(texts, "").fill_null(True))  # a text without characters has no parts
    return parts.values.take(pa.array(places, mask=is_empty | (places >= offsets[1:])))


def _infer_split_index(site: CallSite) -> Signature:
    shapes = ((*CHARACTER, NullType), (*CHARACTER, *INTEGER, NullType), (*INTEGER, NullType))
    if len(site.arguments) != 3 or not all(
        isinstance(each, shape) for each, shape in zip(site.types, shapes, strict=True)
    ):
        raise refuse(site, "'SPLIT_INDEX(<CHARACTER>, <CHARACTER>, <INTEGER>)'")
    return Signature(site.types, STRING)


FUNCTIONS = (
    ScalarFunction("SPLIT", signature([STRING, STRING], if_any_nullable(ArrayType(STRING))), by_value(split)),
    ScalarFunction("SPLIT_INDEX", _infer_split_index, _bind_split_index),
    ScalarFunction(
        "STR_TO_MAP",
        signature([CHARACTER, CHARACTER, CHARACTER], always(MapType(STRING, STRING)), optional=2),
        by_value(string_to_map),
    ),
)
