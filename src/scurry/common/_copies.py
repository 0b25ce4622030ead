"""Copies of records: whoever changes one changes no other.

Values of immutable types are not copied: text, numbers, times, and tuples of them.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import sys
import types
import uuid
from collections.abc import Callable
from itertools import chain
from sys import getrefcount
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from scurry.common.output_tag import OutputTag
from scurry.common.time import Instant
from scurry.common.types import Row, RowKind

#: Types of data whose values cannot change. Subclasses may have attributes and are not among them.
IMMUTABLE_DATA: frozenset[type] = frozenset(
    {
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        range,
        decimal.Decimal,
        uuid.UUID,
        datetime.date,
        datetime.time,
        datetime.datetime,
        datetime.timedelta,
        datetime.timezone,
        Instant,
        RowKind,
    }
)
#: Immutable types, and types of objects that a task shares with its functions.
IMMUTABLE = IMMUTABLE_DATA | {OutputTag, type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType}

_ARE_IMMUTABLE = IMMUTABLE.issuperset
_ONLY_TUPLES = {tuple}

#: Copies a value; the copies made so far are known by the identity of their originals, as in `copy.deepcopy`.
_Copier: TypeAlias = Callable[[Any, dict[int, Any]], Any]


def copy_of(value: Any) -> Any:
    """Return a deep copy of a value; immutable values, and those that cannot be copied, are returned themselves."""
    kind = type(value)
    if kind in IMMUTABLE:
        return value
    if kind is dict:
        for each in value.values():  # of few: faster than without a loop
            if type(each) not in IMMUTABLE:
                return _copied(value)
        return value.copy()
    if kind is tuple:
        for each in value:
            if type(each) not in IMMUTABLE:
                return _copied(value)
        return value
    if kind is list:
        return value[:] if _ARE_IMMUTABLE(map(type, value)) else _copied(value)
    if kind is Row:
        for each in value._values:
            if type(each) not in IMMUTABLE:
                return _copied(value)
        return Row._from_values(value._values, value._fields, value._row_kind)
    return _copied(value)


def kept_flat_row(value: Any) -> Any:
    """Return a copy of a result that is to be a row of immutable fields, or the result if nobody else can change it.

    The caller has it in one local variable, and in nothing else.
    """
    if type(value) is not Row:
        return copy_of(value)
    if getrefcount(value) <= _ONLY_CALLER:
        return value
    return Row._from_values(value._values, value._fields, value._row_kind)


def _only_caller() -> int:
    """Return the number of references to a value of which only a caller of `kept_flat_row` knows."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0
    found = [_references(each) for each in map(Row, (1,))]
    for each in map(Row, (1,)):
        found.append(_references(each))  # noqa: PERF401
    return min(found)


def _references(value: Any) -> int:
    return getrefcount(value)


_ONLY_CALLER = _only_caller()


def itself(value: Any) -> Any:
    """Return the value, where copies are turned off."""
    return value


def copies_of(values: list[Any]) -> list[Any]:
    """Return copies of records; the same list if all of them are immutable."""
    return values if are_immutable(values) else list(map(copy_of, values))


def are_immutable(values: list[Any], immutable: frozenset[type] = IMMUTABLE) -> bool:
    """Return whether all records are of immutable types, or are tuples of such values."""
    kinds = set(map(type, values))
    if kinds == _ONLY_TUPLES:
        return immutable.issuperset(map(type, chain.from_iterable(values)))
    return kinds <= immutable


def _copied(value: Any) -> Any:
    try:
        return _deep_copy(value, {})
    except RecursionError:  # too deep to be pickled, too
        return value


def _deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in IMMUTABLE:
        return value
    known = memo.get(id(value))
    if known is not None:
        return known
    copier = _BUILTIN.get(kind)
    if copier is None:
        copier = _LEARNED.get(kind)
        if copier is None:
            copier = _LEARNED[kind] = _copier_of(kind)
    return copier(value, memo)


