"""SparkSink: writes to one of Spark's own data sources, through the Spark runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.spark_columns import declared_columns, fields_of, spark_type, to_arrow
from scurry.errors import ArgumentError, UnsupportedError


@dataclass(frozen=True)
class SparkSink(Sink):
    """Write records as rows of a Spark data source, once per non-empty micro-batch, from Spark's tasks.

    At least once in STREAMING: after a crash, the micro-batch in which the job crashed is written again. Use a FileSink
    for files that hold every record once. In BATCH, writing is as atomic as the data source makes it.

    A record is a Row, tuple, dict or object with an attribute per column; with a single column it may be the value
    itself. Datetimes without a time zone are interpreted in the session's time zone.

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
            names, types = declared_columns(type_info)
            if columns is not None and len(columns) != len(names):
                raise ArgumentError(f"{len(columns)} column names for records of {len(names)} fields ({type_info})")
            schema = tuple(zip(columns or names, map(spark_type, types), strict=True))
        return cls(format, dict(options or {}), mode, schema)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Raise UnsupportedError: only the Spark runner writes."""
        raise _spark_only()

    def create_committer(self, sink_id: str) -> Committer:
        """Raise UnsupportedError: only the Spark runner writes."""
        raise _spark_only()

    def record_batch(self, values: Sequence[Any], columns: Any) -> Any:
        """Return records as an Arrow record batch.

        Args:
            values: The records.
            columns: Arrow schema with the names of `schema`.
        """
        import pyarrow as pa

        names = columns.names
        rows = [fields_of(value, names) for value in values]
        arrays = []
        for field, column in zip(columns, zip(*rows, strict=True), strict=True):
            convert = to_arrow(field.type)
            arrays.append(pa.array(column if convert is None else list(map(convert, column)), field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=columns)


def _spark_only() -> UnsupportedError:
    return UnsupportedError("to_spark() writes through the Spark runner only; run the job with --runner spark")
