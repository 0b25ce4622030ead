"""Pickling by value: with the classes and functions of the program's main module, which workers cannot import."""

from __future__ import annotations

import copyreg
import dataclasses
from typing import Any

__all__ = ["by_value"]

# A dataclass that is pickled by value has these in its fields, where only the very same object counts. They are pickled
# by name: copies would break the class where it is loaded, and if that is the process that wrote it, the original, too.
copyreg.pickle(type(dataclasses.MISSING), lambda sentinel: "MISSING")
copyreg.pickle(type(dataclasses.KW_ONLY), lambda sentinel: "KW_ONLY")


def by_value(value: Any) -> bytes:
    """Return a value pickled for plain pickle to load in any process that has the same packages."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value, 5))
