"""Dataclasses that generate their methods when these are first used, not when the module is imported.

`dataclasses` compiles five methods for each class, half a millisecond in all. A small program imports hundreds of
classes and uses tens, so that this was a third of its start. Otherwise nothing differs from the standard library.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Make a dataclass; the same as `dataclasses.dataclass`.

        Args:
            cls: The class, where the decorator has no parentheses.
            options: Those of `dataclasses.dataclass`.
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        if options.keys() - _DEFERRABLE or sys.version_info >= (3, 14):
            # slots make another class; the rest is rare; annotations are evaluated when asked for since 3.14
            return dataclasses.dataclass(cls, **options)
        _Pending(cls, options).install()
        return cls


_DEFERRABLE = {"init", "repr", "eq", "frozen", "kw_only"}
#: The attributes that `dataclasses` adds to a class, besides what a frozen one refuses.
_GENERATED = ["__init__", "__repr__", "__eq__", "__match_args__", "__dataclass_fields__", "__dataclass_params__"]
if sys.version_info >= (3, 13):
    _GENERATED.append("__replace__")
#: The options that make a method; all make the others.
_OPTIONS: dict[str, set[str]] = {
    "__init__": {"init"},
    "__repr__": {"repr"},
    "__eq__": {"eq"},
    "__hash__": {"eq"},
    "__dataclass_fields__": set(),
}
_COMPILING = ("init", "repr", "eq", "match_args")
#: Methods that are others in frozen classes.
_OF_FROZEN = {"__init__", "__hash__"}
_MADE_WITH = {name: {name, "__dataclass_fields__"} for name in _OPTIONS}
#: One for all classes: completing one completes those that it derives from.
_COMPLETING = threading.RLock()


class _Pending:
    """A class whose methods are not generated yet."""

    def __init__(self, cls: type, options: dict[str, bool]) -> None:
        self._cls = cls
        self._options = options
        self._body = dict(cls.__dict__)
        self._deferred: list[str] = []

    def install(self) -> None:
        """Put stand-ins for the methods into the class."""
        cls, body, options = self._cls, self._body, self._options
        names = [name for name in _GENERATED if name not in body and options.get(name.strip("_"), True)]
        if options.get("eq", True) and body.get("__hash__") is None:
            if options.get("frozen"):
                names.append("__hash__")
            else:
                cls.__hash__ = None  # type: ignore[assignment]
        if not body.get("__doc__"):
            names.append("__doc__")
        self._deferred = names
        for name in names:
            setattr(cls, name, _Deferred(self, name))
        if options.get("frozen"):
            self._refuse_changes()
        for name, value in body.items():
            if isinstance(value, dataclasses.Field):
                if name not in body.get("__annotations__", {}):
                    raise TypeError(f"{name!r} is a field but has no type annotation")
                if value.default is dataclasses.MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, value.default)

    def _refuse_changes(self) -> None:
        """Give a frozen class its two methods, which need not be compiled."""
        cls: Any = self._cls
        if "__setattr__" in self._body or "__delattr__" in self._body:
            raise TypeError(f"{cls.__name__} is frozen and has a __setattr__ or __delattr__ of its own")

        def refuse_assignment(self: Any, name: str, value: Any) -> None:
            if type(self) is cls or name in cls.__dataclass_fields__:
                raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def refuse_deletion(self: Any, name: str) -> None:
            if type(self) is cls or name in cls.__dataclass_fields__:
                raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        cls.__setattr__ = refuse_assignment
        cls.__delattr__ = refuse_deletion

    def complete(self, wanted: str) -> None:
        """Generate a method, and put it in the place of its stand-in.

        It is made on a twin: other threads never see the class without it.
        """
        with _COMPLETING:
            if wanted not in self._deferred:
                return
            cls, options = self._cls, self._options
            if wanted in _OPTIONS:
                options = {option: options.get(option, True) and option in _OPTIONS[wanted] for option in _COMPILING}
                options["frozen"] = wanted in _OF_FROZEN and self._options.get("frozen", False)
                options["kw_only"] = self._options.get("kw_only", False)
            inherited: dict[str, Any] = {}
            for base in cls.__mro__[-1:0:-1]:
                inherited |= getattr(base, "__dataclass_fields__", {})
            bases: tuple[type, ...] = ()
            if inherited:
                params = types.SimpleNamespace(frozen=options.get("frozen", False))
                bases = (type("Bases", (), {"__dataclass_fields__": inherited, "__dataclass_params__": params}),)
            body = self._twin_body()
            if wanted in _OPTIONS:
                body["__doc__"] = "-"  # the one that there would be without it takes long
            twin: type = dataclasses.dataclass(type(cls.__name__, bases, body), **options)
            for name in [name for name in self._deferred if wanted not in _OPTIONS or name in _MADE_WITH[wanted]]:
                setattr(cls, name, twin.__dict__[name])
                self._deferred.remove(name)
            if not self._deferred:
                self._body = {}

    def _twin_body(self) -> dict[str, Any]:
        """Return the attributes of the class that `dataclasses` reads."""
        cls, fields = self._cls, self._body.get("__annotations__", {})
        read = {*_GENERATED, *fields, "__annotations__", "__doc__", "__hash__", "__module__"}
        body: dict[str, Any] = {"__qualname__": cls.__qualname__}
        body |= {name: value for name, value in self._body.items() if name in read}
        for name in fields:
            if name not in body and hasattr(cls, name):
                body[name] = getattr(cls, name)  # a default that it has from another class
        if hasattr(cls, "__post_init__"):
            body["__post_init__"] = None  # only asked for
        return body


class _Deferred:
    """Stand for an attribute of a class until someone asks for it."""

    __slots__ = ("_name", "_pending")

    def __init__(self, pending: _Pending, name: str) -> None:
        self._pending = pending
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        self._pending.complete(self._name)
        found = self._pending._cls.__dict__[self._name]
        return found.__get__(instance, owner) if hasattr(found, "__get__") else found
