"""Tables that Spark reads itself: Parquet files, with pushdown of filters and columns, and tables of `spark`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import types as spark

from scurry.spark.frames import in_session
from scurry.spark.tables.formats import load
from scurry.spark.tables.types import frame_columns, spark_type
from scurry.sql import types
from scurry.sql.connectors.filesystem.reading import FileTableSource
from scurry.sql.connectors.inline import FrameSource
from scurry.sql.connectors.spark import SparkTableSource
from scurry.sql.plan.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
    """Return the columns of a table as Spark reads them, under their own names, None if scurry has to read them.

    Args:
        session: Spark's session.
        source: The table's source.
        splits: Its splits.
        schema: The columns to read.
    """
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
