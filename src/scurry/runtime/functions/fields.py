"""The fields of a record that a function of the program returns, found by its code.

Most selectors of keys return a field of a tuple, such as `lambda record: record[0]`, and most assigners of timestamps
`record[1]` or `int(record[1])`. Maps of rows often only make tuples of some fields. They need not be called: the fields
are looked up as they would do it.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import attrgetter, countOf, itemgetter
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeAlias

from scurry.common.types import Row

#: Fields by position or name.
Fields: TypeAlias = tuple[Any, ...]
_FIELD = frozenset({int, str})

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
    """Return whether a function does the same as a code, but for the position, which is its only constant."""
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


def tuple_of_fields(function: Any) -> PickedFields | None:
    """Return the getter of the fields of records of which a function returns a tuple; None if it does anything else.

    Such functions are `lambda record: (record[0], record["b"])`, and `lambda record: tuple(record[i] for i in fields)`
    where `fields` is a variable outside of it.
    """
    is_method = isinstance(function, MethodType)
    function = function.__func__ if is_method else function
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & _ARGUMENTS or code.co_argcount != 1 + is_method:
        return None
    for like in (_OF_VARIABLE[is_method], _OF_GLOBAL[is_method]):
        if _is_same(code, like):
            return _of_variable(function)
    picked = tuple(each.argval for each in dis.get_instructions(code) if _loads(each) and type(each.argval) in _FIELD)
    if not picked or len(picked) > _MOST_FIELDS:
        return None
    fields = ", ".join(f"record[{field!r}]" for field in picked)
    like = eval(f"lambda {'self, ' * is_method}record: ({fields},)").__code__
    return PickedFields(lambda: picked) if _is_same(code, like) else None


class PickedFields:
    """Make tuples of some fields of records, as a function of the program would.

    Args:
        fields: Returns which fields at present, by position or name; None if the function has to be called to know.
    """

    def __init__(self, fields: Callable[[], Fields | None]) -> None:
        self._fields = fields

    def __call__(self, records: list[Any]) -> list[tuple[Any, ...]] | None:
        """Return a tuple for each record; None if the function has to be called, which may fail at its line."""
        kind, fields = type(records[0]), self._fields()
        if kind not in {Row, tuple} or countOf(map(type, records), kind) < len(records) or fields is None:
            return None
        with suppress(LookupError):
            if str in map(type, fields):
                fields = _positions(fields, records)
            values = [record._values for record in records] if kind is Row else records
            arity = len(fields)
            if fields == tuple(range(arity)) and countOf(map(len, values), arity) == len(values):
                return values
            if arity > 1:
                return list(map(itemgetter(*fields), values))
            return [tuple([value[field] for field in fields]) for value in values]
        return None


def _positions(fields: Fields, records: list[Any]) -> Fields:
    """Return the positions of fields in rows.

    Raises:
        LookupError: Some rows have other names, or none, or lack one of the fields.
    """
    names = records[0]._fields if type(records[0]) is Row else None
    if names is None or countOf(map(attrgetter("_fields"), records), names) < len(records):
        raise LookupError
    positions = {name: position for position, name in reversed(list(enumerate(names)))}  # the first of each name
    return tuple(positions[field] if type(field) is str else field for field in fields)


#: A function that picks more fields is called.
_MOST_FIELDS = 64


def _of_some(fields: Sequence[Any]) -> tuple[CodeType, CodeType]:
    return (
        (lambda record: tuple(record[each] for each in fields)).__code__,
        (lambda self, record: tuple(record[each] for each in fields)).__code__,
    )


_FIELDS: Sequence[Any] = ()
#: The code of functions, without and with `self`, that find the fields in a variable of an outer function or module.
_OF_VARIABLE = _of_some(_FIELDS)
_OF_GLOBAL = _codes(
    lambda record: tuple(record[each] for each in _FIELDS), lambda self, record: tuple(record[each] for each in _FIELDS)
)


def _is_same(code: CodeType, like: CodeType) -> bool:
    """Return whether two codes do the same, but for the names of variables."""
    constants = list(zip(code.co_consts[1:], like.co_consts[1:], strict=False))
    return (
        code.co_code == like.co_code
        and len(code.co_consts) == len(like.co_consts)
        and len(code.co_freevars) == len(like.co_freevars)
        and all(_is_same_constant(*each) for each in constants)
    )


def _is_same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return _is_same(one, other)
    return type(one) is type(other) and one == other


def _loads(instruction: dis.Instruction) -> bool:
    return instruction.opname in {"LOAD_CONST", "LOAD_SMALL_INT"}


def _of_variable(function: FunctionType) -> PickedFields | None:
    """Return the getter of the fields that a function finds in the one variable that it has besides `tuple`."""
    names, cells, outside = function.__code__.co_names, function.__closure__, function.__globals__
    if names[0] != "tuple" or "tuple" in outside:
        return None

    def fields() -> Fields | None:
        try:
            found = cells[0].cell_contents if cells else outside[names[1]]
        except (KeyError, ValueError):  # it is not set
            return None
        if type(found) not in {range, tuple} or len(found) > _MOST_FIELDS:
            return None
        return tuple(found) if _FIELD.issuperset(map(type, found)) else None

    return PickedFields(fields)
