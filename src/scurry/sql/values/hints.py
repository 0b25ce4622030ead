"""SQL types of Python's annotations and values, and arguments as instances of the classes that annotations name."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
import inspect
import sys
import types
import typing
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.errors import ArgumentTypeError
from scurry.sql.types import (
    MAX_LENGTH,
    ArrayType,
    BigIntType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    UserDefinedType,
    VarBinaryType,
    VarCharType,
)
from scurry.sql.values.elements import attributes_of

#: The SQL types of Python's classes; times have as many digits as their values.
_TYPES: dict[Any, DataType] = {
    bool: BooleanType(),
    int: BigIntType(),
    float: DoubleType(),
    str: VarCharType(MAX_LENGTH),
    bytes: VarBinaryType(MAX_LENGTH),
    bytearray: VarBinaryType(MAX_LENGTH),
    decimal.Decimal: DecimalType(38, 18),
    datetime.date: DateType(),
    datetime.time: TimeType(3),
    datetime.datetime: TimestampType(6),
    Instant: LocalZonedTimestampType(9),
}
#: PyFlink infers other types of values than `_TYPES` of annotations: there a datetime is a point of time.
_OF_VALUES: dict[Any, DataType] = {
    **_TYPES,
    datetime.time: TimeType(0),
    datetime.datetime: LocalZonedTimestampType(6),
    Instant: LocalZonedTimestampType(6),
}
#: The types of the elements of arrays of Python by their type codes; of those without a sign, one with a bit more.
_OF_TYPE_CODES: dict[str, DataType] = {
    "f": FloatType(),
    "d": DoubleType(),
    "b": TinyIntType(),
    "h": SmallIntType(),
    "i": IntType(),
    "l": BigIntType(),
    "B": SmallIntType(),
    "H": IntType(),
    "I": BigIntType(),
}
_SEVERAL = (list, Iterator, Iterable, Generator, Sequence)


def type_of_class(cls: Any) -> DataType | None:
    """Return the SQL type of the values of a class; None if they have parts, or no type."""
    return _TYPES.get(cls) if isinstance(cls, type) else None


def type_of_hint(hint: Any) -> DataType | None:
    """Return the SQL type of a type hint, None if it has none.

    Args:
        hint: `int`, `str | None`, `list[float]`, `dict[str, int]`, a dataclass, a NamedTuple ...
    """
    hint = _without_none(hint)
    known = type_of_class(hint)
    if known is not None:
        return known
    fields = _fields(hint)
    if fields is not None:
        return _row(list(fields), list(fields.values()))
    origin, parts = typing.get_origin(hint), [type_of_hint(each) for each in typing.get_args(hint)]
    if not parts or None in parts:
        return None
    if origin in (list, Sequence) and len(parts) == 1:
        return ArrayType(typing.cast(DataType, parts[0]))
    if origin is dict:
        return MapType(typing.cast(DataType, parts[0]), typing.cast(DataType, parts[1]))
    if origin is tuple:
        return _row([f"f{place}" for place in range(len(parts))], typing.get_args(hint))
    return None


def type_of_value(value: Any) -> DataType:
    """Return the SQL type of a Python value, as PyFlink infers it; NULL of None, and of parts without values.

    Raises:
        ArgumentTypeError: Values of its class have no SQL type.
    """
    if value is None:
        return NullType()
    known = _OF_VALUES.get(type(value))
    if known is not None:
        return known
    if isinstance(declared := getattr(value, "__UDT__", None), UserDefinedType):
        return declared
    if isinstance(value, dict):
        pair = next(((k, v) for k, v in value.items() if k is not None and v is not None), None)
        if pair is None:
            return MapType(NullType(), NullType())
        return MapType(type_of_value(pair[0]).not_null(), type_of_value(pair[1]))
    if isinstance(value, list):
        return ArrayType(next((type_of_value(each) for each in value if each is not None), NullType()))
    if isinstance(value, array.array) and value.typecode in _OF_TYPE_CODES:
        return ArrayType(_OF_TYPE_CODES[value.typecode].not_null())
    if isinstance(value, Row | tuple) or attributes_of(value) is not None:
        return row_type_of_value(value, None)
    raise ArgumentTypeError(f"not supported type: {type(value)}; pass DataTypes.ROW([...]) as the schema")


def row_type_of_value(value: Any, names: Sequence[str] | None) -> RowType:
    """Return the SQL type of a row: a tuple, list, Row, dict or object with attributes.

    Args:
        names: Names of the fields; None for its own, or `_1`, `_2` ...

    Raises:
        ArgumentTypeError: It is no row, a name is no text, or a value has no SQL type.
    """
    named = value if isinstance(value, dict) else attributes_of(value)
    if named is not None:
        return RowType([RowField(str(key), type_of_value(each)) for key, each in sorted(named.items())])
    if not isinstance(value, Row | tuple | list):
        raise ArgumentTypeError(
            f"Can not infer schema for type: {type(value)}; elements are tuples, rows, dicts or objects"
        )
    own = getattr(value, "_fields", None) or names or ()
    chosen = [own[i] if i < len(own) else f"_{i + 1}" for i in range(len(value))]
    for name in chosen:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"names of columns are texts, got {name!r}; pass DataTypes.ROW([...]) for types")
    return RowType([RowField(name, type_of_value(each)) for name, each in zip(chosen, value, strict=True)])


def hinted_result(method: Any) -> DataType | None:
    """Return the SQL type of a function's annotated result, None without a usable annotation."""
    hint = hints_of(method).get("return")
    return None if hint is None else type_of_hint(hint)


