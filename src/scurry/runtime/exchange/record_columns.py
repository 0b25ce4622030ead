"""Records in columns: in BATCH, tuples of one length are collected, sorted and sent field by field.

A field that is the key or the time of its record is not sent at all, and ints and floats are sent as arrays. So records
are not pickled one by one, and they are made again in the order in which their operator takes them. In STREAMING,
tuples of declared immutable fields are sent in columns, too (`Fields`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import countOf, is_, itemgetter
from typing import Any

from scurry.common._types.composite_conversion import block, tuple_columns
from scurry.common._types.conversion import Column, ColumnConverter
from scurry.common.typeinfo import TupleTypeInfo, TypeInformation, Types
from scurry.runtime.exchange.collector import Timestamps, Values
from scurry.runtime.exchange.key_selection import Keys
from scurry.runtime.exchange.ordering import int_array
from scurry.runtime.exchange.wire import unpack

#: Kinds of fields, in the order in which they are tried: the key of the record, its time, or 64-bit ints, floats or any
#: objects, which are sent.
KEY, TIME, INT, FLOAT, OBJECT = range(5)
Kinds = tuple[int, ...]

_CODES = {INT: "q", FLOAT: "d"}
#: The kinds of values that have been converted to their declared types; any others may be of each kind.
_DECLARED: dict[TypeInformation, int] = {
    **dict.fromkeys((Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG()), INT),
    **dict.fromkeys((Types.FLOAT(), Types.DOUBLE()), FLOAT),
    Types.STRING(): OBJECT,
}


_LONG = Types.LONG()


class TakenApart:
    """The fields of the block of tuples that a task has converted last, for writers, which send them in columns.

    The times that it has assigned last are kept, too.
    """

    __slots__ = ("_columns", "_kinds", "_packed", "_packed_times", "_times", "_types", "_values")

    def __init__(self) -> None:
        self._times: list[int] | None = None
        self._packed_times = array("q")
        self._values: Values | None = None
        self._columns: list[Any] | None = None
        self._kinds: list[int | None] = []
        self._types: list[TypeInformation] = []
        #: field -> its values as an array, if their conversion made one
        self._packed: dict[int, array[int]] = {}

    def converter(self, declared: TupleTypeInfo, packs: bool = True) -> Callable[[Values], Values]:
        """Return the block converter of a type, which keeps the fields of the last block.

        Args:
            packs: Whether it also keeps arrays of LONG fields, for BATCH.
        """
        types, converter = declared.get_field_types(), declared.converter()
        kinds = [_DECLARED.get(each) for each in types]
        fields = [each._column() for each in types]
        for position, each in enumerate(types):
            column = fields[position]
            if packs and each == Types.LONG() and column is not None:
                fields[position] = self._packing(position, column)
        convert = block(converter, tuple_columns(converter, fields))

        def converted(values: Values) -> Values:
            self._packed, self._columns = {}, None
            found: Values
            found, self._columns = convert(values)
            self._values, self._kinds, self._types = found, kinds, types
            return found

        return converted

    def forget(self) -> None:
        """Keep nothing: the next block takes the place of the last one in the processor's caches."""
        self._values = self._columns = self._times = None
        self._packed, self._packed_times = {}, array("q")

    def _packing(self, position: int, convert: ColumnConverter) -> ColumnConverter:
        """Return the converter of LONG that compares ints with its limits by packing them, and keeps that."""

        def packed(column: Column) -> Column:
            if countOf(map(type, column), int) < len(column):
                return convert(column)
            self._packed[position] = int_array(column)
            return column

        return packed

    def fields_of(self, values: Values) -> tuple[list[Any], list[int | None], dict[int, array[int]]] | None:
        """Return the fields of a block, with their kinds and arrays where they have some; None if others are kept."""
        columns = self._columns
        return (columns, self._kinds, self._packed) if columns is not None and self._values is values else None

    def keys_of(self, values: Values, keys: Keys) -> tuple[list[Any], array[int] | None] | None:
        """Return the canonical keys of a block, if they are a field of the declared type; None if not, or not kept.

        Besides them, there is their array if their conversion made one.
        """
        field, declared = keys.field, keys.plain_type
        if field is None or declared is None or self._values is not values or self._columns is None:
            return None
        if field not in range(len(self._types)) or self._types[field] != declared:
            return None
        return self._columns[field], self._packed.get(field)

    def times_in(self, values: Values, field: int) -> list[int] | None:
        """Return a field of a block as its times, and keep them; None if it is not a LONG, or the block not kept."""
        columns, types = self._columns, self._types
        if columns is None or self._values is not values or field not in range(len(types)):
            return None
        if types[field] != _LONG:
            return None
        times: list[int] = columns[field]
        packed = self._packed.get(field)
        if packed is not None:
            self._times, self._packed_times = times, packed
        return times

    def keep_times(self, times: list[int], are_ints: bool = False) -> bool:
        """Keep the times of a block as an array; return whether all are ints of 64 bits.

        Args:
            are_ints: Whether it is known that they are ints.
        """
        packed = self._packed_like(times)
        if packed is None:
            if not are_ints and countOf(map(type, times), int) < len(times):
                return False
            try:
                packed = int_array(times)
            except OverflowError:
                return False
        self._times, self._packed_times = times, packed
        return True

    def _packed_like(self, times: list[int]) -> array[int] | None:
        """Return the array of a field that has the very same ints: most assigners return a field of the record."""
        columns = self._columns
        if columns is not None:
            for field, packed in self._packed.items():
                if len(columns[field]) == len(times) and all(map(is_, columns[field], times)):
                    return packed
        return None

    def times_of(self, times: list[int]) -> array[int]:
        """Return the times of a block as an array, which only the caller has."""
        return self._packed_times[:] if self._times is times else int_array(times)


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


