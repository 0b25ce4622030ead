"""Loading of objects of modules, which the options of models name."""

from __future__ import annotations

import importlib
from typing import Any

from scurry.errors import ValidationError


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
