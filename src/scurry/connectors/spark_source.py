"""SparkSource: reads a Spark DataFrame, through the Spark runner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.nullable import nullable
from scurry.common.typeinfo import TypeInformation
from scurry.common.types import Row
from scurry.connectors.files.formats.rows import ColumnRows
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.errors import UnsupportedError


@dataclass(frozen=True, eq=False)
class SparkSource(Source):
    """A source of the rows of a DataFrame, as Rows with the names of its columns.

    Structs become Rows, maps dicts, TIMESTAMPs aware datetimes in the session's time zone.

    A batch DataFrame is read once, when the job starts. A streaming DataFrame is read with Spark's own offsets in the
    checkpoint: exactly once if Spark's source can replay. It never ends by itself. Its watermarks advance at the end of
    a micro-batch, because Spark guarantees no order within one.

    Attributes:
        dataframe: A batch or streaming `pyspark.sql.DataFrame`; opaque, because this module does not import Spark.
        columns: The names of its columns.
        bounded: Whether it is a batch DataFrame.
        type_info: Declared type of the records; None for unconverted Rows.
    """

    dataframe: Any
    columns: tuple[str, ...]
    bounded: bool
    type_info: TypeInformation | None = None

    native = False

    @classmethod
    def of(cls, dataframe: Any, type_info: TypeInformation | None = None) -> SparkSource:
        """Describe a DataFrame.

        Raises:
            TypeError: It is not a Spark DataFrame.
        """
        if not hasattr(dataframe, "isStreaming") or not hasattr(dataframe, "columns"):
            raise TypeError(f"expected a pyspark.sql.DataFrame, got {dataframe!r}")
        return cls(dataframe, tuple(dataframe.columns), not dataframe.isStreaming, type_info)

    @property
    def produced_type(self) -> TypeInformation | None:
        return self.type_info

    def channels(self, parallelism: int) -> int:
        """Return the number of parallel readers; all tasks of a streaming DataFrame count as one."""
        return parallelism if self.bounded else 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Raise UnsupportedError: only the Spark runner reads a DataFrame."""
        raise UnsupportedError("a Spark DataFrame is read by the Spark runner only; run the job with --runner spark")

    def read(self, work: Iterable[Any], sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of Arrow record batches."""
        return sliced(map(arrow_rows, work), sizer)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out the DataFrame: tasks get its rows."""
        return SparkSource, (None, self.columns, self.bounded, self.type_info)


def arrow_rows(batch: Any) -> Sequence[Row]:
    """Return the rows of an Arrow record batch."""
    names = tuple(batch.schema.names)
    converters = [_converter(kind) for kind in batch.schema.types]
    if names and not any(converters):
        return ColumnRows(batch.columns, names)
    columns = [
        column.to_pylist() if convert is None else list(map(convert, column.to_pylist()))
        for column, convert in zip(batch.columns, converters, strict=True)
    ]
    return Row._from_many(zip(*columns, strict=True), names)


def _converter(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a value from pyarrow to that of a record; None if they are the same."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        names = tuple(field.name for field in kind)
        parts = [_converter(field.type) or _same for field in kind]
        return nullable(
            lambda value: Row._from_values([part(value[n]) for n, part in zip(names, parts, strict=True)], names)
        )
    if pa.types.is_map(kind):
        key, item = _converter(kind.key_type) or _same, _converter(kind.item_type) or _same
        return nullable(lambda value: {key(k): item(v) for k, v in value})
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = _converter(kind.value_type)
        return None if element is None else nullable(lambda value: list(map(element, value)))
    return None


def _same(value: Any) -> Any:
    return value