def columns_of(
    values: Values,
    keys: list[Any],
    times: array[int] | None,
    before: Kinds | None,
    taken_apart: TakenApart | None = None,
) -> RecordColumns | None:
    """Return records in columns; None if they are not tuples of one length, or columns do not pay.

    Args:
        keys: Their canonical keys.
        before: The kinds of the fields of earlier records, None before the first ones: kinds only become later.
        taken_apart: The fields of the records, if they have just been converted.
    """
    found = None if taken_apart is None else taken_apart.fields_of(values)
    columns, declared, packed = _fields_of(values, before) if found is None else found
    arity = len(columns)
    if not arity or (before is not None and len(before) != arity):
        return None
    assert len(columns[0]) == len(values), "a block has changed since its fields were taken"
    kinds, fields = [], []
    for position, (column, known) in enumerate(zip(columns, declared, strict=True)):
        first = KEY if before is None else before[position]
        if first == KEY and (column is keys or all(map(is_, column, keys))):
            kind, field = KEY, None
        else:
            kind, field = _field(column, times, first, known, packed.get(position))
        kinds.append(kind)
        fields.append(field)
    if 2 * kinds.count(OBJECT) > arity:  # to order objects field by field would cost more than to order records
        return None
    return RecordColumns(tuple(kinds), fields, len(values))


def _fields_of(values: Values, before: Kinds | None) -> tuple[list[Any], list[int | None], dict[int, array[int]]]:
    """Return the fields of records, none of which are declared; no fields if they are not tuples of one length."""
    count = len(values)
    arity = len(values[0]) if before is None and type(values[0]) is tuple else len(before or ())
    if not arity or countOf(map(type, values), tuple) < count or countOf(map(len, values), arity) < count:
        return [], [], {}
    return [list(map(itemgetter(position), values)) for position in range(arity)], [None] * arity, {}


