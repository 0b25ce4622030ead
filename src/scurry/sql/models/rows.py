"""Results of classes and libraries of Python as rows of a model's output."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from scurry.common.types import Row as CommonRow
from scurry.errors import TypeMismatchError
from scurry.sql.models.contract import Row


def row_of(result: Any, names: Sequence[str]) -> Row:
    """Return the row that a result is.

    Args:
        result: A value if there is one column; else a tuple, a list, a Row, a mapping or a dataclass. None is NULL in
            all columns.
        names: The columns.

    Raises:
        TypeMismatchError: It has more or fewer values than there are columns.
    """
    if result is None:
        return (None,) * len(names)
    if isinstance(result, Mapping) and set(names) >= set(result) and (len(names) > 1 or names[0] in result):
        return tuple(result.get(name) for name in names)
    if len(names) == 1:
        return tuple(result) if isinstance(result, CommonRow) and len(result) == 1 else (result,)
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        found: tuple[Any, ...] = tuple(getattr(result, each.name) for each in dataclasses.fields(result))
    else:
        found = tuple(result) if isinstance(result, tuple | list | CommonRow) else (result,)
    if len(found) != len(names):
        raise TypeMismatchError(
            f"ROW<{', '.join(names)}>", result, f"the model has {len(names)} output columns, the result {len(found)}"
        )
    return found
