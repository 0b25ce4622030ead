"""The `datagen` connector: rows that are made up, at random or in sequence."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from scurry.catalog.table_options import Options, TableOption, whole_number
from scurry.common._config.option import parse_duration
from scurry.connectors.datagen import DataGeneratorSource
from scurry.connectors.files.formats.csv.schema import parse_double
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.connectors.tables.contract import TableContext, TableFactory, TableSource
from scurry.connectors.tables.parallelism import SCAN_PARALLELISM
from scurry.errors import ValidationError
from scurry.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.logical_types.values import from_values

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DataGenFactory"]

Maker = Callable[[], Any]
AnyOption = TableOption[Any]

ROWS_PER_SECOND = TableOption("rows-per-second", whole_number, 10_000, "Rows per second.", checked_late=True)
NUMBER_OF_ROWS = TableOption(
    "number-of-rows", whole_number, None, "Rows in all; without, they do not end.", checked_late=True
)

_BITS: dict[type[DataType], int] = {TinyIntType: 8, SmallIntType: 16, IntType: 32, BigIntType: 64}
_LENGTHS = (VarCharType, VarBinaryType)
_UNBOUNDED = 0x7FFFFFFF
# One of its own: the numbers that programs draw from `random` stay theirs.
_RANDOM = random.Random()
_HEX = "0123456789abcdef"
_CHUNK = 10_000


def _share(text: str) -> float:
    return parse_double(text)


class DataGenFactory(TableFactory):
    """Make sources of made-up rows."""

    identifier = "datagen"

    def options(self, context: TableContext) -> Sequence[AnyOption]:
        """Return the options of the table and of its fields."""
        found: list[AnyOption] = [ROWS_PER_SECOND, NUMBER_OF_ROWS, SCAN_PARALLELISM]
        for column in context.schema.get_columns():
            if column.is_physical():
                found += _field_options(column.name, column.data_type, context.read_options())
        return found

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of made-up rows."""
        options = self.check(context)
        columns = [column for column in context.schema.get_columns() if column.is_physical()]
        fields = tuple((column.name, column.data_type) for column in columns)
        count = options.find(NUMBER_OF_ROWS)
        sequences = [_sequence(name, options) for name, kind in fields if _is_sequence(name, kind, options)]
        ends = [end - start + 1 for start, end in sequences]
        total = min([*ends, *([] if count is None else [count])], default=None)
        return DataGenSource(
            fields,
            options,
            total,
            options.get(ROWS_PER_SECOND),
            bounded=count is not None,
            parallelism=options.find(SCAN_PARALLELISM),
        )


