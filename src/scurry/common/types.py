"""Row: a record with positional and, optionally, named fields and a kind of change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from scurry.errors import RowFieldError

__all__ = ["Row", "RowKind"]


class RowKind(Enum):
    """The kind of change a row describes: a new row, the old or new side of an update, or a removal."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        """Return Flink's short form: `+I`, `-U`, `+U` or `-D`."""
        return _SHORT_KINDS[self.value]


_SHORT_KINDS = ("+I", "-U", "+U", "-D")
_INSERT = RowKind.INSERT


class Row:
    """A record of a fixed number of fields, any of which may be None.

    Fields are reached by position (`row[0]`), by name (`row["age"]`) and as attributes (`row.age`).
    A row made of field names is also a factory: `Person = Row("name", "age"); Person("Ann", 11)`.
    Mirrors Flink's `Row`, with the Python behaviour of PyFlink's.
    """

    __slots__ = ("_fields", "_row_kind", "_values")

    _fields: tuple[str, ...] | None
    _row_kind: RowKind
    _values: tuple[Any, ...]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make a row of kind INSERT, by position or by name.

        Args:
            *args: Values by position.
            **kwargs: Values by name; the order is kept.

        Raises:
            ValueError: Both were given.
        """
        if kwargs:
            if args:
                raise ValueError("Can not use both args and kwargs to create Row")
            self._fields = tuple(kwargs)
            self._values = tuple(kwargs.values())
        else:
            self._fields = None
            self._values = args
        self._row_kind = _INSERT

    @classmethod
    def _from_values(cls, values: Iterable[Any], names: tuple[str, ...] | None, kind: RowKind = _INSERT) -> Row:
        """Make a row of some values: for readers and converters that make many.

        Args:
            values: The field values; a tuple is not copied.
            names: Field names, one tuple shared by all rows of a stream, or None.
            kind: The kind of change.
        """
        row = _new_row(cls)
        row._values = tuple(values)
        row._fields = names
        row._row_kind = kind
        return row

    @classmethod
    def _from_many(cls, values: Iterable[tuple[Any, ...]], names: tuple[str, ...] | None) -> list[Row]:
        """Make rows of kind INSERT as `_from_values` does, in half the time."""
        rows: list[Row] = []
        append, kind = rows.append, _INSERT
        for row_values in values:
            row = _new_row(cls)
            row._values = row_values
            row._fields = names
            row._row_kind = kind
            append(row)
        return rows

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Make a row as the constructor does, with a given kind."""
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the fields as a dict.

        Args:
            recursive: Also turn rows within values, lists and dicts into dicts.

        Raises:
            TypeError: The row has no field names.
        """
        if self._fields is None:
            raise TypeError(f"Cannot convert a Row class into dict: {self!r} has no field names")
        values = map(_rows_to_dicts, self._values) if recursive else self._values
        return dict(zip(self._fields, values, strict=False))

    def get_row_kind(self) -> RowKind:
        """Return the kind of change."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the kind of change."""
        self._row_kind = row_kind

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Name the fields, in order."""
        self._fields = tuple(field_names)

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """Return the values in the order of `names`; a row without names returns its values as they are.

        Raises:
            RowFieldError: The row lacks one of the names.
        """
        fields = self._fields
        if fields is None or tuple(names) == fields:
            return list(self._values)
        return [self._values[self._position(name)] for name in names]

    def _position(self, name: str) -> int:
        fields = self._fields
        if fields is None:
            raise RowFieldError(f"no field {name!r}: this row has no field names; use a position or set_field_names")
        try:
            return fields.index(name)
        except ValueError:
            raise RowFieldError(f"no field {name!r}; the row has {', '.join(map(repr, fields))}") from None

    def __contains__(self, item: object) -> bool:
        """Look among the field names, or among the values if there are no names."""
        return item in (self._values if self._fields is None else self._fields)

    def __call__(self, *args: Any) -> Row:
        """Use this row's values as field names and make a row of `args`.

        Raises:
            ValueError: More values than names.
        """
        if len(args) > len(self._values):
            raise ValueError(
                f"Can not create Row with fields {self!r}, expected {len(self._values)} values but got {args!r}"
            )
        return Row._from_values(args, self._values, self._row_kind)

    def __getitem__(self, item: int | slice | str) -> Any:
        """Return a field by position or name, or several by slice."""
        if type(item) is int:  # by far the most frequent
            return self._values[item]
        if isinstance(item, str):
            return self._values[self._position(item)]
        some = self._values[item]
        return list(some) if isinstance(item, slice) else some

    def __setitem__(self, key: int | slice | str, value: Any) -> None:
        """Set a field by position or name."""
        if isinstance(key, str):
            key = self._position(key)
        values = list(self._values)
        values[key] = value
        self._values = tuple(values)

    def __getattr__(self, item: str) -> Any:
        """Return a field by name; only called if there is no such attribute."""
        if item.startswith("_"):
            raise AttributeError(item)
        return self._values[self._position(item)]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as little as possible: most rows are unnamed or INSERT."""
        if self._row_kind is not _INSERT:
            return _restore, (self._values, self._fields, self._row_kind.value)
        if self._fields is not None:
            return _restore, (self._values, self._fields)
        return _restore, (self._values,)

    def __repr__(self) -> str:
        """Return `Row(name='a', age=1)`, or `<Row('a', 1)>` without names, as PyFlink does."""
        if self._fields is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        return f"Row({', '.join(f'{k}={v!r}' for k, v in zip(self._fields, self._values, strict=False))})"

    def __eq__(self, other: object) -> bool:
        """Compare kind, names and values; named fields may come in another order."""
        if not isinstance(other, Row) or self._row_kind is not other._row_kind:
            return False
        if self._fields == other._fields:
            return self._values == other._values
        if self._fields is None or other._fields is None or sorted(self._fields) != sorted(other._fields):
            return False
        return list(self._values) == other.get_fields_by_names(self._fields)

    def __hash__(self) -> int:
        """Hash the values in order."""
        return hash(self._values)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self._values)


_new_row = Row.__new__


def _restore(values: Iterable[Any], names: tuple[str, ...] | None = None, kind: int = 0) -> Row:
    return Row._from_values(values, names, _INSERT if kind == 0 else RowKind(kind))


def _rows_to_dicts(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(recursive=True)
    if isinstance(value, list):
        return [_rows_to_dicts(v) for v in value]
    if isinstance(value, dict):
        return {k: _rows_to_dicts(v) for k, v in value.items()}
    return value
