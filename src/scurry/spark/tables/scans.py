"""Tables that Spark reads and writes itself: Parquet files, with pushdown, and the formats of the `spark` connector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_type

from scurry.errors import ValidationError
from scurry.spark.frames import in_session
from scurry.spark.tables.types import column_name, frame_columns, from_spark, spark_schema, spark_type, to_spark
from scurry.sql import types
from scurry.sql.connectors.filesystem.reading import FileTableSource
from scurry.sql.connectors.inline import FrameSource
from scurry.sql.connectors.spark import SparkTable, SparkTableSink, SparkTableSource
from scurry.sql.plan.schema import Schema
from scurry.sql.types import DataType, LocalZonedTimestampType
from scurry.sql.types.arrow import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

#: Types whose values Spark reads as Arrow does; for timestamps Spark asks for a zone that files may lack.
_SAME: Final = (
    types.BooleanType,
    types.TinyIntType,
    types.SmallIntType,
    types.IntType,
    types.BigIntType,
    types.FloatType,
    types.DoubleType,
    types.DecimalType,
    types.DateType,
    types.VarCharType,
    types.VarBinaryType,
)


def native_scan(session: SparkSession, source: Any, splits: Sequence[Any], schema: Schema) -> DataFrame | None:
    """Return the columns of a table as Spark reads them, under their own names, None if scurry has to read them."""
    if isinstance(source, SparkTableSource):
        return load(session, source.table, schema)
    if isinstance(source, FrameSource):
        return frame_columns(in_session(session, source.frame), schema) if len(schema) else None
    if not isinstance(source, FileTableSource) or source.format.identifier != "parquet" or not splits:
        return None
    stored = {column.name for column in source.declared}
    if not len(schema) or not all(each.name in stored and isinstance(each.type, _SAME) for each in schema):
        return None
    paths = [f"file://{path}" if path.startswith("/") else path for path in (each.status.path for each in splits)]
    fields = [spark.StructField(each.name, spark_type(each.type)) for each in schema]
    return session.read.schema(spark.StructType(fields)).parquet(*paths)


def load(session: SparkSession, table: SparkTable, schema: Schema) -> DataFrame:
    """Return some columns of a table, in the types that it declares.

    Raises:
        ValidationError: There is no such column.
    """
    frame = session.read.format(table.format).options(**dict(table.options)).load(table.path)
    known = {field.name: field.dataType for field in frame.schema.fields}
    for each in schema:
        if each.name not in known:
            listed = ", ".join(f"{name} {kind.simpleString()}" for name, kind in known.items())
            raise ValidationError(f"The data of format '{table.format}' has no column '{each.name}'; it has {listed}.")
    return frame.select(*(_declared(each.name, known[each.name], spark_type(each.type)) for each in schema))


def _declared(name: str, found: spark.DataType, wanted: spark.DataType) -> Column:
    """Return a column in a type; a value that does not fit fails the query."""
    column = F.col(_quoted(name))
    if found == wanted:
        return column
    if isinstance(wanted, spark.ArrayType | spark.MapType | spark.StructType):
        return column.cast(wanted).alias(name)
    converted = column.try_cast(wanted)
    text = F.concat(
        F.lit(f"column '{name}' is {wanted.simpleString()}, which this value does not fit: "), column.cast("string")
    )
    return F.when(column.isNotNull() & converted.isNull(), F.raise_error(text)).otherwise(converted).alias(name)


def save(
    frame: DataFrame, schema: Schema, sink: SparkTableSink, checked: Callable[[pa.RecordBatch], pa.RecordBatch] | None
) -> int:
    """Write rows to a table; return how many.

    Args:
        frame: The rows, with columns by position.
        checked: A function that is applied to all rows, in the tasks; None for none.
    """
    table = sink.table
    if checked is not None:
        frame = frame.mapInArrow(_applied(checked, schema), spark_schema(schema))
    columns = [
        F.col(column_name(index)).cast(_stored_type(column.type)).alias(column.name)
        for index, column in enumerate(table.columns)
    ]
    counted = Observation()
    frame = frame.select(*columns).observe(counted, F.count(F.lit(1)).alias("rows"))
    writer = frame.write.format(table.format).options(**dict(table.options))
    if table.partition_keys:
        writer = writer.partitionBy(*table.partition_keys)
        if sink.overwrite:
            writer = writer.option("partitionOverwriteMode", "dynamic")
    writer.mode("overwrite" if sink.overwrite else "append").save(table.path)
    return int(counted.get.get("rows", 0))


def _stored_type(data_type: DataType) -> spark.DataType:
    """Return the type in which a column is stored: structs have the names of their fields, LTZ is Spark's TIMESTAMP."""
    found = from_arrow_type(arrow_type(data_type), prefer_timestamp_ntz=True)
    return spark.TimestampType() if isinstance(data_type, LocalZonedTimestampType) else found


def _applied(
    checked: Callable[[pa.RecordBatch], pa.RecordBatch], schema: Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield to_spark(checked(from_spark(batch, schema)), schema)

    return run


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