@dataclass(frozen=True)
class DataGenSource(TableSource):
    """Make up rows.

    Attributes:
        fields: Names and types of the columns.
        options: What they are made of.
        total: Number of rows, None if they do not end.
        rate: Rows per second.
        bounded: Whether the table says how many rows there are.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
    """

    fields: tuple[tuple[str, DataType], ...]
    options: Options
    total: int | None
    rate: int
    bounded: bool = True
    parallelism: int | None = None

    def splits(self) -> list[Any]:
        """Return one piece: all rows."""
        return [self.total]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows at the configured rate."""
        total, done, begun = split, 0, time.monotonic()
        for batch in self._rows(0, total, columns):
            yield batch
            done += batch.num_rows
            ahead = done / self.rate - (time.monotonic() - begun)
            if ahead > 0 and (total is None or done < total):
                time.sleep(ahead)

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return what assigns ranges of rows at the configured rate."""
        rows = DataGeneratorSource(int, self.total, self.rate)
        return rows.create_enumerator(channels, limits)

    def read_assigned(self, work: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield a range of the rows; those of a sequence are the same whenever they are made."""
        start, stop = work
        yield from self._rows(start, stop, columns)

    def _rows(self, start: int, stop: int | None, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        types = dict(self.fields)
        makers = [(_maker(name, types[name], self.options, start), types[name]) for name in columns]
        at = start
        while stop is None or at < stop:
            size = max(1, min(_CHUNK, self.rate, _CHUNK if stop is None else stop - at))
            if makers:
                arrays = [from_values([make() for _ in range(size)], data_type) for make, data_type in makers]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            else:
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * size, pa.struct([])))
            at += size


def _is_sequence(name: str, data_type: DataType, options: Options) -> bool:
    chosen = options.get(_kind(name))
    if chosen not in ("random", "sequence"):
        raise ValidationError(f"Unsupported generator kind: {chosen}")
    return chosen == "sequence" and _has_sequence(name, data_type)


def _has_sequence(name: str, data_type: DataType) -> bool:
    if isinstance(data_type, TimestampType | LocalZonedTimestampType | ArrayType | MapType | MultisetType | RowType):
        raise ValidationError(f"Unsupported type: {data_type.as_summary_string()}")
    return not isinstance(data_type, BooleanType | DateType | TimeType | BinaryType | VarBinaryType)


def _kind(name: str) -> TableOption[str]:
    return TableOption(f"fields.{name}.kind", str, "random", "`random` or `sequence`.", checked_late=True)


def _sequence(name: str, options: Options) -> tuple[int, int]:
    limits = []
    for end in ("start", "end"):
        option = TableOption[int](f"fields.{name}.{end}", whole_number, None, checked_late=True)
        value = options.find(option)
        if value is None:
            raise ValidationError(f"Could not find required property '{option.key}' for sequence generator.")
        limits.append(value)
    return limits[0], limits[1]


def _field_options(name: str, data_type: DataType, options: Options) -> list[AnyOption]:
    found: list[AnyOption] = [_kind(name)]
    if _is_sequence(name, data_type, options):
        return found + [
            TableOption(f"fields.{name}.{end}", whole_number, None, checked_late=True) for end in ("start", "end")
        ]
    return found + _random_options(f"fields.{name}", data_type)


def _random_options(prefix: str, data_type: DataType) -> list[AnyOption]:
    def option(key: str, parse: Callable[[str], Any], default: Any) -> AnyOption:
        return TableOption(f"{prefix}.{key}", parse, default, checked_late=True)

    null_rate = option("null-rate", _share, 0.0)
    if isinstance(data_type, BooleanType | CharType):
        return [null_rate]
    if isinstance(data_type, VarCharType):
        return [option("length", whole_number, None), option("var-len", _truth, False), null_rate]
    if isinstance(data_type, VarBinaryType):
        return [option("length", whole_number, None), option("var-len", _truth, False)]
    if type(data_type) in _BITS:
        return [option("min", whole_number, None), option("max", whole_number, None), null_rate]
    if isinstance(data_type, FloatType | DoubleType | DecimalType):
        return [option("min", parse_double, None), option("max", parse_double, None), null_rate]
    if isinstance(data_type, DayTimeIntervalType | YearMonthIntervalType):
        return [option("min", whole_number, None), option("max", whole_number, None), null_rate]
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return [option("max-past", parse_duration, 0), null_rate]
    own = [option("length", whole_number, 3), null_rate]
    if isinstance(data_type, ArrayType | MultisetType):
        return own + _random_options(f"{prefix}.element", data_type.element_type)
    if isinstance(data_type, MapType):
        key, value = f"{prefix}.key", f"{prefix}.value"
        return own + _random_options(key, data_type.key_type) + _random_options(value, data_type.value_type)
    if isinstance(data_type, RowType):
        fields = [o for f in data_type.fields for o in _random_options(f"{prefix}.{f.name}", f.data_type)]
        return [null_rate, *fields]
    return []


def _truth(text: str) -> bool:
    return text.lower() == "true"


def _maker(name: str, data_type: DataType, options: Options, at: int) -> Maker:
    """Return what makes the values of a column, beginning with the row at a position."""
    if _is_sequence(name, data_type, options):
        start, _ = _sequence(name, options)
        return _counting(start + at, data_type)
    return _random(f"fields.{name}", data_type, options)


def _counting(start: int, data_type: DataType) -> Maker:
    at = start - 1

    def make() -> Any:
        nonlocal at
        at += 1
        if isinstance(data_type, CharType | VarCharType):
            return str(at)
        if isinstance(data_type, DecimalType):
            return Decimal(at)
        return float(at) if isinstance(data_type, FloatType | DoubleType) else at

    return make


def _random(prefix: str, data_type: DataType, options: Options) -> Maker:
    settings = {
        option.key.removeprefix(f"{prefix}."): options.find(option)
        for option in _random_options(prefix, data_type)
        if "." not in option.key.removeprefix(f"{prefix}.")
    }
    make = _random_value(prefix, data_type, settings, options)
    null_rate = settings.get("null-rate") or 0.0
    return make if not null_rate else lambda: None if _RANDOM.random() < null_rate else make()


def _random_value(prefix: str, data_type: DataType, settings: dict[str, Any], options: Options) -> Maker:
    if isinstance(data_type, IntegralType):
        limit = 1 << (_BITS[type(data_type)] - 1)
        low, high = _limits(settings, -limit, limit - 1)
        return lambda: _RANDOM.randint(low, high)
    if isinstance(data_type, FloatType | DoubleType):
        largest = 3.4e38 if isinstance(data_type, FloatType) else 1.7e308
        low, high = _limits(settings, -largest, largest)
        return lambda: low + (high / 2 - low / 2) * _RANDOM.random() * 2
    if isinstance(data_type, DecimalType):
        return _random_decimal(data_type, settings)
    if isinstance(data_type, CharType | VarCharType | BinaryType | VarBinaryType):
        return _random_text(data_type, settings)
    if isinstance(data_type, BooleanType):
        return lambda: _RANDOM.random() < 0.5
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return _random_time(data_type, settings)
    if isinstance(data_type, DateType):
        return lambda: int(time.time()) // 86_400
    if isinstance(data_type, TimeType):
        return lambda: _RANDOM.randrange(86_400_000)
    if isinstance(data_type, DayTimeIntervalType | YearMonthIntervalType):
        low, high = _limits(settings, 0, 120_000 if isinstance(data_type, YearMonthIntervalType) else 1 << 40)
        return lambda: _RANDOM.randint(low, high)
    return _random_collection(prefix, data_type, settings, options)


def _limits(settings: dict[str, Any], low: Any, high: Any) -> tuple[Any, Any]:
    least, most = settings.get("min"), settings.get("max")
    return low if least is None else least, high if most is None else most


def _random_decimal(data_type: DecimalType, settings: dict[str, Any]) -> Maker:
    unit = Decimal(1).scaleb(-data_type.scale)
    largest = 10.0 ** (data_type.precision - data_type.scale) - float(unit)
    low, high = _limits(settings, 0.0, largest)
    return lambda: Decimal(repr(low + (high - low) * _RANDOM.random())).quantize(unit)


def _random_text(data_type: Any, settings: dict[str, Any]) -> Maker:
    length = settings.get("length")
    if length is None:
        length = 100 if data_type.length == _UNBOUNDED else data_type.length
    elif isinstance(data_type, _LENGTHS) and length > data_type.length:
        raise ValidationError(
            f"Custom length '{length}' for variable-length type (VARCHAR/STRING/VARBINARY/BYTES) field should be "
            f"shorter than '{data_type.length}' defined in the schema."
        )
    shortest = 1 if settings.get("var-len") else length
    if isinstance(data_type, BinaryType | VarBinaryType):
        return lambda: _RANDOM.randbytes(_RANDOM.randint(shortest, length))
    return lambda: "".join(_RANDOM.choices(_HEX, k=_RANDOM.randint(shortest, length)))


def _random_time(data_type: TimestampType | LocalZonedTimestampType, settings: dict[str, Any]) -> Maker:
    past = settings.get("max-past") or 0
    factor = 1 if data_type.precision <= 3 else 1_000 if data_type.precision <= 6 else 1_000_000
    return lambda: (time.time_ns() // 1_000_000 - _RANDOM.randint(0, past)) * factor


def _random_collection(prefix: str, data_type: DataType, settings: dict[str, Any], options: Options) -> Maker:
    length = settings.get("length") or 0
    if isinstance(data_type, ArrayType):
        element = _random(f"{prefix}.element", data_type.element_type, options)
        return lambda: [element() for _ in range(length)]
    if isinstance(data_type, MultisetType):
        element = _random(f"{prefix}.element", data_type.element_type, options)
        return lambda: list({element(): _RANDOM.randint(1, 10) for _ in range(length)}.items())
    if isinstance(data_type, MapType):
        key = _random(f"{prefix}.key", data_type.key_type, options)
        value = _random(f"{prefix}.value", data_type.value_type, options)
        return lambda: list({key(): value() for _ in range(length)}.items())
    if isinstance(data_type, RowType):
        fields = [_random(f"{prefix}.{field.name}", field.data_type, options) for field in data_type.fields]
        return lambda: tuple(make() for make in fields)
    raise ValidationError(f"Unsupported type: {data_type.as_summary_string()}")
