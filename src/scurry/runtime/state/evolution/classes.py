"""The classes found in state: their layouts, and the conversion of stored instances to the current classes.

Pickle stores an instance as the name of its class and the instance's attributes: for most dataclasses by name, for
frozen ones with slots by position. To read what an earlier program wrote, the fields of its classes must be known.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import functools
import importlib
import inspect
import io
import pickle
import sys
import typing
from collections.abc import Callable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import StateMigrationError
from scurry.runtime.state.types import TypeJson, class_ref, describe_hint

# Opcodes of pickle's protocols 4 and 5: a reference to a class is its module, its name and STACK_GLOBAL.
_STACK_GLOBAL, _MEMOIZE, _SHORT_NAME = b"\x93", b"\x94", b"\x8c"
_PICKLING = ("__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__", "__getstate__", "__setstate__")


@dataclass(frozen=True)
class ClassLayout:
    """The fields of a dataclass, by name, and how instances are pickled: "dict", "slots", "positions" or "custom"."""

    fields: dict[str, TypeJson]
    storage: str

    @classmethod
    def of(cls, of: type) -> ClassLayout | None:
        """Return the layout of a class, None if it is no dataclass."""
        if not dataclasses.is_dataclass(of):
            return None
        hints = _hints(of)
        return cls({each.name: describe_hint(hints[each.name]) for each in dataclasses.fields(of)}, _storage(of))

    def to_json(self) -> dict[str, Any]:
        return {"fields": list(map(list, self.fields.items())), "storage": self.storage}

    @classmethod
    def from_json(cls, json: dict[str, Any] | None) -> ClassLayout | None:
        """Invert `to_json`."""
        return None if json is None else cls(dict(json["fields"]), json["storage"])


def _hints(cls: type) -> dict[str, Any]:
    """Return the evaluated annotations of a dataclass, Any for those that cannot be evaluated here."""
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception:  # one name suffices to fail, and the main module of a worker lacks most of the program's imports
        return {each.name: _evaluated(each.type, cls) for each in dataclasses.fields(cls)}


def _evaluated(annotation: Any, cls: type) -> Any:
    module = sys.modules.get(cls.__module__)
    names = {**vars(typing), **vars(datetime), **vars(decimal), **(vars(module) if module else {})}
    try:
        return eval(annotation, names) if isinstance(annotation, str) else annotation
    except Exception:
        return Any


def _storage(cls: type) -> str:
    own = {
        name: getattr(getattr(cls, name), "__module__", None)
        for name in _PICKLING
        if getattr(cls, name, None) is not getattr(object, name, None)
    }
    if own:
        return "positions" if set(own.values()) == {"dataclasses"} else "custom"
    return "dict" if getattr(cls, "__dictoffset__", 0) else "slots"


def find_class(ref: str) -> Any:
    """Return the object that a reference names in this program, or None."""
    module, _, name = ref.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


# ------------------------------------------------------------------ finding classes


class ClassCatalog:
    """The classes of an operator's state, collected from its writes; instances live as long as the operator."""

    def __init__(self, found: Callable[[dict[str, Any]], None]) -> None:
        self._found = found
        self._names: set[bytes | None] = {None}

    def look_at(self, blob: bytes) -> None:
        """Look for classes in a blob that was written; fast unless it has a new one."""
        at = blob.find(_STACK_GLOBAL)
        while at >= 0:
            name = _name_before(blob, at)
            if name not in self._names:
                if name:
                    self._names.add(name)
                self._found(classes_in(blob))
            at = blob.find(_STACK_GLOBAL, at + 1)


def _name_before(blob: bytes, at: int) -> bytes | None:
    """Return the name in front of a STACK_GLOBAL, with its module if that is written there, too.

    Empty if pickle refers to a string it has written before, None if the byte is no STACK_GLOBAL.
    """
    if blob[at - 1 : at] == _MEMOIZE:
        start = _short_text_before(blob, at)
        if start < 0:
            return None  # bytes of a number: taken for names they would always be new ones
        module = _short_text_before(blob, start)
        return blob[start if module < 0 else module : at]
    memoized = blob[at - 2 : at - 1] == b"h" or (blob[at - 5 : at - 4] == b"j" and blob[at - 2 : at] == bytes(2))
    return b"" if memoized else None


def _short_text_before(blob: bytes, end: int) -> int:
    """Return the start of the short text that pickle has memoized right before `end`, or -1."""
    first = max(0, end - 258)
    start = blob.rfind(_SHORT_NAME, first, end)
    while start >= 0 and start + 3 + blob[start + 1] != end:
        start = blob.rfind(_SHORT_NAME, first, start)
    return start


