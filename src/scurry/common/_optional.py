"""Packages that extras of scurry install."""

from __future__ import annotations

import importlib
from typing import Any

from scurry.errors import ExtraMissingError


def optional_module(user: str, package: str, extra: str, name: str, *below: str) -> Any:
    """Import a module of a package that may be missing.

    Args:
        user: The feature that needs it, for the error, as are the names of the package and the extra.
        below: Further modules, which importing it does not import.

    Raises:
        ExtraMissingError: It is not installed.
    """
    try:
        for each in below:
            importlib.import_module(each)
        return importlib.import_module(name)
    except ImportError as error:
        raise ExtraMissingError(
            f"{user} needs the package {package}: pip install 'scurry[{extra}]' ({error})"
        ) from error
