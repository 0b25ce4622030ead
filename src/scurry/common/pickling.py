"""Pickle by value, for workers that cannot import the program's main module; load pickles of earlier releases."""

from __future__ import annotations

import copyreg
import dataclasses
import io
import pickle
from typing import Any

from scurry.common.recursion import deep_recursion

__all__ = ["by_value", "loads"]

# The fields of a dataclass hold these sentinels and compare them by identity. Pickle them by name: copies would break a
# class pickled by value in the process that loads it and, if that process wrote it, the original, too.
copyreg.pickle(type(dataclasses.MISSING), lambda sentinel: "MISSING")
copyreg.pickle(type(dataclasses.KW_ONLY), lambda sentinel: "KW_ONLY")

#: Modules by the names under which earlier releases pickled their classes.
_MOVED = {
    "scurry.common._basic_typeinfo": "scurry.common._types.basic_typeinfo",
    "scurry.common._composite_typeinfo": "scurry.common._types.composite_typeinfo",
    "scurry.connectors.files.csv_format": "scurry.connectors.files.formats.csv.format",
    "scurry.connectors.files.csv_schema": "scurry.connectors.files.formats.csv.schema",
    "scurry.connectors.files.column_types": "scurry.connectors.files.formats.column_types",
    "scurry.connectors.files.message_lines": "scurry.connectors.files.formats.message_lines",
    "scurry.connectors.files.orc": "scurry.connectors.files.formats.orc",
    "scurry.connectors.files.parquet": "scurry.connectors.files.formats.parquet",
    "scurry.connectors.files.source": "scurry.connectors.files.reading.source",
    "scurry.connectors.files.text": "scurry.connectors.files.formats.stream",
    "scurry.runtime.savepoint.migration": "scurry.runtime.state.evolution.job",
    "scurry.runtime.savepoint.taking": "scurry.runtime.savepoint.metadata",
    "scurry.runtime.state.class_changes": "scurry.runtime.state.evolution.class_changes",
    "scurry.runtime.state.classes": "scurry.runtime.state.evolution.classes",
    "scurry.runtime.state.evolution": "scurry.runtime.state.evolution.values",
    "scurry.runtime.state.migration": "scurry.runtime.state.evolution.operator",
}


@deep_recursion()
def by_value(value: Any) -> bytes:
    """Return a value pickled so that plain pickle can load it in any process with the same packages."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value, 5))


def loads(pickled: bytes) -> Any:
    """Return a pickled value that a checkpoint or savepoint of an earlier release may contain."""
    return _Unpickler(io.BytesIO(pickled)).load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(_MOVED.get(module, module), name)
