"""SparkSink: one of Spark's own data sources as a sink. The Spark runner writes it; here records become columns."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scurry.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from scurry.common.types import Row
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentError, UnsupportedError

__all__ = ["SparkSink"]

_SPARK_NAMES = {
    BasicType.STRING: "STRING",
    BasicType.CHAR: "STRING",
    BasicType.BYTE: "TINYINT",
    BasicType.BOOLEAN: "BOOLEAN",
    BasicType.SHORT: "SMALLINT",
    BasicType.INT: "INT",
    BasicType.LONG: "BIGINT",
    BasicType.FLOAT: "FLOAT",
    BasicType.DOUBLE: "DOUBLE",
    BasicType.BIG_INT: "DECIMAL(38,0)",
    BasicType.BIG_DEC: "DECIMAL(38,18)",
    BasicType.INSTANT: "TIMESTAMP",
}


@dataclass(frozen=True)
class SparkSink(Sink):
    """Writes records as rows of a Spark data source, once per micro-batch that has any, from Spark's tasks.

    At least once in STREAMING: when a job is restarted after a crash, the micro-batch at which it crashed is written
    again. Use a FileSink for files that hold every record once. In BATCH it is as atomic as the data source is.

    A record is a Row, tuple, dict or object with an attribute per column; with a single column it may be the value
    itself. Datetimes without a time zone are taken to be in the session's.

    Attributes:
        format: The data source, such as "parquet".
        options: Its options.
        mode: Spark's save mode.
        schema: Name and Spark SQL type of each column, in the order of the records' fields.
    """

    format: str
    options: Mapping[str, str]
    mode: str
    schema: tuple[tuple[str, str], ...]

    native = False

    @classmethod
    def of(
        cls,
        format: str,  # noqa: A002 - Spark's word for it
        options: Mapping[str, str] | None,
        columns: Sequence[str] | Mapping[str, str] | None,
        mode: str,
        type_info: TypeInformation | None,
    ) -> SparkSink:
        """Describe a sink for records of a declared type.

        Args:
            format: The data source.
            options: Its options.
            columns: Names, or names with Spark SQL types; None takes both from `type_info`.
            mode: Spark's save mode.
            type_info: Declared type of the records.

        Raises:
            ArgumentError: Neither `columns` nor `type_info` says what the columns are.
        """
        if isinstance(columns, Mapping):
            schema = tuple(columns.items())
        else:
            names, types = _declared_columns(type_info)
            if columns is not None and len(columns) != len(names):
                raise ArgumentError(f"{len(columns)} column names for records of {len(names)} fields ({type_info})")
            schema = tuple(zip(columns or names, map(_spark_type, types), strict=True))
        return cls(format, dict(options or {}), mode, schema)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Fail: Spark writes."""
        raise _spark_only()

    def create_committer(self, sink_id: str) -> Committer:
        """Fail: Spark writes."""
        raise _spark_only()

    def record_batch(self, values: Sequence[Any], columns: Any) -> Any:
        """Return records as an Arrow record batch.

        Args:
            values: The records.
            columns: Arrow schema with the names of `schema`.
        """
        import pyarrow as pa

        names = columns.names
        rows = [_fields(value, names) for value in values]
        arrays = []
        for field, column in zip(columns, zip(*rows, strict=True), strict=True):
            convert = _to_arrow(field.type)
            arrays.append(pa.array(column if convert is None else list(map(convert, column)), field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=columns)


def _spark_only() -> UnsupportedError:
    return UnsupportedError("to_spark() writes through the Spark runner only; run the job with --runner spark")


def _fields(value: Any, names: Sequence[str]) -> Sequence[Any]:
    """The fields of a record, in the order of the columns."""
    if isinstance(value, (Row, tuple)):
        if len(value) != len(names):
            raise ValueError(f"a record of {len(value)} fields for {len(names)} columns")
        return tuple(value)
    if isinstance(value, dict):
        return [value[name] for name in names]
    if len(names) == 1:
        return (value,)
    return [getattr(value, name) for name in names]


def _to_arrow(kind: Any) -> Callable[[Any], Any] | None:
    """What turns a value of a record into one pyarrow takes for this type; None where it takes it as it is."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        parts = [_to_arrow(field.type) or _same for field in kind]
        return _nullable(
            lambda value: {n: part(v) for n, part, v in zip(names, parts, _fields(value, names), strict=True)}
        )
    if pa.types.is_map(kind):
        key, item = _to_arrow(kind.key_type) or _same, _to_arrow(kind.item_type) or _same
        return _nullable(lambda value: [(key(k), item(v)) for k, v in value.items()])
    if pa.types.is_list(kind):
        element = _to_arrow(kind.value_type)
        return None if element is None else _nullable(lambda value: list(map(element, value)))
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        zone = zoneinfo.ZoneInfo(kind.tz)
        return lambda value: _in_zone(value, zone)
    return None


def _in_zone(value: Any, zone: datetime.tzinfo) -> Any:
    naive = isinstance(value, datetime.datetime) and value.tzinfo is None
    return value.replace(tzinfo=zone) if naive else value


def _nullable(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else convert(value)


def _same(value: Any) -> Any:
    return value


def _declared_columns(type_info: TypeInformation | None) -> tuple[list[str], list[TypeInformation]]:
    if isinstance(type_info, RowTypeInfo):
        return type_info.get_field_names(), type_info.get_field_types()
    if isinstance(type_info, TupleTypeInfo):
        types = type_info.get_field_types()
        return [f"f{i}" for i in range(len(types))], types
    if type_info is None or type_info == Types.PICKLED_BYTE_ARRAY():
        raise ArgumentError(
            "the columns are not known: declare the stream's output_type, or pass columns={name: Spark SQL type, ...}"
        )
    return ["value"], [type_info]


def _spark_type(type_info: TypeInformation) -> str:
    if isinstance(type_info, BasicTypeInfo):
        return _SPARK_NAMES[type_info.basic_type]
    if isinstance(type_info, DateTypeInfo):
        return "DATE"
    if isinstance(type_info, TimestampTypeInfo):
        return "TIMESTAMP"
    if isinstance(type_info, ListTypeInfo):
        return f"ARRAY<{_spark_type(type_info.elem_type)}>"
    if isinstance(type_info, MapTypeInfo):
        return f"MAP<{_spark_type(type_info.key_type)}, {_spark_type(type_info.value_type)}>"
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        names, types = _declared_columns(type_info)
        return f"STRUCT<{', '.join(f'{n}: {_spark_type(t)}' for n, t in zip(names, types, strict=True))}>"
    raise ArgumentError(f"{type_info} has no Spark SQL type; pass columns={{name: Spark SQL type, ...}}")
