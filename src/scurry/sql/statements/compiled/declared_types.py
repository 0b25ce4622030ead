"""Check values that were read against the declared types of the fields that they are for."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def misfit(kind: type[Any], values: Mapping[str, Any]) -> str | None:
    """Return the name of a field of a dataclass whose value is of another type than is declared, None if all fit."""
    hints = _hints(kind)  # type: ignore[arg-type] # mypy takes classes for unhashable
    return next((name for name, value in values.items() if not _fits(value, hints.get(name, Any))), None)


@lru_cache(maxsize=1024)
def _hints(kind: type[Any]) -> dict[str, Any]:
    try:
        found = get_type_hints(kind)
    except NameError:  # a type that is imported for type checkers only
        return {}
    return {each.name: found[each.name] for each in fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is Literal:
        return value in arguments
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is ...:
            return all(_fits(each, arguments[0]) for each in value)
        return len(value) == len(arguments) and all(map(_fits, value, arguments))
    if origin in (list, Sequence):
        return isinstance(value, list | tuple) and all(_fits(each, arguments[0]) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(
            _fits(key, arguments[0]) and _fits(each, arguments[1]) for key, each in value.items()
        )
    if hint is None or hint is types.NoneType:
        return value is None
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(hint, type) or isinstance(value, hint)
