"""StoredValues: records' values of those that the client of a store returns, by the types of columns."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from scurry.common._epoch import datetime_of_micros, micros_of_datetime
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.errors import TypeMismatchError
from scurry.sql import types

Convert = Callable[[Any], Any]


class StoredValues:
    """Make the functions that read values, also those within arrays, maps and rows."""

    def __init__(self, store: str, simple: Mapping[type[types.DataType], Convert]) -> None:
        """Keep the functions.

        Args:
            simple: The function for each type; a value of another type is taken as it is.
        """
        self._store = store
        self._simple = simple

    def reader(self, kind: types.DataType) -> Convert:
        """Return the function that makes a record's value of one of the store; None for None.

        It raises `TypeMismatchError` for a value that does not fit.
        """
        convert = self._converter(kind)

        def read(value: Any) -> Any:
            if value is None:
                return None
            try:
                return convert(value)
            except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
                raise TypeMismatchError(str(kind), value, f"{type(value).__name__} of {self._store}: {error}") from None

        return read

    def _converter(self, kind: types.DataType) -> Convert:
        if isinstance(kind, types.ArrayType):
            element = self.reader(kind.element_type)
            return lambda values: [element(each) for each in _elements(values)]
        if isinstance(kind, types.MapType):
            of_key, of_value = self.reader(kind.key_type), self.reader(kind.value_type)
            return lambda values: {of_key(key): of_value(value) for key, value in _entries(values).items()}
        if isinstance(kind, types.RowType):
            names = tuple(kind.names)
            fields = [(name, self.reader(each)) for name, each in zip(names, kind.field_types(), strict=True)]
            return lambda value: Row._from_values(
                tuple(read(_entries(value).get(name)) for name, read in fields), names
            )
        return self._simple.get(type(kind), lambda value: value)


def _elements(value: Any) -> Any:
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError("it is no array")
    return value


def _entries(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("it has no fields")
    return value


def instant_of(value: datetime.datetime) -> Instant:
    """Return the instant of a date and time, which is of UTC if it has no zone."""
    return Instant.of_epoch_milli(micros_of_datetime(value) // 1000)


def moment_of(instant: Instant) -> datetime.datetime:
    """Return an instant as date and time of UTC, without a zone."""
    return datetime_of_micros(instant.to_epoch_milli() * 1000)
