"""Results of user-defined functions as values of the declared types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scurry.common.types import Row
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types import ArrayType, DataType, MapType, RowType

Convert = Callable[[Any], Any]
_MISSING = object()


def normalizer(kind: DataType) -> Convert | None:
    """Return the function that makes a value of a type of a result of a function; None if results stay as they are.

    Args:
        kind: The type. ROW takes mappings, Rows, sequences and objects with attributes; ARRAY takes iterables; MAP
            takes mappings and pairs.
    """
    if isinstance(kind, RowType):
        return _Rows(kind)
    if isinstance(kind, ArrayType):
        element = normalizer(kind.element_type)
        return lambda value: None if value is None else [_converted(element, each) for each in value]
    if isinstance(kind, MapType):
        return _of_map(kind)
    return None


def _converted(convert: Convert | None, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)


def _of_map(kind: MapType) -> Convert:
    key, item = normalizer(kind.key_type), normalizer(kind.value_type)

    def convert(value: Any) -> Any:
        if value is None:
            return None
        pairs = value.items() if hasattr(value, "items") else value
        found = {}
        for name, each in pairs:
            if name is None:
                raise ArgumentError("a key of a MAP must not be None")
            found[_converted(key, name)] = _converted(item, each)
        return found

    return convert


class _Rows:
    """Makes rows of a type."""

    def __init__(self, kind: RowType) -> None:
        self._names = kind.field_names()
        self._fields = [normalizer(each) for each in kind.field_types()]

    def __call__(self, value: Any) -> Any:
        if value is None:
            return None
        values = self._values(value)
        row = Row(*(_converted(field, each) for field, each in zip(self._fields, values, strict=True)))
        if isinstance(value, Row):
            row.set_row_kind(value.get_row_kind())
        return row

    def _values(self, value: Any) -> list[Any]:
        if isinstance(value, Mapping):
            return [value.get(name) for name in self._names]
        if isinstance(value, Row) and hasattr(value, "_fields"):
            fields = list(value._fields or ())
            missing = [name for name in self._names if name not in fields]
            if missing:
                raise ArgumentError(f"the Row has no field '{missing[0]}'; its fields are {fields}")
            return [value[fields.index(name)] for name in self._names]
        if isinstance(value, Row | tuple | list):
            if len(value) != len(self._names):
                raise ArgumentError(
                    f"Expected {len(self._names)} value(s) for RowType [{', '.join(self._names)}], got {len(value)}."
                )
            return list(value)
        return self._attributes(value)

    def _attributes(self, value: Any) -> list[Any]:
        found = [getattr(value, name, _MISSING) for name in self._names]
        if all(each is _MISSING for each in found):
            raise ArgumentTypeError(
                f"Cannot make a row of [{', '.join(self._names)}] of an object of {type(value).__name__}, which has "
                "none of these attributes."
            )
        return [None if each is _MISSING else each for each in found]


def emitted(value: Any, kind: RowType, is_scalar: bool) -> Iterator[Any]:
    """Yield the rows of the result of a table function.

    Args:
        value: The result: None for no row; a Row, tuple, mapping, text or bytes for one; another iterable for each of
            its elements; any other value for one.
        kind: The columns.
        is_scalar: Whether the declared type is that of the only column.
    """
    if value is None:
        return
    convert = normalizer(kind)
    assert convert is not None, "it is a type of rows"
    alone = isinstance(value, Row | tuple | Mapping | str | bytes | bytearray) or not isinstance(value, Iterable)
    for each in (value,) if alone else value:
        yield _row(each, kind, convert, is_scalar)


def _row(value: Any, kind: RowType, convert: Convert, is_scalar: bool) -> Any:
    if is_scalar:
        if isinstance(value, Row | tuple) and not isinstance(kind.field_types()[0], RowType):
            if len(value) != 1:
                raise ArgumentError("UDTF scalar output requires exactly one field.")
            value = value[0]
        return convert((value,))
    if value is None:
        return convert((None,) * len(kind.fields))
    if (
        len(kind.fields) == 1
        and not isinstance(value, Row | tuple | list | Mapping)
        and not hasattr(value, kind.field_names()[0])
    ):
        return convert((value,))
    return convert(value)
