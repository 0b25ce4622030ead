"""SparkSink: one of Spark's own data sources as a sink. Pure data; the Spark runner writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from scurry.errors import ArgumentError

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
class SparkSink:
    """Writes records as rows of a Spark data source.

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
