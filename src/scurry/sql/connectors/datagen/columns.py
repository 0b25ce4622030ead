"""Columns that are made up, at random or in sequence."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scurry.errors import ValidationError
from scurry.sql import types
from scurry.sql.types.arrow import arrow_type, units_per_second
from scurry.sql.types.values import from_values, to_values

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

#: Makes the next so many values of a column.
ColumnGenerator = Callable[[int], "pa.Array"]
#: Finds the options of a column or an element: its prefix and type, to values by the last word of their keys.
Settings = Callable[[str, types.DataType], Mapping[str, Any]]

_LARGEST: dict[type[types.DataType], float] = {types.FloatType: 3.4e38, types.DoubleType: 1.7e308}
_MILLISECONDS_OF_A_DAY = 86_400_000
_HEX = b"0123456789abcdef"


def sequence_column(start: int, data_type: types.DataType) -> ColumnGenerator:
    """Return the generator of ascending numbers.

    Args:
        start: The first number.
        data_type: The type of the column. Numbers it cannot hold lose their upper bits, as in Flink.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    at = start

    def make(size: int) -> pa.Array:
        nonlocal at
        numbers = np.arange(at, at + size)
        at += size
        if isinstance(data_type, types.CharType | types.VarCharType):
            return pc.cast(pa.array(numbers), pa.string())
        if isinstance(data_type, types.DecimalType):
            return from_values(list(map(Decimal, numbers.tolist())), data_type)
        return _column(numbers, data_type)

    return make


