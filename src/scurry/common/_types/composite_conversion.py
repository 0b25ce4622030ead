"""Convert Python values to their declared types: tuples, rows, lists and maps; see `conversion`.

If the converter of a field is None, the field accepts any value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice, repeat
from operator import countOf, itemgetter
from typing import Any

from scurry.common._types.conversion import Column, ColumnConverter, Converter, all_of, convert_each
from scurry.common.types import Row, RowKind
from scurry.errors import TypeMismatchError

_NoneType = type(None)


def _at(error: TypeMismatchError, place: str, declared: object) -> TypeMismatchError:
    reason = f"{error.reason}, in {place} of {declared}" if error.reason else f"in {place} of {declared}"
    return TypeMismatchError(error.declared, error.value, reason)


def _anything(value: Any) -> Any:
    return value


def _nullable(convert: Converter | None) -> Converter:
    return _anything if convert is None else lambda value: None if value is None else convert(value)


def _field_error(declared: object, fields: Sequence[Converter], values: Column) -> TypeMismatchError:
    """Return the error for the first field that does not fit, or for a wrong number of fields."""
    for position, (convert, value) in enumerate(zip(fields, values, strict=False)):
        try:
            convert(value)
        except TypeMismatchError as error:
            return _at(error, f"field {position}", declared)
    return TypeMismatchError(declared, values, f"{len(fields)} fields declared, {len(values)} given")


def tuple_of(declared: object, field_converters: Sequence[Converter | None]) -> Converter:
    """Return the converter of TUPLE: a tuple, list or Row of the declared arity; only INSTANT fields may be None."""
    fields = [convert or _anything for convert in field_converters]

    def convert(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list, Row)):
            raise TypeMismatchError(declared, value)
        try:
            return tuple([field(v) for field, v in zip(fields, value, strict=True)])
        except (TypeMismatchError, ValueError):
            raise _field_error(declared, fields, value) from None  # type: ignore[arg-type]

    return convert


def tuple_columns(
    convert: Converter, fields: Sequence[ColumnConverter | None]
) -> Callable[[Column], tuple[Column, list[Column] | None]]:
    """Return the converter of `tuple_column`, which returns the fields as well, unless it goes one by one."""
    arity = len(fields)

    def columns_converter(column: Column) -> tuple[Column, list[Column] | None]:
        if not column:
            return column, None
        if countOf(map(type, column), tuple) != len(column):
            return convert_each(convert, column), None
        # `zip(*column)` would make an iterator for each tuple
        if arity == 2:  # by far the most frequent; unpacking checks the length, here and of three
            columns: list[Column] = [[first for first, _ in column], list(map(itemgetter(1), column))]
        elif arity == 3:
            columns = [[first for first, _, _ in column], *(list(map(itemgetter(each), column)) for each in (1, 2))]
        elif countOf(map(len, column), arity) == len(column):
            columns = [list(map(itemgetter(position), column)) for position in range(arity)]
        else:
            return convert_each(convert, column), None
        return list(zip(*columns, strict=True)) if _convert_columns(fields, columns) else column, columns

    return columns_converter


def tuple_column(convert: Converter, fields: Sequence[ColumnConverter | None]) -> ColumnConverter:
    """Return the column converter of TUPLE: checks field by field."""
    columns_converter = tuple_columns(convert, fields)
    return lambda column: columns_converter(column)[0]


def _convert_columns(fields: Sequence[ColumnConverter | None], columns: list[Column]) -> bool:
    """Replace the columns that change; return whether any did."""
    changed = False
    for position, convert in enumerate(fields):
        if convert is not None:
            column = columns[position]
            converted = convert(column)
            if converted is not column:
                columns[position] = converted
                changed = True
    return changed


def nullable_column(convert: ColumnConverter) -> ColumnConverter:
    """Return a column converter that leaves None alone."""

    def column_converter(column: Column) -> Column:
        if _NoneType not in map(type, column):
            return convert(column)
        present = [value for value in column if value is not None]
        converted = convert(present)
        if converted is present:
            return column
        rest = iter(converted)
        return [None if value is None else next(rest) for value in column]

    return column_converter


def row_of(declared: object, names: tuple[str, ...], field_converters: Sequence[Converter | None]) -> Converter:
    """Return the converter of ROW: a Row, tuple, list, dict or object with attributes; fields may be None.

    Named rows are read by name, in any order. Dicts and objects may lack fields, which are then None.
    """
    fields = [_nullable(convert) for convert in field_converters]

    def convert(value: Any) -> Row:
        kind = RowKind.INSERT
        values: Column
        if isinstance(value, Row):
            kind = value._row_kind
            values = _row_values(declared, names, value)
        elif isinstance(value, (tuple, list)):
            values = value
        elif isinstance(value, dict):
            values = [value.get(name) for name in names]
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            values = [value.__dict__.get(name) for name in names]
        else:
            raise TypeMismatchError(declared, value)
        try:
            converted = [field(v) for field, v in zip(fields, values, strict=True)]
        except (TypeMismatchError, ValueError):
            raise _field_error(declared, fields, values) from None
        return Row._from_values(converted, names, kind)

    return convert


def _row_values(declared: object, names: tuple[str, ...], row: Row) -> Column:
    fields = row._fields
    if fields is None or fields == names:
        return row._values
    missing = [name for name in names if name not in fields]
    if missing:
        raise TypeMismatchError(declared, row, f"the row lacks the fields {', '.join(missing)}")
    return row.get_fields_by_names(names)


def row_column(convert: Converter, names: tuple[str, ...], fields: Sequence[ColumnConverter | None]) -> ColumnConverter:
    """Return the column converter of ROW: checks field by field, whether the values are rows or tuples."""
    arity = len(fields)

    def column_converter(column: Column) -> Column:
        named = False
        if arity and column and all_of(column, Row):
            field_names = {row._fields for row in column}
            named = field_names == {names}
            values: Column = [row._values for row in column] if named or field_names == {None} else ()
        else:
            values = column if arity and all_of(column, tuple) else ()
        if not values or countOf(map(len, values), arity) < len(column):
            return convert_each(convert, column)
        columns: list[Column] = list(zip(*values, strict=True))
        if not _convert_columns(fields, columns) and named:
            return column
        converted = zip(*columns, strict=True)
        if values is column:
            return Row._from_many(converted, names)
        kinds = [row._row_kind for row in column]
        return list(map(Row._from_values, converted, repeat(names), kinds))

    return column_converter


def list_of(declared: object, element: Converter | None, nullable: bool) -> Converter:
    """Return the converter of LIST and of arrays: a list or tuple, as a list."""

    def convert(value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise TypeMismatchError(declared, value)
        return _convert_elements(declared, element, value, nullable)

    return convert


def _convert_elements(declared: object, convert: Converter | None, values: Column, nullable: bool) -> list[Any]:
    if convert is None:
        return list(values)
    converted: list[Any] = []
    try:
        for value in values:
            converted.append(None if nullable and value is None else convert(value))
    except TypeMismatchError as error:
        raise _at(error, f"element {len(converted)}", declared) from None
    return converted


def list_column(convert: Converter, element: ColumnConverter | None) -> ColumnConverter:
    """Return the column converter of LIST and of arrays: checks all elements of all lists as one column."""

    def column_converter(column: Column) -> Column:
        if not all_of(column, list):
            return convert_each(convert, column)
        if element is None:
            return column
        flat = list(chain.from_iterable(column))
        converted = element(flat)
        if converted is flat:
            return column
        rest = iter(converted)
        return [list(islice(rest, len(values))) for values in column]

    return column_converter


def map_of(declared: object, key: Converter | None, value: Converter | None) -> Converter:
    """Return the converter of MAP: a dict; values may be None."""

    def convert(mapping: Any) -> dict[Any, Any]:
        if not isinstance(mapping, dict):
            raise TypeMismatchError(declared, mapping)
        converted = {}
        try:
            for k, v in mapping.items():
                place = f"key {k!r}"
                new_key = k if key is None else key(k)
                place = f"the value of {k!r}"
                converted[new_key] = v if v is None or value is None else value(v)
        except TypeMismatchError as error:
            raise _at(error, place, declared) from None
        return converted

    return convert


def map_column(convert: Converter, key: ColumnConverter | None, value: ColumnConverter | None) -> ColumnConverter:
    """Return the column converter of MAP: checks all keys, then all values, as one column each."""

    def column_converter(column: Column) -> Column:
        if not all_of(column, dict):
            return convert_each(convert, column)
        keys: Column = list(chain.from_iterable(column))
        values: Column = list(chain.from_iterable(map(dict.values, column)))
        columns = [keys, values]
        if not _convert_columns([key, value], columns):
            return column
        pairs = zip(*columns, strict=True)
        return [dict(islice(pairs, len(mapping))) for mapping in column]

    return column_converter


def block(converter: Converter, column_converter: Callable[[Column], Any]) -> Callable[[list[Any]], Any]:
    """Turn a column converter into the block converter the runtime calls: errors name the first bad record."""

    def convert_block(values: list[Any]) -> Any:
        try:
            return column_converter(values)
        except Exception:
            for index, value in enumerate(values):
                try:
                    converter(value)
                except TypeMismatchError as error:
                    error.index = index
                    raise
            raise

    return convert_block
