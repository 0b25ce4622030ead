"""Convert the values of user state to JSON."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from scurry.common.types import Row

_DEEPEST = 50


def jsonable(value: Any, depth: int = 0) -> Any:
    """Convert a value to one that JSON can represent.

    Rows with field names, dataclasses and mappings become objects, other collections become arrays, bytes become base64
    text. Numbers that JSON lacks, and all other values, become text.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if depth >= _DEEPEST:
        return "..."
    return _collection(value, depth + 1)


def _collection(value: Any, depth: int) -> Any:
    if isinstance(value, Row):
        return _collection(value.as_dict() if value._fields is not None else list(value), depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), depth) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): jsonable(one, depth) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(one, depth) for one in value]
    return jsonable(str(value))
