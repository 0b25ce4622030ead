"""The walks through nested types of all conversions: to Python values (`ToPython`) and from them (`FromPython`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeAlias

from scurry.common._epoch import date_of_days, datetime_of_micros, time_of_millis
from scurry.common.nullable import nullable
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.sql import types
from scurry.sql.types.arrow import units_per_second

Convert: TypeAlias = Callable[[Any], Any]
Entries: TypeAlias = list[tuple[Any, Any]]


def naive_datetime(per_second: int) -> Convert:
    """Return the conversion of points of time, counted in parts of a second, to datetimes without a zone."""
    if per_second == 1_000_000:
        return datetime_of_micros
    return lambda value: datetime_of_micros(value * 1_000_000 // per_second)


def instant(per_second: int) -> Convert:
    """Return the conversion of points of time, counted in parts of a second, to `Instant`."""
    nanos = 1_000_000_000 // per_second

    def convert(value: int) -> Instant:
        seconds, rest = divmod(value, per_second)
        return Instant(seconds, rest * nanos)

    return convert


def units_of_instant(value: Instant, per_second: int) -> int:
    """Return the parts of a second since the epoch."""
    return value.seconds * per_second + value.nanos * per_second // 1_000_000_000


def converted(convert: Convert | None) -> Convert:
    """Return a conversion that keeps None; without `convert`, one that keeps all values."""
    return _same if convert is None else nullable(convert)


def _same(value: Any) -> Any:
    return value


class ToPython:
    """Conversion of the values of `logical_types.values.to_values` to Python values: a subclass per receiver.

    Attributes:
        simple: The conversions of types that have no parts; values of other types stay as they are.
    """

    simple: ClassVar[Mapping[type[types.DataType], Convert]] = {}

    def converter(self, data_type: types.DataType) -> Convert | None:
        """Return the conversion of values that are not None; None if they stay as they are."""
        if isinstance(data_type, types.TimestampType):
            return self.timestamp(units_per_second(data_type))
        if isinstance(data_type, types.LocalZonedTimestampType):
            return self.instant(units_per_second(data_type))
        if isinstance(data_type, types.ArrayType):
            return _list(self.converter(data_type.element_type))
        if isinstance(data_type, types.MapType):
            return self.dictionary(data_type.key_type, data_type.value_type)
        if isinstance(data_type, types.MultisetType):
            return self.dictionary(data_type.element_type, types.IntType())
        if isinstance(data_type, types.RowType):
            return self.row(data_type, [converted(self.converter(each)) for each in data_type.field_types()])
        return self.simple.get(type(data_type)) or _TEMPORAL.get(type(data_type))

    def timestamp(self, per_second: int) -> Convert:
        """Return the conversion of timestamps without a zone."""
        return naive_datetime(per_second)

    def instant(self, per_second: int) -> Convert:
        """Return the conversion of points of time."""
        return instant(per_second)

    def dictionary(self, key_type: types.DataType, item_type: types.DataType) -> Convert:
        """Return the conversion of the entries of a MAP or MULTISET."""
        key, item = self.converter(key_type), self.converter(item_type)
        if key is None and item is None:
            return dict
        keys, items = converted(key), converted(item)
        return lambda pairs: {keys(one): items(other) for one, other in pairs}

    def row(self, data_type: types.RowType, fields: list[Convert]) -> Convert:
        names = tuple(data_type.field_names())
        return lambda values: Row._from_values([one(each) for one, each in zip(fields, values, strict=True)], names)


def _list(element: Convert | None) -> Convert | None:
    if element is None:
        return None
    return lambda values: [None if value is None else element(value) for value in values]


_TEMPORAL: dict[type[types.DataType], Convert] = {types.DateType: date_of_days, types.TimeType: time_of_millis}


class FromPython:
    """Conversion of Python values to those of `logical_types.values.from_values`: a subclass per sender."""

    def converter(self, data_type: types.DataType, field: str = "") -> Convert:
        """Return the conversion of values that are not None.

        Args:
            field: The place of the value in a row, for messages.
        """
        if isinstance(data_type, types.ArrayType):
            element = self.part(data_type.element_type, field)
            return lambda values: list(map(element, self.elements(values)))
        if isinstance(data_type, types.MapType):
            return self._entries(data_type.key_type, data_type.value_type)
        if isinstance(data_type, types.MultisetType):
            return self._entries(data_type.element_type, types.IntType())
        if isinstance(data_type, types.RowType):
            return self._row(data_type, field)
        if isinstance(data_type, types.UserDefinedType):
            return self.of_user(data_type, self.part(types.without_user_types(data_type), field))
        return self.atom(data_type)

    def part(self, data_type: types.DataType, field: str = "") -> Convert:
        """Return the conversion of values that may be None, of a whole value or of a part of a nested one."""
        return nullable(self.converter(data_type, field))

    def _entries(self, key_type: types.DataType, item_type: types.DataType) -> Convert:
        key, item = self.part(key_type), self.part(item_type)
        return lambda value: self.ordered([(key(one), item(other)) for one, other in self.items(value)], key_type)

    def _row(self, data_type: types.RowType, field: str) -> Convert:
        within = f" in {field}" if field else ""
        parts = [self.part(each.data_type, f"field {each.name}{within}") for each in data_type.fields]
        fields = self.fields(data_type)
        return lambda value: tuple([one(each) for one, each in zip(parts, fields(value), strict=True)])

    def of_user(self, data_type: types.UserDefinedType, convert: Convert) -> Convert:
        """Return the conversion of a program's own objects, given that of their serialized form."""
        return lambda value: convert(data_type.serialize(value))

    def atom(self, data_type: types.DataType) -> Convert:
        """Return the conversion for a type without parts."""
        raise NotImplementedError

    def elements(self, value: Any) -> Iterable[Any]:
        found: Iterable[Any] = value
        return found

    def items(self, value: Any) -> Iterable[tuple[Any, Any]]:
        """Return the entries of a dict."""
        found: Iterable[tuple[Any, Any]] = value.items()
        return found

    def ordered(self, entries: Entries, key_type: types.DataType) -> Entries:
        """Return the entries of a MAP in the order of its column."""
        return entries

    def fields(self, data_type: types.RowType) -> Callable[[Any], Iterable[Any]]:
        """Return the function that takes a row apart into exactly as many values as its type has fields."""
        raise NotImplementedError
