"""Pickle by value: include the classes and functions of the program's main module, which workers cannot import."""

from __future__ import annotations

import copyreg
import dataclasses
from typing import Any

__all__ = ["by_value"]

# The fields of a dataclass hold these sentinels and compare them by identity. Pickle them by name: copies would break a
# class pickled by value in the process that loads it and, if that process wrote it, the original, too.
copyreg.pickle(type(dataclasses.MISSING), lambda sentinel: "MISSING")
copyreg.pickle(type(dataclasses.KW_ONLY), lambda sentinel: "KW_ONLY")


def by_value(value: Any) -> bytes:
    """Return a value pickled so that plain pickle can load it in any process with the same packages."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value, 5))
