"""Tables of the `datagen` connector: their options, and the source of their rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common._config.option import parse_duration
from scurry.connectors.datagen import DataGeneratorSource
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, whole_number
from scurry.sql.connectors.contract import Changes, TableContext, TableFactory, TableSource
from scurry.sql.connectors.datagen.columns import ColumnGenerator, RandomColumns, sequence_column
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM
from scurry.sql.types import (
    ArrayType,
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
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.sql.types.values import batch_of_columns
from scurry.sql.values.parsing import parse_double

if TYPE_CHECKING:
    import pyarrow as pa

AnyOption = TableOption[Any]

ROWS_PER_SECOND = TableOption("rows-per-second", whole_number, 10_000, "Rows per second.", checked_late=True)
NUMBER_OF_ROWS = TableOption(
    "number-of-rows", whole_number, None, "Rows in all; without, they do not end.", checked_late=True
)

_CHUNK = 10_000


def _share(text: str) -> float:
    return parse_double(text)


class DataGenFactory(TableFactory):
    """Make sources of made-up rows."""

    identifier = "datagen"

    def options(self, context: TableContext) -> Sequence[AnyOption]:
        """Return the options of the table and of its fields."""
        found: list[AnyOption] = [ROWS_PER_SECOND, NUMBER_OF_ROWS, SCAN_PARALLELISM]
        for column in context.physical_columns:
            found += _field_options(column.name, column.type, context.read_options())
        return found

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of made-up rows."""
        options = self.check(context)
        fields = tuple((column.name, column.type) for column in context.physical_columns)
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
        options: Options of the generators.
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
        return [(0, self.total, True)]

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges of rows at the configured rate."""
        rows = DataGeneratorSource(int, self.total, self.rate)
        return rows.create_enumerator(channels, limits)

    def pieces(self, work: Any) -> Iterable[Any]:
        """Return the range that is assigned; the enumerator keeps the rate."""
        return [(*work, False)]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield a range of the rows; those of a sequence are the same whenever they are made."""
        start, stop, paced = split
        done, begun = start, time.monotonic()
        for batch in self._rows(start, stop, columns):
            yield Changes(batch)
            done += batch.num_rows
            ahead = done / self.rate - (time.monotonic() - begun)
            if paced and ahead > 0 and (stop is None or done < stop):
                time.sleep(ahead)

    def _rows(self, start: int, stop: int | None, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:

        types = dict(self.fields)
        generators = [self._generator(name, types[name], start) for name in columns]
        at = start
        while stop is None or at < stop:
            size = max(1, min(_CHUNK, self.rate, _CHUNK if stop is None else stop - at))
            yield batch_of_columns([make(size) for make in generators], columns, size)
            at += size

    def _generator(self, name: str, data_type: DataType, at: int) -> ColumnGenerator:
        if _is_sequence(name, data_type, self.options):
            start, _ = _sequence(name, self.options)
            return sequence_column(start + at, data_type)
        return RandomColumns(lambda prefix, kind: _settings(prefix, kind, self.options)).column(
            f"fields.{name}", data_type
        )


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
    if isinstance(data_type, IntegralType):
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


def _settings(prefix: str, data_type: DataType, options: Options) -> dict[str, Any]:
    """Return the options of a column or an element, by the last word of the option's key."""
    found = ((option, option.key.removeprefix(f"{prefix}.")) for option in _random_options(prefix, data_type))
    return {name: options.find(option) for option, name in found if "." not in name}


def _truth(text: str) -> bool:
    return text.lower() == "true"
