"""Values of columns as Python values that other programs know: no class of scurry or PyFlink among them."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Sequence
from typing import Any

from scurry.common._java_numbers import float_text
from scurry.errors import EvaluationError
from scurry.sql import types
from scurry.sql.values.converters import Convert, ToPython, converted, naive_datetime

_UNHASHABLE = (types.ArrayType, types.MapType, types.MultisetType, types.RowType)


def plain_value(data_type: types.DataType) -> Convert:
    """Return the function that makes the Python value of a value of a column, None of NULL.

    TIMESTAMP is a datetime without a zone, TIMESTAMP_LTZ one in UTC; both have microseconds at most. ROW is a dict;
    MAP is one, too, or a list of pairs if its keys cannot be those of a dict.
    """
    return converted(_PLAIN.converter(data_type))


def plain_row(names: Sequence[str], kinds: Sequence[types.DataType]) -> Convert:
    """Return the function that makes a tuple of Python values of the values of a row.

    It raises EvaluationError, which names the column, if Python has no date or time of a value.
    """
    converters = list(map(plain_value, kinds))

    def convert(values: Sequence[Any]) -> tuple[Any, ...]:
        try:
            return tuple([one(value) for one, value in zip(converters, values, strict=True)])
        except (OverflowError, ValueError):
            for name, kind, one, value in zip(names, kinds, converters, values, strict=True):
                _checked(name, kind, one, value)
            raise

    return convert


def _checked(name: str, kind: types.DataType, convert: Convert, value: Any) -> None:
    try:
        convert(value)
    except (OverflowError, ValueError):
        raise EvaluationError(
            f"column '{name}' has a {kind.as_summary_string()} that Python has no value of: its dates are in the "
            f"years 1 to 9999; select CAST({name} AS STRING) to fetch it as text"
        ) from None


class _Plain(ToPython):
    simple = {
        types.FloatType: lambda value: float(float_text(value)),
        types.RawType: pickle.loads,
        types.DayTimeIntervalType: lambda millis: datetime.timedelta(milliseconds=millis),
    }

    def instant(self, per_second: int) -> Convert:
        local = naive_datetime(per_second)
        return lambda value: local(value).replace(tzinfo=datetime.UTC)

    def dictionary(self, key_type: types.DataType, item_type: types.DataType) -> Convert:
        key, item = converted(self.converter(key_type)), converted(self.converter(item_type))
        if isinstance(key_type, _UNHASHABLE):
            return lambda pairs: [(key(one), item(other)) for one, other in pairs]
        return lambda pairs: {key(one): item(other) for one, other in pairs}

    def row(self, data_type: types.RowType, fields: list[Convert]) -> Convert:
        names = data_type.field_names()

        def convert(values: Any) -> dict[str, Any]:
            return {name: one(each) for name, one, each in zip(names, fields, values, strict=True)}

        return convert


_PLAIN = _Plain()