def _list(values: list[Any], memo: dict[int, Any]) -> list[Any]:
    copied: list[Any] = []
    memo[id(values)] = copied
    copied.extend([each if type(each) in IMMUTABLE else _deep_copy(each, memo) for each in values])
    return copied


def _dict(values: dict[Any, Any], memo: dict[int, Any]) -> dict[Any, Any]:
    copied: dict[Any, Any] = {}
    memo[id(values)] = copied
    for key, each in values.items():
        copied[key] = each if type(each) in IMMUTABLE else _deep_copy(each, memo)
    return copied


def _elements(values: tuple[Any, ...], memo: dict[int, Any]) -> tuple[Any, ...]:
    """Return a tuple with copies; the same one if none of its elements had to be copied."""
    copied: tuple[Any, ...] = tuple([each if type(each) in IMMUTABLE else _deep_copy(each, memo) for each in values])
    return copied if any(one is not other for one, other in zip(copied, values, strict=True)) else values


def _tuple(values: tuple[Any, ...], memo: dict[int, Any]) -> tuple[Any, ...]:
    copied = _elements(values, memo)
    found: tuple[Any, ...] = memo.setdefault(id(values), copied)  # a list in it may have led back to it
    return found


def _named_tuple(values: Any, memo: dict[int, Any]) -> Any:
    copied = _elements(values, memo)
    return values if copied is values else tuple.__new__(type(values), copied)


def _set(values: set[Any], memo: dict[int, Any]) -> set[Any]:
    copied = memo[id(values)] = values.copy()
    return copied


def _bytearray(value: bytearray, memo: dict[int, Any]) -> bytearray:
    copied = memo[id(value)] = value[:]
    return copied


def _row(row: Row, memo: dict[int, Any]) -> Row:
    copied = memo[id(row)] = Row._from_values((), row._fields, row._row_kind)
    copied._values = _elements(row._values, memo)
    return copied


def _object(value: Any, memo: dict[int, Any]) -> Any:
    copied = memo[id(value)] = object.__new__(type(value))
    copied.__dict__.update(_dict(value.__dict__, memo))
    return copied


def _array(value: Any, memo: dict[int, Any]) -> Any:
    if value.dtype.hasobject:
        return _other(value, memo)
    copied = memo[id(value)] = value.copy()
    return copied


def _same(value: Any, memo: dict[int, Any]) -> Any:
    return value


def _other(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # a lock, a connection, an iterator: only one task has it, as no other process can
        return value


_BUILTIN: dict[type, _Copier] = {
    list: _list,
    dict: _dict,
    tuple: _tuple,
    set: _set,
    frozenset: _same,
    bytearray: _bytearray,
    Row: _row,
}
#: what copies the values of other classes; a class that is gone is forgotten
_LEARNED: WeakKeyDictionary[type, _Copier] = WeakKeyDictionary()
#: what a class defines whose objects are more than their attributes
_PROTOCOL = frozenset(
    {"__slots__", "__new__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__deepcopy__"}
)


def _copier_of(kind: type) -> _Copier:
    bases = kind.__mro__[:-1]
    package = kind.__module__.partition(".")[0]
    if package == "numpy" and kind.__name__ == "ndarray":
        return _array
    generic = any(each.__module__ == "numpy" and each.__name__ == "generic" for each in bases)
    if generic or package == "pyarrow" or issubclass(kind, enum.Enum) or hasattr(kind, "record_count"):
        return _same  # columns do not change, nor do the batches of tables that consist of them
    if issubclass(kind, tuple) and hasattr(kind, "_make") and not kind.__dictoffset__:
        return _named_tuple
    own = {name for each in bases for name in each.__dict__}
    return _other if own & _PROTOCOL or not _made_by_class_statement(kind) else _object


def _made_by_class_statement(kind: type) -> bool:
    try:
        object.__new__(kind)
    except TypeError:  # a class of C
        return False
    return kind.__dictoffset__ != 0
