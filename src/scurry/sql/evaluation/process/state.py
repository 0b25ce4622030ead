"""The state of a process table function: values of classes are kept by their fields, so that they evolve with them."""

from __future__ import annotations

import pickle
from typing import Any

from scurry.common.types import Row
from scurry.sql.functions.user.process import DeclaredState


def stored(value: Any) -> bytes:
    """Return a value of a state entry as bytes."""
    return pickle.dumps(_fields(value), 5)


def restored(kept: bytes, declared: DeclaredState) -> Any:
    """Return the value that was stored; fields that it did not have are those of a new one."""
    value, fields = declared.make(), pickle.loads(kept)
    if isinstance(value, Row):
        known = value.as_dict()
        for name, each in fields.items():
            if name in known:
                value[name] = each
    else:
        vars(value).update(fields)
    return value


def is_empty(value: Any, declared: DeclaredState) -> bool:
    """Return whether a value is that of a partition without state, which need not be kept."""
    return bool(_fields(value) == _fields(declared.make()))


def _fields(value: Any) -> Any:
    return value.as_dict() if isinstance(value, Row) else vars(value)