class RandomColumns:
    """Make the generators of random columns.

    Args:
        settings: Finds what is set for a column or an element.
    """

    def __init__(self, settings: Settings) -> None:
        import numpy as np

        self._settings = settings
        # One for each reader: readers that begin as copies of one process have to differ.
        self._random: np.random.Generator = np.random.default_rng()

    def column(self, prefix: str, data_type: types.DataType) -> ColumnGenerator:
        """Return the function that makes a column.

        Args:
            prefix: The beginning of the keys of its options.

        Raises:
            ValidationError: There are no random values of the type, or its options do not fit it.
        """
        settings = self._settings(prefix, data_type)
        make = self._values(prefix, data_type, settings)
        null_rate = settings.get("null-rate") or 0.0
        return make if not null_rate else lambda size: _without(make(size), self._random.random(size) < null_rate)

    def _values(self, prefix: str, data_type: types.DataType, settings: Mapping[str, Any]) -> ColumnGenerator:
        match data_type:
            case types.IntegralType():
                return self._numbers(data_type, *_limits(settings, -data_type.limit, data_type.limit - 1))
            case types.FloatType() | types.DoubleType():
                largest = _LARGEST[type(data_type)]
                return self._floats(data_type, *_limits(settings, -largest, largest))
            case types.DecimalType():
                return self._decimals(data_type, settings)
            case types.CharType() | types.VarCharType() | types.BinaryType() | types.VarBinaryType():
                return self._texts(data_type, settings)
            case types.BooleanType():
                return lambda size: _array(self._random.random(size) < 0.5)
            case types.TimestampType() | types.LocalZonedTimestampType():
                return self._times(data_type, settings.get("max-past") or 0)
            case types.DateType():
                return lambda size: _column(_repeated(int(time.time()) // 86_400, size), data_type)
            case types.TimeType():
                return self._numbers(data_type, 0, _MILLISECONDS_OF_A_DAY - 1)
            case types.DayTimeIntervalType():
                return self._numbers(data_type, *_limits(settings, 0, 1 << 40))
            case types.YearMonthIntervalType():
                return self._numbers(data_type, *_limits(settings, 0, 120_000))
            case _:
                return self._collections(prefix, data_type, settings.get("length") or 0)

    def _numbers(self, data_type: types.DataType, low: int, high: int) -> ColumnGenerator:
        return lambda size: _column(self._random.integers(low, high, size, endpoint=True), data_type)

    def _floats(self, data_type: types.DataType, low: float, high: float) -> ColumnGenerator:
        # The difference of the largest and the least number is infinite; that of their halves is not.
        half = high / 2 - low / 2
        return lambda size: _column((low / 2 + half * self._random.random(size)) * 2, data_type)

    def _decimals(self, data_type: types.DecimalType, settings: Mapping[str, Any]) -> ColumnGenerator:
        unit = Decimal(1).scaleb(-data_type.scale)
        low, high = _limits(settings, 0.0, 10.0 ** (data_type.precision - data_type.scale) - float(unit))

        def make(size: int) -> pa.Array:
            drawn = (low + (high - low) * self._random.random(size)).tolist()
            return from_values([Decimal(repr(number)).quantize(unit) for number in drawn], data_type)

        return make

    def _texts(self, data_type: Any, settings: Mapping[str, Any]) -> ColumnGenerator:
        import numpy as np
        import pyarrow as pa

        length = settings.get("length")
        if length is None:
            length = 100 if data_type.length == types.MAX_LENGTH else data_type.length
        elif isinstance(data_type, types.VarCharType | types.VarBinaryType) and length > data_type.length:
            raise ValidationError(
                f"Custom length '{length}' for variable-length type (VARCHAR/STRING/VARBINARY/BYTES) field should be "
                f"shorter than '{data_type.length}' defined in the schema."
            )
        shortest = 1 if settings.get("var-len") else length
        kind = arrow_type(data_type)
        letters = np.frombuffer(_HEX, np.uint8) if pa.types.is_string(kind) else np.arange(256, dtype=np.uint8)

        def make(size: int) -> pa.Array:
            offsets = np.zeros(size + 1, np.int32)
            np.cumsum(self._random.integers(shortest, length, size, endpoint=True), out=offsets[1:])
            content = letters[self._random.integers(0, len(letters) - 1, offsets[-1], np.uint8, endpoint=True)]
            return pa.Array.from_buffers(kind, size, [None, pa.py_buffer(offsets), pa.py_buffer(content)])

        return make

    def _times(self, data_type: types.TimestampType | types.LocalZonedTimestampType, past: int) -> ColumnGenerator:
        factor = units_per_second(data_type) // 1_000

        def make(size: int) -> pa.Array:
            ages = self._random.integers(0, past, size, endpoint=True)
            return _column((time.time_ns() // 1_000_000 - ages) * factor, data_type)

        return make

    def _collections(self, prefix: str, data_type: types.DataType, length: int) -> ColumnGenerator:
        import numpy as np
        import pyarrow as pa

        kind = arrow_type(data_type)
        if isinstance(data_type, types.ArrayType):
            element = self.column(f"{prefix}.element", data_type.element_type)
            return lambda size: pa.ListArray.from_arrays(
                pa.array(np.arange(size + 1, dtype=np.int32) * length), element(size * length), kind
            )
        if isinstance(data_type, types.MultisetType):
            element = self.column(f"{prefix}.element", data_type.element_type)
            return self._maps(data_type, length, element, self._numbers(types.IntType(), 1, 10))
        if isinstance(data_type, types.MapType):
            key = self.column(f"{prefix}.key", data_type.key_type)
            return self._maps(data_type, length, key, self.column(f"{prefix}.value", data_type.value_type))
        if isinstance(data_type, types.RowType):
            fields = [self.column(f"{prefix}.{field.name}", field.data_type) for field in data_type.fields]
            return lambda size: pa.StructArray.from_arrays([make(size) for make in fields], fields=list(kind))
        raise ValidationError(f"Unsupported type: {data_type.as_summary_string()}")

    def _maps(
        self, data_type: types.DataType, length: int, keys: ColumnGenerator, values: ColumnGenerator
    ) -> ColumnGenerator:
        def make(size: int) -> pa.Array:
            drawn = list(zip(to_values(keys(size * length)), to_values(values(size * length)), strict=True))
            # A key that is drawn twice is one entry.
            maps = (dict(drawn[at * length : (at + 1) * length]) for at in range(size))
            return from_values([list(each.items()) for each in maps], data_type)

        return make


def _limits(settings: Mapping[str, Any], low: Any, high: Any) -> tuple[Any, Any]:
    least, most = settings.get("min"), settings.get("max")
    return low if least is None else least, high if most is None else most


def _repeated(number: int, size: int) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.full(size, number)


def _column(numbers: np.ndarray[Any, Any], data_type: types.DataType) -> pa.Array:
    """Return numbers as a column whose values are numbers of some width."""
    kind = arrow_type(data_type)
    letter = "f" if isinstance(data_type, types.FloatType | types.DoubleType) else "i"
    return _array(numbers.astype(f"{letter}{kind.bit_width // 8}")).view(kind)


def _array(values: np.ndarray[Any, Any]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values)


def _without(column: pa.Array, missing: np.ndarray[Any, Any]) -> pa.Array:
    """Return a column with NULL where a mask says so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(_array(missing), pa.scalar(None, column.type), column)
