"""values_of: the values of a record in the order of a file's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.common.types import Row
from scurry.errors import TypeMismatchError


def values_of(record: Any, names: tuple[str, ...]) -> Sequence[Any]:
    """Return the values of a row, tuple, list or dict in the order of the columns.

    Raises:
        TypeMismatchError: The record is none of these, or has another number of fields.
    """
    if isinstance(record, Row):
        values: Sequence[Any] = record.get_fields_by_names(names)
    elif isinstance(record, dict):
        values = [record[name] for name in names]
    elif isinstance(record, (tuple, list)):
        values = record
    else:
        raise TypeMismatchError(f"ROW<{', '.join(names)}>", record, "a file of columns needs rows")
    if len(values) != len(names):
        raise TypeMismatchError(f"ROW<{', '.join(names)}>", record, f"it has {len(values)} fields, not {len(names)}")
    return values