def _field(
    column: Values, times: array[int] | None, first: int, known: int | None, packed: array[int] | None
) -> tuple[int, Any]:
    """Return the kind of a field that is not the key, among those from a kind on, and its column."""
    if first <= INT and known in {INT, None}:
        if packed is None and countOf(map(type, column), int) == len(column):
            try:
                packed = int_array(column)
            except OverflowError:  # ints of more than 64 bits
                return OBJECT, list(column)
        if packed is not None:
            # a copy: the writers of other edges send the same array, and each adds later records to its own
            return (TIME, None) if first <= TIME and packed == times else (INT, packed[:])
    if first <= FLOAT and known in {FLOAT, None} and countOf(map(type, column), float) == len(column):
        return FLOAT, array("d", column)
    return OBJECT, list(column)


class Fields:
    """The fields of records of a declared tuple of immutable values, which are sent by key in columns in STREAMING.

    A field that is the key of its record is not sent, and ints are sent as an array. What is received are tuples.

    Attributes:
        kinds: What each field is; there are no times among them.
        key: The position of the key, if it is a field whose declared type is that of the keys.
        sent: The positions of the others.
    """

    __slots__ = ("_has_int_keys", "key", "kinds", "sent")

    def __init__(self, declared: TupleTypeInfo, keys: Keys) -> None:
        types = declared.get_field_types()
        kinds = [_DECLARED.get(each, OBJECT) for each in types]
        self.key: int | None = None
        self._has_int_keys = False
        field = keys.field
        if field is not None and field in range(len(types)) and types[field] == keys.plain_type:
            self.key, self._has_int_keys, kinds[field] = field, kinds[field] == INT, KEY
        self.kinds: Kinds = tuple(kinds)
        self.sent = [position for position in range(len(types)) if position != self.key]

    def of(self, values: Values, taken_apart: TakenApart) -> list[Any]:
        """Return the fields of records, each as a column."""
        found = taken_apart.fields_of(values)
        if found is not None:
            return found[0]
        return [list(map(itemgetter(position), values)) for position in range(len(self.kinds))]

    def encoded(self, keys: list[Any], sent: Sequence[list[Any]]) -> tuple[Any, tuple[Kinds, list[Any], int]]:
        """Return keys and records as payloads of `pack`, given the columns that are sent."""
        columns = [_ENCODERS[self.kinds[each]](column) for each, column in zip(self.sent, sent, strict=True)]
        return ints_encoded(keys) if self._has_int_keys else keys, (self.kinds, columns, len(keys))


def unpack_records(block: bytes) -> tuple[list[Any] | None, Values, Timestamps, int]:
    """Return the keys, the records and the timestamps of a block of STREAMING, and when they were read."""
    keys, values, times, stamp = unpack(block)
    if type(values) is tuple:
        kinds, sent, count = values
        keys = ints_decoded(keys, count) if type(keys) is bytes else keys
        times = ints_decoded(times, count) if times is not None else None
        following = iter(sent)
        columns = [keys if kind == KEY else _column(kind, next(following), count) for kind in kinds]
        values = list(zip(*columns, strict=True))
    return keys, values, times, stamp


def ints_encoded(column: Sequence[int]) -> bytes:
    """Return 64-bit ints as bytes: four each if all are as small."""
    try:
        return array("i", column).tobytes()
    except OverflowError:
        return int_array(column).tobytes()


def ints_decoded(data: bytes, count: int) -> list[int]:
    """Invert `ints_encoded`."""
    return array("i" if len(data) == _SMALL.itemsize * count else "q", data).tolist()


def _column(kind: int, sent: Any, count: int) -> list[Any]:
    if kind == OBJECT:
        column: list[Any] = sent
        return column
    return ints_decoded(sent, count) if kind == INT else array("d", sent).tolist()


_SMALL = array("i")
_ENCODERS: dict[int, Callable[[Any], Any]] = {
    INT: ints_encoded,
    FLOAT: lambda column: array("d", column).tobytes(),
    OBJECT: list,
}