def classes_in(blob: bytes) -> dict[str, Any]:
    """Return the layouts (as JSON) of the program's classes in a blob, None for those that are no dataclass."""
    reader = _References(io.BytesIO(blob))
    reader.load()
    layouts = {}
    for cls in reader.classes:
        layout = ClassLayout.of(cls)
        layouts[class_ref(cls)] = None if layout is None else layout.to_json()
    return layouts


class _References(pickle.Unpickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.classes: set[type] = set()

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        package = module.partition(".")[0]
        if (
            isinstance(found, type)
            and package != "scurry"
            and (package == "__main__" or package not in sys.stdlib_module_names)
        ):
            self.classes.add(found)
        return found


# ------------------------------------------------------------------ converting instances


#: Source of a field's value: the old field or None, its conversion or None, and a function that makes a missing value.
Source = tuple[str | None, Callable[[Any], Any] | None, Callable[[], Any] | None]


@dataclass(frozen=True)
class ClassChange:
    """The conversion of stored instances of a class.

    Attributes:
        ref: The class, as the state refers to it.
        target: The class to convert them to; None, with a `reason`, if they cannot be converted.
        before: Its old layout, None if it was no dataclass.
        sources: By new field.
        reason: Why instances cannot be converted; "" if they can.
    """

    ref: str
    target: type | None
    before: ClassLayout | None
    sources: dict[str, Source]
    reason: str = ""

    def rebuild(self, stored: dict[str, Any]) -> Any:
        """Return an instance of the current class; like pickle, do not call its `__init__`."""
        if self.target is None:
            raise StateMigrationError(self.reason)
        instance: Any = object.__new__(self.target)
        for name, (before, convert, make) in self.sources.items():
            if before is not None and before in stored:
                value = stored[before]
                if convert is not None:
                    value = self._converted(name, value, convert)
            elif make is not None:
                value = make()
            else:
                continue  # a field that was never set
            object.__setattr__(instance, name, value)
        known = self.before.fields if self.before is not None else ()
        for name in stored.keys() - known - self.sources.keys():
            if hasattr(instance, "__dict__") and not _is_cached(self.target, name):
                instance.__dict__[name] = stored[name]
        return instance

    def _converted(self, name: str, value: Any, convert: Callable[[Any], Any]) -> Any:
        try:
            return convert(value)
        except Exception as error:
            raise StateMigrationError(
                f"field {name!r} of {self.ref.replace(':', '.')} cannot take over the value {value!r}: {error}"
            ) from error


def _is_cached(cls: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(cls, name, None), functools.cached_property)


class Stored:
    """An instance as it was stored: it has the old fields as attributes and pickles as the current class."""

    __stored_as__: ClassChange

    def __new__(cls, *args: Any) -> Stored:
        """Accept any arguments that the class may have been created with."""
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None:
        """Accept the state of a pickled instance in any of its forms."""
        change = type(self).__stored_as__
        if isinstance(state, dict):
            self.__dict__.update(state)
        elif change.before is not None and change.before.storage == "positions":
            self.__dict__.update(zip(change.before.fields, state, strict=True))
        else:
            for part in filter(_is_dict, state if isinstance(state, tuple) else ()):
                self.__dict__.update(part)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as an instance of the current class."""
        return type(self).__stored_as__.rebuild(self.__dict__).__reduce_ex__(protocol)


class ChangedClasses:
    """Read blobs written when classes were different.

    Args:
        changes: By the reference in the state.
    """

    def __init__(self, changes: dict[str, ClassChange]) -> None:
        self.changes = changes

    def __reduce__(self) -> tuple[Any, ...]:
        return ChangedClasses, (self.changes,)

    @functools.cached_property
    def _stand_ins(self) -> dict[str, type]:
        return {ref: _stand_in(change) for ref, change in self.changes.items()}

    def load(self, blob: bytes) -> Any:
        """Unpickle a blob; instances of changed classes are `Stored`."""
        return _Reader(io.BytesIO(blob), self._stand_ins).load() if self.changes else pickle.loads(blob)


class _Reader(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, stand_ins: dict[str, type]) -> None:
        super().__init__(file)
        self._stand_ins = stand_ins

    def find_class(self, module: str, name: str) -> Any:
        return self._stand_ins.get(f"{module}:{name}") or super().find_class(module, name)


def _is_dict(part: Any) -> bool:
    return isinstance(part, dict)


def _stand_in(change: ClassChange) -> type:
    """Return the class to unpickle as; pickle requires that an instance's `__class__` is the class it is written as."""
    if change.target is not None and change.before is None:
        return change.target  # only its name has changed
    content: dict[str, Any] = {"__stored_as__": change}
    if change.target is not None:
        content["__class__"] = property(lambda stored: change.target)
    return type("Stored", (Stored,), content)
