"""Conversion of a plan's columns and record batches to Spark's types and back.

Columns are named by position, as names of a plan may repeat: `c0`, `c1`, ...
Spark has timestamps of microseconds only: those of at most 6 digits are TIMESTAMP_NTZ, more precise ones are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark

from scurry.sql import types
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import batch_of_columns

# A batch without columns has a number of rows all the same; Spark's have none, so one column stands for it.
_NO_COLUMNS = "rows"


def column_name(index: int) -> str:
    return f"c{index}"


def spark_schema(schema: Schema) -> spark.StructType:
    """Return the schema of the DataFrame that has the columns of a plan."""
    if not len(schema):
        return spark.StructType([spark.StructField(_NO_COLUMNS, spark.BooleanType())])
    return spark.StructType(
        [spark.StructField(column_name(index), spark_type(column.type)) for index, column in enumerate(schema)]
    )


def spark_type(data_type: types.DataType) -> spark.DataType:
    """Return the type that values of a SQL type have in Spark."""
    return _spark_type(_wire_type(arrow_type(data_type)))


def to_spark(batch: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    """Return a batch of a plan as Spark takes it."""
    if not len(schema):
        return pa.RecordBatch.from_arrays([pa.nulls(batch.num_rows, pa.bool_())], names=[_NO_COLUMNS])
    columns = [
        _converted(array, _wire_type(arrow_type(column.type)))
        for array, column in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=[column_name(index) for index in range(len(columns))])


def from_spark(batch: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    stored = batch.columns if len(schema) else ()
    columns = [_converted(array, arrow_type(column.type)) for array, column in zip(stored, schema, strict=True)]
    return batch_of_columns(columns, schema.names, batch.num_rows)


def own_column(column: Any, data_type: types.DataType) -> Any:
    """Return a column of the wire as a column of Spark's own type."""
    from pyspark.sql import functions

    kind = arrow_type(data_type)
    if not pa.types.is_timestamp(kind):
        return column
    if kind.unit == "ns":
        column = functions.timestamp_micros(functions.floor(column / 1000)).cast("timestamp_ntz")
    return column.cast("timestamp") if isinstance(data_type, types.LocalZonedTimestampType) else column


def frame_columns(frame: Any, schema: Schema) -> Any:
    """Return the columns of a DataFrame of Spark as they are on the wire, under their own names."""
    names = []
    for column in schema:
        found = frame[column.name]
        is_time = isinstance(column.type, types.LocalZonedTimestampType | types.TimestampType)
        names.append((found.cast("timestamp_ntz") if is_time else found).alias(column.name))
    return frame.select(*names)


def _wire_type(kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type in which Spark exchanges values of an Arrow type."""
    if pa.types.is_timestamp(kind):
        return pa.int64() if kind.unit == "ns" else pa.timestamp("us")
    if pa.types.is_time32(kind):
        return pa.int32()
    if pa.types.is_null(kind):
        return pa.bool_()
    if pa.types.is_map(kind):
        return pa.map_(_wire_type(kind.key_type), _wire_type(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", _wire_type(kind.value_type)))
    if pa.types.is_struct(kind):
        fields = [pa.field(column_name(index), _wire_type(each.type)) for index, each in enumerate(kind)]
        return pa.struct(fields)
    return kind


_SIMPLE: dict[pa.DataType, spark.DataType] = {
    pa.bool_(): spark.BooleanType(),
    pa.int8(): spark.ByteType(),
    pa.int16(): spark.ShortType(),
    pa.int32(): spark.IntegerType(),
    pa.int64(): spark.LongType(),
    pa.float32(): spark.FloatType(),
    pa.float64(): spark.DoubleType(),
    pa.string(): spark.StringType(),
    pa.binary(): spark.BinaryType(),
    pa.date32(): spark.DateType(),
    pa.timestamp("us"): spark.TimestampNTZType(),
}


def _spark_type(kind: pa.DataType) -> spark.DataType:
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    if pa.types.is_decimal(kind):
        return spark.DecimalType(kind.precision, kind.scale)
    if pa.types.is_map(kind):
        return spark.MapType(_spark_type(kind.key_type), _spark_type(kind.item_type))
    if pa.types.is_list(kind):
        return spark.ArrayType(_spark_type(kind.value_type))
    return spark.StructType([spark.StructField(each.name, _spark_type(each.type)) for each in kind])


def _converted(array: Any, kind: pa.DataType) -> Any:
    if array.type == kind:
        return array
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    convert = next((convert for applies, convert in _NESTED if applies(kind)), None)
    if convert is not None:
        return convert(array, kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(array))
    return array.cast(kind, safe=False)


def _converted_list(array: pa.ListArray, kind: pa.DataType) -> pa.Array:
    values = _converted(array.flatten(), kind.value_type)
    return pa.ListArray.from_arrays(_offsets(array), values, type=kind, mask=_mask(array))


def _converted_map(array: pa.MapArray, kind: pa.DataType) -> pa.Array:
    array = pa.concat_arrays([array])  # offsets from zero, without values that belong to no row
    first, last = (array.offsets[place].as_py() for place in (0, -1)) if len(array) else (0, 0)
    keys = _converted(array.keys[first:last], kind.key_type)
    items = _converted(array.items[first:last], kind.item_type)
    return pa.MapArray.from_arrays(_offsets(array), keys, items, type=kind, mask=_mask(array))


def _converted_struct(array: pa.StructArray, kind: pa.DataType) -> pa.Array:
    children = [_converted(child, field.type) for child, field in zip(array.flatten(), kind, strict=True)]
    if not children:
        return array
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=array.is_null())


def _offsets(array: Any) -> pa.Array:
    import numpy as np
    import pyarrow.compute as pc

    if pa.types.is_map(array.type):
        offsets = np.asarray(array.offsets)
        return pa.array((offsets - offsets[0] if len(offsets) else offsets).astype(np.int32))
    lengths = np.asarray(pc.fill_null(pc.list_value_length(array), 0))
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))


def _mask(array: Any) -> Any:
    return array.is_null() if array.null_count else None


_NESTED: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any, pa.DataType], Any]], ...] = (
    (pa.types.is_map, _converted_map),
    (pa.types.is_list, _converted_list),
    (pa.types.is_struct, _converted_struct),
)


def is_orderable(data_type: types.DataType) -> bool:
    """Return whether Spark can group and join by values of a type: it cannot by maps."""
    return not _has_map(arrow_type(data_type))


def _has_map(kind: pa.DataType) -> bool:
    if pa.types.is_map(kind):
        return True
    return any(_has_map(kind.field(index).type) for index in range(kind.num_fields))


def has_nested_floats(data_type: types.DataType) -> bool:
    """Return whether elements or fields of a type are floating-point numbers."""
    if isinstance(data_type, types.ArrayType):
        parts = [data_type.element_type]
    else:
        parts = [field.data_type for field in data_type.fields] if isinstance(data_type, types.RowType) else []
    return any(isinstance(each, (types.FloatType, types.DoubleType)) or has_nested_floats(each) for each in parts)
