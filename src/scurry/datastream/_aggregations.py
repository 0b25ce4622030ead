"""The reduce functions behind `sum`, `min`, `max`, `min_by` and `max_by` of keyed streams.

`sum`, `min` and `max` work on one field and keep the other fields of the first record of the key; `min_by` and `max_by`
return the whole record that has the extreme value, the first of equals.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scurry.common.typeinfo import BasicTypeInfo, PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from scurry.common.types import Row
from scurry.datastream.functions.transformations import ReduceFunction
from scurry.errors import ArgumentError, ArgumentTypeError


class FieldReduce(ReduceFunction[Any]):
    """Reduce records by one of their fields: `position` is an index, or a field name of rows."""

    #: the method of keyed streams that the program called
    _method: ClassVar[str]

    def __init__(self, position: int | str) -> None:
        self.position = position

    def _field(self, record: Any) -> Any:
        if isinstance(record, Row):
            return record[self.position]
        if isinstance(record, (tuple, list)):
            if isinstance(self.position, str):
                fields = "a tuple or list, whose fields have positions only: pass the position, counted from 0"
                raise _no_field(self.position, fields, self._method)
            return record[self.position]
        if self.position != 0:
            nothing = f"{record!r}, which has no fields; only position 0, the value itself"
            raise _no_field(self.position, nothing, self._method)
        return record

    def _check_record(self, record: Any) -> None:
        """Check that a record has the field; the first of a key is not reduced.

        Raises:
            ArgumentError: It has no such field.
        """
        self._field(record)

    def _with_field(self, record: Any, value: Any) -> Any:
        """Return a copy of the record with another value in the field; the record itself may be in use elsewhere."""
        if isinstance(record, Row):
            changed = Row._from_values(record._values, record._fields, record.get_row_kind())
            changed[self.position] = value
            return changed
        if isinstance(record, (tuple, list)):
            assert isinstance(self.position, int)
            values = list(record)
            values[self.position] = value
            return tuple(values) if isinstance(record, tuple) else values
        return value


class SumField(FieldReduce):
    """Add the field up."""

    _method = "sum"

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the first record with the sum."""
        return self._with_field(value1, self._field(value1) + self._field(value2))


class MinField(FieldReduce):
    """Keep the smallest value of the field."""

    _method = "min"

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the first record with the smaller value."""
        smaller = self._field(value2)
        return self._with_field(value1, smaller) if smaller < self._field(value1) else value1


class MaxField(FieldReduce):
    """Keep the largest value of the field."""

    _method = "max"

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the first record with the larger value."""
        larger = self._field(value2)
        return self._with_field(value1, larger) if larger > self._field(value1) else value1


class MinBy(FieldReduce):
    """Keep the record with the smallest value of the field."""

    _method = "min_by"

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the record with the smaller value, the first of equals."""
        return value2 if self._field(value2) < self._field(value1) else value1


class MaxBy(FieldReduce):
    """Keep the record with the largest value of the field."""

    _method = "max_by"

    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the record with the larger value, the first of equals."""
        return value2 if self._field(value2) > self._field(value1) else value1


def check_field(type_info: TypeInformation | None, position: Any) -> None:
    """Check that records of a declared type have a field; nothing is known about pickled ones.

    Args:
        type_info: The declared type of the records.
        position: Index or name of the field.

    Raises:
        ArgumentTypeError: The position is neither int nor str, or a name where fields have none.
        ArgumentError: There is no such field.
    """
    if not isinstance(position, (int, str)) or isinstance(position, bool):
        raise ArgumentTypeError(f"a field is named by an int or str, not by {position!r}")
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return
    if isinstance(type_info, RowTypeInfo) and isinstance(position, str):
        names = type_info.get_field_names()
        if position not in names:
            raise ArgumentError(f"{type_info} has no field {position!r}; it has {', '.join(map(repr, names))}")
    elif isinstance(position, str):
        raise _no_field(position, f"{type_info}, whose fields have no names; pass a position")
    elif isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        count = len(type_info.get_field_types())
        if not 0 <= position < count:
            raise ArgumentError(f"{type_info} has no field {position}; positions are 0 to {count - 1}")
    elif position != 0 and isinstance(type_info, BasicTypeInfo):
        raise _no_field(position, f"the basic type {type_info}; only position 0, which is the value itself")


def _no_field(position: int | str, of_what: str, method: str = "") -> ArgumentTypeError:
    call = f"{method}({position!r}) " if method else ""
    return ArgumentTypeError(f"{call}cannot select field {position!r} of {of_what}")
