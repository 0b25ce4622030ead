"""Records of BATCH in columns: tuples of one length are collected, sorted and sent field by field.

A field that is the key or the time of its record is not sent at all, and ints and floats are sent as arrays. So records
are not pickled one by one, and they are made again in the order in which their operator takes them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from operator import countOf, is_, itemgetter
from typing import Any

from scurry.runtime.exchange.collector import Timestamps, Values

#: Kinds of fields, in the order in which they are tried: the key of the record, its time, or 64-bit ints, floats or any
#: objects, which are sent.
KEY, TIME, INT, FLOAT, OBJECT = range(5)
Kinds = tuple[int, ...]

_CODES = {INT: "q", FLOAT: "d"}
_CLASSES = {INT: int, FLOAT: float}


class RecordColumns:
    """Records that are tuples of one length, in columns.

    Attributes:
        kinds: What each field is.
        fields: The values of each field: an array of ints or floats, a list of objects, or None if they are not sent.
    """

    __slots__ = ("_count", "fields", "kinds")

    def __init__(self, kinds: Kinds, fields: list[Any], count: int) -> None:
        self.kinds, self.fields, self._count = kinds, fields, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, part: slice) -> RecordColumns:
        """Return the records between two places."""
        fields = [None if field is None else field[part] for field in self.fields]
        return RecordColumns(self.kinds, fields, len(range(self._count)[part]))

    def __iadd__(self, others: RecordColumns) -> RecordColumns:
        """Add records of the same kinds."""
        for field, other in zip(self.fields, others.fields, strict=True):
            if field is not None:
                field += other
        self._count += len(others)
        return self

    def taken(self, places: Any) -> RecordColumns:
        """Return the records in another order.

        Args:
            places: The place of each, as a list or an array of NumPy.
        """
        fields = [field if field is None else _taken(kind, field, places) for kind, field in self._each()]
        return RecordColumns(self.kinds, fields, len(places))

    def records(self, keys: Sequence[Any], counts: Sequence[int], times: Any) -> Values:
        """Return the records.

        Args:
            keys: Their keys.
            counts: How many records in a row each key has.
            times: The times of the records, an array; None if they have none.
        """
        columns: list[Any] = []
        for kind, field in self._each():
            if kind == KEY:
                columns.append(chain.from_iterable(map(repeat, keys, counts)))
            elif kind == TIME:
                columns.append(times.tolist())
            else:
                columns.append(field if kind == OBJECT else field.tolist())
        return list(zip(*columns, strict=True))

    def encoded(self) -> tuple[Kinds, list[Any], int]:
        """Return the records as a payload of `pack`."""
        fields = [field if field is None or kind == OBJECT else field.tobytes() for kind, field in self._each()]
        return self.kinds, fields, self._count

    def _each(self) -> Iterator[tuple[int, Any]]:
        return zip(self.kinds, self.fields, strict=True)


def _taken(kind: int, field: Any, places: Any) -> Any:
    if isinstance(places, list):
        found = map(field.__getitem__, places)
        return list(found) if kind == OBJECT else array(_CODES[kind], found)
    if kind == OBJECT:
        return list(map(field.__getitem__, places.tolist()))
    import numpy as np

    return np.frombuffer(field, _CODES[kind])[places]


def decoded(payload: tuple[Kinds, list[Any], int]) -> RecordColumns:
    """Invert `RecordColumns.encoded`."""
    kinds, sent, count = payload
    fields = []
    for kind, field in zip(kinds, sent, strict=True):
        if field is None or kind == OBJECT:
            fields.append(field)
        else:
            fields.append(array(_CODES[kind], field))
    return RecordColumns(kinds, fields, count)


def columns_of(values: Values, keys: list[Any], times: Timestamps, before: Kinds | None) -> RecordColumns | None:
    """Return records in columns; None if they are not tuples of one length, or columns do not pay.

    Args:
        values: The records.
        keys: Their canonical keys.
        times: Their times.
        before: The kinds of the fields of earlier records, None before the first ones: kinds only become later.
    """
    count = len(values)
    arity = len(values[0]) if before is None and type(values[0]) is tuple else len(before or ())
    if not arity or countOf(map(type, values), tuple) < count or countOf(map(len, values), arity) < count:
        return None
    kinds, fields = [], []
    for position in range(arity):
        column = list(map(itemgetter(position), values))
        kind, field = _field(column, keys, times, KEY if before is None else before[position])
        kinds.append(kind)
        fields.append(field)
    if 2 * kinds.count(OBJECT) > arity:  # to order objects field by field would cost more than to order records
        return None
    return RecordColumns(tuple(kinds), fields, count)


def _field(column: Values, keys: list[Any], times: Timestamps, first: int) -> tuple[int, Any]:
    """Return the kind of a field, among those from a kind on, and its column."""
    if first == KEY and all(map(is_, column, keys)):
        return KEY, None
    if first <= TIME and times is not None and all(map(is_, column, times)):
        return TIME, None
    for kind, cls in _CLASSES.items():
        if first <= kind and countOf(map(type, column), cls) == len(column):
            try:
                return kind, array(_CODES[kind], column)
            except OverflowError:  # ints of more than 64 bits
                break
    return OBJECT, column
