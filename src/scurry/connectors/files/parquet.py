"""ParquetFormat and ParquetWriter: rows from and to Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

from scurry.common.typeinfo import TypeInformation
from scurry.common.types import Row
from scurry.connectors.files.bulk import BulkWriter, BulkWriterFactory, values_of
from scurry.connectors.files.column_types import ColumnType
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.format import BulkFormat
from scurry.connectors.files.rows import ColumnRows
from scurry.errors import MalformedRecordError

__all__ = ["ParquetFormat", "ParquetWriterFactory"]


@dataclass(frozen=True)
class ParquetFormat(BulkFormat):
    """Rows of the chosen columns, as Flink's ParquetColumnarRowInputFormat reads them.

    Columns are found by name; one that a file does not have is null. A byte range owns the row groups that begin in it.

    Attributes:
        row: The columns, a ROW.
        batch_size: Rows decoded at once.
        utc_timestamp: TIMESTAMPs are in UTC; otherwise in the machine's time zone.
        case_sensitive: Whether column names must match exactly.
    """

    row: ColumnType
    batch_size: int = 2048
    utc_timestamp: bool = False
    case_sensitive: bool = True

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return self.row.type_info

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Sequence[Any]]:
        """Yield blocks of rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with fs.open_input(path) as file:
            try:
                parquet = pq.ParquetFile(file)
            except pa.ArrowInvalid as error:
                raise MalformedRecordError(path, None, "", f"this is no Parquet file ({error})") from None
            groups = [i for i in range(parquet.num_row_groups) if start <= _offset(parquet.metadata.row_group(i)) < end]
            found = self._columns_in(parquet.schema_arrow.names)
            wanted = [name for name in found if name is not None]
            for batch in parquet.iter_batches(self.batch_size, row_groups=groups, columns=wanted):
                yield self._rows(batch, found, path)

    def _columns_in(self, names: list[str]) -> list[str | None]:
        """The file's name of each declared column, None where it has none."""
        if self.case_sensitive:
            return [name if name in names else None for name in self.row.names]
        by_lower = {name.lower(): name for name in names}
        return [by_lower.get(name.lower()) for name in self.row.names]

    def _rows(self, batch: Any, found: list[str | None], path: str) -> Sequence[Any]:
        import pyarrow as pa

        columns = []
        for name, file_name, part in zip(self.row.names, found, self.row.parts, strict=True):
            if file_name is None:
                columns.append(pa.nulls(batch.num_rows))
                continue
            try:
                columns.append(_cast(batch.column(file_name), part.arrow))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                reason = f"column {name!r} is {batch.schema.field(file_name).type}, declared is {part.kind}: {error}"
                raise MalformedRecordError(path, None, name, reason) from None
        converters = [part.from_arrow(self.utc_timestamp) for part in self.row.parts]
        if not any(converters):
            return ColumnRows(columns, self.row.names)
        values = [
            column.to_pylist() if convert is None else list(map(convert, column.to_pylist()))
            for column, convert in zip(columns, converters, strict=True)
        ]
        return [Row._from_values(list(row), self.row.names) for row in zip(*values, strict=True)]


def _cast(column: Any, target: Any) -> Any:
    """Cast a column; timestamps may lose digits, since Python knows microseconds only."""
    import pyarrow as pa

    return column if column.type == target else column.cast(target, safe=not pa.types.is_timestamp(target))


def _offset(group: Any) -> int:
    """Where a row group begins in its file."""
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


@dataclass(frozen=True)
class ParquetWriterFactory(BulkWriterFactory):
    """Makes writers of Parquet files.

    Attributes:
        row: The columns, a ROW.
        utc_timestamp: TIMESTAMPs are in UTC; otherwise in the machine's time zone.
        compression: A compression pyarrow knows.
    """

    row: ColumnType
    utc_timestamp: bool = False
    compression: str = "snappy"

    def create(self, stream: BinaryIO) -> BulkWriter:
        """Return a writer to an open stream."""
        return _ParquetWriter(self, stream)


class _ParquetWriter(BulkWriter):
    def __init__(self, factory: ParquetWriterFactory, stream: BinaryIO) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._names = factory.row.names
        self._schema = pa.schema(list(factory.row.arrow))
        self._converters = [part.to_arrow(factory.utc_timestamp) for part in factory.row.parts]
        self._writer = pq.ParquetWriter(stream, self._schema, compression=factory.compression)
        self._buffer: list[Any] = []

    #: rows per row group
    _GROUP = 100_000

    def write(self, values: list[Any]) -> None:
        self._buffer += [values_of(value, self._names) for value in values]
        while len(self._buffer) >= self._GROUP:
            self._flush(self._GROUP)

    def _flush(self, count: int) -> None:
        import pyarrow as pa

        rows = list(islice(self._buffer, count))
        del self._buffer[:count]
        arrays = [
            pa.array(column if convert is None else list(map(convert, column)), field.type)
            for column, convert, field in zip(zip(*rows, strict=True), self._converters, self._schema, strict=True)
        ]
        self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema), row_group_size=count)

    def finish(self) -> None:
        if self._buffer:
            self._flush(len(self._buffer))
        self._writer.close()
