"""The SQL types of type hints, with an explanation of those that have none."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from scurry.errors import ArgumentTypeError
from scurry.sql.types import MAX_LENGTH, ArrayType, DataType, MapType, RowField, RowType, VarCharType
from scurry.sql.values.hints import hints_of, type_of_class

_MARKS = (typing.Annotated, typing.Required, typing.NotRequired)
_ADVICE = "Please specify the data type explicitly."


def strict_type_of_hint(hint: Any) -> DataType:
    """Return the SQL type of a type hint; it is NOT NULL, at every level, unless the hint allows None.

    Args:
        hint: `int`, `str | None`, `list[float]`, a TypedDict, a dataclass, a NamedTuple ...

    Raises:
        TypeError: The hint has no SQL type.
    """
    return _type(hint, ())


def _wrong(hint: Any, reason: str = "") -> ArgumentTypeError:
    shown = getattr(hint, "__name__", None) if isinstance(hint, type) else None
    text = f"Cannot infer DataType from type hint '{shown or hint}'. {_ADVICE}"
    return ArgumentTypeError(f"{text} ({reason})" if reason else text)


def _type(hint: Any, within: tuple[Any, ...]) -> DataType:
    hint = without_annotated(hint)
    if hint is Any:
        return VarCharType(MAX_LENGTH)
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        others = [each for each in parts if each is not type(None)]
        if len(others) != 1 or len(others) == len(parts):
            raise _wrong(hint, "a union of several types")
        return _type(others[0], within).nullable()
    known = type_of_class(hint)
    if known is not None:
        return known.not_null()
    if isinstance(hint, str | typing.ForwardRef):
        raise _wrong(hint, "the name is not defined")
    if isinstance(hint, typing.TypeVar):
        raise _wrong(hint, "a type variable")
    if origin in (list, Sequence) and len(parts) == 1:
        return ArrayType(_type(parts[0], within), False)
    if origin in (dict, Mapping) and len(parts) == 2:
        return MapType(_type(parts[0], within), _type(parts[1], within), False)
    if origin is tuple:
        if not parts or Ellipsis in parts:
            raise _wrong(hint, "a tuple has a fixed number of types")
        return _row([f"_{place + 1}" for place in range(len(parts))], [_type(each, within) for each in parts])
    if hint in (list, tuple, dict):
        raise _wrong(hint, "the types of its elements are missing")
    return _composite(hint, within)


def _composite(hint: Any, within: tuple[Any, ...]) -> DataType:
    if typing.get_origin(hint) is not None or not isinstance(hint, type):
        raise _wrong(hint)
    if hint in within:
        raise _wrong(hint, "it contains itself")
    if getattr(hint, "__parameters__", ()):
        raise _wrong(hint, "it is generic")
    fields = fields_of(hint)
    if fields is None:
        raise _wrong(hint)
    if not fields:
        raise _wrong(hint, "it has no fields")
    optional: set[str] = getattr(hint, "__optional_keys__", set()) if typing.is_typeddict(hint) else set()
    kinds = []
    for name, each in fields.items():
        if each is None:
            raise _wrong(hint, f"the field '{name}' has no type that can be found")
        kind = _type(each, (*within, hint))
        marks = _marks(each)
        missing = typing.NotRequired in marks or (name in optional and typing.Required not in marks)
        kinds.append(kind.nullable() if missing else kind)
    return _row(list(fields), kinds)


def fields_of(hint: Any) -> dict[str, Any] | None:
    """Return names and hints of the fields of a TypedDict, dataclass or NamedTuple; None of others."""
    if not isinstance(hint, type):
        return None
    if typing.is_typeddict(hint):
        names = list(hint.__annotations__)
    elif dataclasses.is_dataclass(hint):
        names = [each.name for each in dataclasses.fields(hint) if each.init]
    elif issubclass(hint, tuple) and hasattr(hint, "_fields"):
        names = list(hint._fields)
        if not inspect.get_annotations(hint):
            raise _wrong(hint, "its fields have no types")
    else:
        return None
    hints = hints_of(hint, with_extras=True)
    return {name: hints.get(name) for name in names}


def without_annotated(hint: Any) -> Any:
    """Return the type in `Annotated`, `Required` and `NotRequired`."""
    while typing.get_origin(hint) in _MARKS:
        hint = typing.get_args(hint)[0]
    return hint


def _marks(hint: Any) -> list[Any]:
    """Return the marks around the type of a key of a TypedDict, which strings of annotations hide from the class."""
    found = []
    while typing.get_origin(hint) in _MARKS:
        found.append(typing.get_origin(hint))
        hint = typing.get_args(hint)[0]
    return found


def _row(names: list[str], kinds: list[DataType]) -> RowType:
    return RowType([RowField(name, kind) for name, kind in zip(names, kinds, strict=True)], False)