def hinted_rows(method: Any) -> DataType | None:
    """Return the row type of a table function's annotated result: `Iterator[tuple[int, str]]`."""
    hint = _without_none(hints_of(method).get("return"))
    if typing.get_origin(hint) in _SEVERAL and typing.get_args(hint):
        hint = typing.get_args(hint)[0]
    found = type_of_hint(hint)
    return found if found is None or isinstance(found, RowType) else RowType([RowField("f0", found)])


def hinted_arguments(method: Any, skipped: int = 0) -> list[Any] | None:
    """Return the hints of the parameters of a function; None unless each has one.

    Args:
        skipped: How many parameters are not arguments of calls.
    """
    try:
        parameters = list(inspect.signature(method).parameters.values())[skipped:]
    except (TypeError, ValueError):
        return None
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.KEYWORD_ONLY) for each in parameters):
        return None
    hints = hints_of(method)
    found = [hints.get(each.name) for each in parameters]
    return None if None in found else found


def argument_maker(hint: Any) -> Callable[[Any], Any] | None:
    """Return the function that makes an instance of a hint's dataclass or NamedTuple of a row.

    Args:
        hint: The hint of a parameter.

    Returns:
        A function of a value that is not None; None if the values stay as they are.
    """
    hint = _without_none(hint)
    fields = _fields(hint)
    if fields is not None:
        makers = [argument_maker(each) for each in fields.values()]
        if not any(makers):
            return lambda row: hint(*row)
        return lambda row: hint(*(_made(maker, value) for maker, value in zip(makers, row, strict=True)))
    if typing.get_origin(hint) in (list, Sequence):
        element = argument_maker(typing.get_args(hint)[0])
        return None if element is None else lambda values: [_made(element, value) for value in values]
    if typing.get_origin(hint) is dict:
        item = argument_maker(typing.get_args(hint)[1])
        return None if item is None else lambda pairs: {key: _made(item, value) for key, value in pairs.items()}
    return None


def _made(maker: Callable[[Any], Any] | None, value: Any) -> Any:
    return value if maker is None or value is None else maker(value)


def _row(names: Sequence[str], hints: Sequence[Any]) -> DataType | None:
    types = [type_of_hint(each) for each in hints]
    if None in types:
        return None
    return RowType([RowField(name, typing.cast(DataType, each)) for name, each in zip(names, types, strict=True)])


def _fields(hint: Any) -> dict[str, Any] | None:
    """Return names and hints of the fields of a dataclass or NamedTuple."""
    if not isinstance(hint, type):
        return None
    if dataclasses.is_dataclass(hint):
        hints = hints_of(hint)
        return {each.name: hints.get(each.name) for each in dataclasses.fields(hint) if each.init}
    names = getattr(hint, "_fields", None)
    if issubclass(hint, tuple) and names and hint.__annotations__:
        hints = hints_of(hint)
        return {name: hints.get(name) for name in names}
    return None


def _without_none(hint: Any) -> Any:
    """Return `X` of `X | None`: columns may have NULL."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        others = [each for each in typing.get_args(hint) if each is not type(None)]
        return others[0] if len(others) == 1 else hint
    return hint


def hints_of(method: Any, with_extras: bool = False) -> dict[str, Any]:
    """Return the annotations; those of classes of an enclosing function are looked up in its variables.

    Args:
        with_extras: Whether what `Annotated` says stays.
    """
    try:
        return typing.get_type_hints(method, include_extras=with_extras)
    except (NameError, TypeError):
        pass
    scope = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__globals__", {})
    # A class of a program that was sent to tasks has methods that know only the names they use.
    module = vars(sys.modules.get(getattr(method, "__module__", ""), typing))
    inner: dict[str, Any] = {}
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals is scope:
            inner = {**frame.f_locals, **inner}
        frame = frame.f_back
    try:
        return typing.get_type_hints(method, {**vars(typing), **module, **scope}, inner, include_extras=with_extras)
    except (NameError, TypeError):
        return {}
