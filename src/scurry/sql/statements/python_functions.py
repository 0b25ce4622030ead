"""Functions that CREATE FUNCTION ... LANGUAGE PYTHON names: imported when a query calls them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from scurry.errors import UnsupportedError, ValidationError
from scurry.graph.dependencies import JobDependencies
from scurry.sql.catalog.entries import CatalogFunction
from scurry.sql.functions.user.definition import UserFunction


def loaded(registered: CatalogFunction, name: str, settings: Mapping[str, str]) -> UserFunction:
    """Return a function that is registered.

    Args:
        registered: The catalog's entry.
        settings: The settings of the session: its module may be in `python.files`.

    Raises:
        ConfigError: A file of the settings does not exist.
        UnsupportedError: It is one of Java or Scala.
        ValidationError: Its module cannot be imported, or has no such function.
    """
    if registered.function is not None:
        found: UserFunction = registered.function
        return found
    if registered.language != "PYTHON":
        raise UnsupportedError(
            f"function {name} is the class {registered.class_name} in {registered.language.title()}: scurry runs "
            "functions in Python only: CREATE FUNCTION ... AS 'module.name' LANGUAGE PYTHON"
        )
    JobDependencies(settings).import_files()
    return _imported(registered.class_name, name)


def _imported(path: str, name: str) -> UserFunction:
    module, _, attribute = path.rpartition(".")
    if not module:
        raise ValidationError(f"Cannot load Python function '{path}' for {name}: expected 'module.name'")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        hint = "" if error.name != module.partition(".")[0] else ": add its file with add_python_file or python.files"
        raise ValidationError(f"Cannot load Python function '{path}' for {name}: {error}{hint}") from error
    except AttributeError as error:
        raise ValidationError(
            f"Cannot load Python function '{path}' for {name}: module '{module}' has no '{attribute}'"
        ) from error
    make = getattr(found, "_user_function", None)
    if make is None:
        raise ValidationError(
            f"Cannot load Python function '{path}' for {name}: it is {found!r}, not the result of udf(), udtf() or "
            "udaf()"
        )
    function: UserFunction = make()
    return function
