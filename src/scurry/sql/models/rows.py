"""Results of classes and libraries of Python as rows of a model's output."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from scurry.common.types import Row as CommonRow
from scurry.errors import TypeMismatchError, ValidationError
from scurry.sql.models.contract import Row


def row_of(result: Any, names: Sequence[str]) -> Row:
    """Return the row that a result is.

    Args:
        result: A value if there is one column; else a tuple, a list, a Row, a mapping or a dataclass. None is NULL in
            all columns.

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


def imported(path: str, option: str) -> Any:
    """Return an object of a module.

    Args:
        path: Module and name: `package.module.Name`, or `package.module:Name`.
        option: The option that has the path.

    Raises:
        ValidationError: There is no such module, or it has no such object.
    """
    module, _, name = path.partition(":") if ":" in path else path.rpartition(".")
    if not module or not name:
        raise ValidationError(f"Cannot load '{option}' = '{path}': expected 'module.Name'")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        refused = ValidationError(f"Cannot load '{option}' = '{path}': {error}")
        raise refused.with_hint("add its file with add_python_file or python.files") from error
    except AttributeError as error:
        raise ValidationError(f"Cannot load '{option}' = '{path}': {error}") from error
    return found
