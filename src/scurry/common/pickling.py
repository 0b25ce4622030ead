"""Pickle by value, for workers that cannot import the program's main module; load pickles of earlier releases."""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import io
import pickle
import sys
import weakref
from types import CodeType, FunctionType
from typing import Any, TypeVar

from scurry.common.recursion import deep_recursion

__all__ = ["Captured", "by_value", "loads", "of_functions"]

_Class = TypeVar("_Class", bound=type)

# The fields of a dataclass hold these sentinels and compare them by identity. Pickle them by name: copies would break a
# class pickled by value in the process that loads it and, if that process wrote it, the original, too.
copyreg.pickle(type(dataclasses.MISSING), lambda sentinel: "MISSING")
copyreg.pickle(type(dataclasses.KW_ONLY), lambda sentinel: "KW_ONLY")

#: The module under whose name earlier releases pickled its classes is a package now; `scurry._moved` has the others.
_MOVED = {
    "scurry.runtime.state.evolution": "scurry.runtime.state.evolution.values",
}


@deep_recursion()
def by_value(value: Any) -> bytes:
    """Return a value pickled so that plain pickle can load it in any process with the same packages.

    Functions keep their file names and lines. Loading it never changes a class of the program that pickled it, and
    functions' classes (`of_functions`) are new ones each time: their methods see the variables of their pickle.
    """
    file = io.BytesIO()
    _pickler()(file, 5).dump(value)
    return file.getvalue()


class Captured:
    """A value as it was when the program gave it: it unpickles to a copy of that, whatever became of the value since.

    Attributes:
        value: What the program gave.
    """

    def __init__(self, value: Any) -> None:
        """Pickle the value.

        Raises:
            Exception: It holds something that cannot be pickled.
        """
        self.value = value
        self._pickled = by_value(value)

    def copy(self) -> Any:
        """Return a new copy."""
        return pickle.loads(self._pickled)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickle.loads, (self._pickled,)


def of_functions(cls: _Class) -> _Class:
    """Mark a class of scurry whose subclasses are functions of programs: a loaded subclass is a class of its own."""
    cls._scurry_functions = True  # type: ignore[attr-defined]
    return cls


@functools.cache
def _pickler() -> Any:
    """Return cloudpickle's pickler, with changed functions that rebuild code and classes."""
    import cloudpickle
    from cloudpickle import cloudpickle as internals

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            if _is_plain(value):
                return NotImplemented
            if type(value) is CodeType:  # newer versions of cloudpickle leave the file name out
                make, arguments = internals._code_reduce(value)
                return (make, arguments) if value.co_filename in arguments else (_code, (arguments, value.co_filename))
            reduced = super().reducer_override(value)
            if isinstance(value, type) and isinstance(reduced, tuple) and len(reduced) == 6:
                make, arguments, state, *_ = reduced
                return _class, (make, arguments, _has_functions(value)), state, None, None, _set_class_state
            return reduced

    def _is_plain(value: Any) -> bool:
        """Return at once whether cloudpickle leaves a value to pickle, as it does with nearly all of them."""
        if not isinstance(value, (type, FunctionType)):
            return type(value) is not CodeType
        module = value.__module__
        if not isinstance(module, str) or module == "__main__" or internals._PICKLE_BY_VALUE_MODULES:
            return False
        return getattr(sys.modules.get(module), value.__qualname__, None) is value

    return Pickler


def _code(arguments: tuple[Any, ...], file: str) -> CodeType:
    return CodeType(*arguments).replace(co_filename=file)


def _has_functions(cls: type) -> bool:
    return getattr(cls, "_scurry_functions", False)


#: The classes that this process has made of pickles; those that the program has defined here are left as they are.
_loaded: weakref.WeakSet[type] = weakref.WeakSet()


def _class(make: Any, arguments: tuple[Any, ...], has_functions: bool) -> type:
    from cloudpickle import cloudpickle as internals

    *others, tracker, extra = arguments
    if has_functions:
        made: type = make(*others, None, extra)
    else:
        known: type | None = internals._DYNAMIC_CLASS_TRACKER_BY_ID.get(tracker)
        if known is not None:
            return known
        made = make(*arguments)
    _loaded.add(made)
    return made


def _set_class_state(cls: type, state: Any) -> type:
    from cloudpickle import cloudpickle as internals

    if cls in _loaded:
        internals._class_setstate(cls, state)
    return cls


def loads(pickled: bytes) -> Any:
    """Return a pickled value that a checkpoint or savepoint of an earlier release may contain."""
    return _Unpickler(io.BytesIO(pickled)).load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(_MOVED.get(module, module), name)
