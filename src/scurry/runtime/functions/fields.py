"""The field of a record that a function of the program returns, found by its code.

Most selectors of keys return a field of a tuple, such as `lambda record: record[0]`, and most assigners of timestamps
`record[1]` or `int(record[1])`. They need not be called: the field is looked up as they would do it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

_ARGUMENTS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _codes(*functions: Callable[..., Any]) -> tuple[CodeType, ...]:
    return tuple(each.__code__ for each in functions)


#: The code of functions, without and with `self`.
_KEYS = _codes(lambda record: record[0]), _codes(lambda self, record: record[0])
_TIMES = (
    _codes(lambda record, time: record[0], lambda record, time: int(record[0])),
    _codes(lambda self, record, time: record[0], lambda self, record, time: int(record[0])),
)


def key_field(selector: Any) -> int | None:
    """Return the position of the field that a selector returns; None if it does anything else."""
    return _field(selector, _KEYS)


def time_field(assigner: Any) -> int | None:
    """Return the position of the field that a timestamp assigner returns, if that is an int; None if it does more."""
    return _field(assigner, _TIMES)


def _field(function: Any, shapes: tuple[Sequence[CodeType], Sequence[CodeType]]) -> int | None:
    is_method = isinstance(function, MethodType)
    function = function.__func__ if is_method else function
    if type(function) is not FunctionType or not any(_is_like(function, each) for each in shapes[is_method]):
        return None
    position = function.__code__.co_consts[1]
    return position if type(position) is int else None


def _is_like(function: FunctionType, like: CodeType) -> bool:
    """Return whether a function does what a code does, but for the position, which is its only constant."""
    code = function.__code__
    return (
        code.co_code == like.co_code
        and code.co_argcount == like.co_argcount
        and not code.co_kwonlyargcount
        and not code.co_flags & _ARGUMENTS
        and len(code.co_consts) == len(like.co_consts) == 2
        and code.co_names == like.co_names
        and all(function.__globals__.get(name, int) is int for name in code.co_names)
    )
