"""PySpark on the driver without pandas, until a program uses that.

PySpark imports pandas, and Python's and its own tools for tests, with its first call to the JVM, to find out whether
an argument is NumPy's, and again with the first function over Arrow's batches, to check the version of pandas: a third
of a second of processor time, while the JVM starts, and 40 MB.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import sys
from collections.abc import Callable
from typing import Any

#: The first version of pandas that PySpark takes. That it warns of later ones is hidden (`session_for`).
_FIRST = (2, 2)


def leave_pandas_out() -> None:
    """Let PySpark import pandas where it is used, not where it is asked about; with another PySpark, do nothing."""
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    converter: Any
    for converter in (NumpyArrayConverter, NumpyScalarConverter):
        if not hasattr(converter.can_convert, "asked"):
            converter.can_convert = _only_with_numpy(converter.can_convert)
    functions: Any = importlib.import_module("pyspark.sql.pandas.functions")
    check = functions.require_minimum_pandas_version
    if not hasattr(check, "asked"):
        functions.require_minimum_pandas_version = _only_if_it_fails(check)


def _only_with_numpy(asked: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a converter's question for objects that may be NumPy's: those whose class is."""

    def can_convert(self: Any, obj: Any) -> bool:
        return any(each.__module__ == "numpy" for each in type(obj).__mro__) and asked(self, obj)

    can_convert.asked = asked  # type: ignore[attr-defined]
    return can_convert


def _only_if_it_fails(asked: Callable[[], None]) -> Callable[[], None]:
    """Return a check of the version of pandas that imports it only if it is to raise an error."""

    def require_minimum_pandas_version() -> None:
        if "pandas" in sys.modules or _installed() < _FIRST:
            asked()

    require_minimum_pandas_version.asked = asked  # type: ignore[attr-defined]
    return require_minimum_pandas_version


def _installed() -> tuple[int, ...]:
    """Return the version of pandas that is installed, or nothing."""
    try:
        version = importlib.metadata.version("pandas")
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
