"""Unpickle what earlier versions have pickled: modules have moved since."""

from __future__ import annotations

import io
import pickle
from typing import Any

#: Where a module was when checkpoints of the present layout were first written -> where it is now.
MOVED = {"scurry.runtime.savepoint.taking": "scurry.runtime.savepoint.metadata"}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        return super().find_class(MOVED.get(module_name, module_name), global_name)


def loads(content: bytes) -> Any:
    """Return what was pickled."""
    return _Unpickler(io.BytesIO(content)).load()
