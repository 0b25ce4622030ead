"""Parquet and ORC files as record batches of declared columns, and these as rows of streams; and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.format import BulkFormat
from scurry.connectors.files.formats.rows import ColumnRows
from scurry.connectors.source import NOTE_ONCE, Block, MalformedRecords
from scurry.errors import MalformedRecordError
from scurry.errors.suggestions import alternatives
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.nested_types import RowType
from scurry.sql.types.values import batch_of_columns
from scurry.sql.values.records import RecordColumn, record_reader, values_of
from scurry.sql.values.type_information import to_type_info

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows per group of columns in a file, and bytes after which a group ends before.
_GROUP_ROWS, _GROUP_BYTES = 100_000, 128 * 1024 * 1024


def missing_column(name: str, names: list[str]) -> str:
    """Return the note on a declared column that a file with these columns lacks."""
    return f"column {name!r} is null, as files lack it{alternatives(name, names)}"


@dataclass(frozen=True)
class DeclaredColumns:
    """The columns of files by their declared types, found by name; a column that a file lacks is null.

    Attributes:
        row: The columns.
        case_sensitive: Whether column names must match exactly.
        required: Columns that a file may not lack.
    """

    row: RowType
    case_sensitive: bool = True
    required: tuple[str, ...] = ()

    def found_in(self, names: list[str], path: str) -> list[str | None]:
        """Return the file's name of each declared column, None for a column it lacks.

        Raises:
            MalformedRecordError: It lacks a required column, or has several of a name.
        """
        self._check_unique(names, path)
        by_name = {self._folded(name): name for name in names}
        found = [by_name.get(self._folded(name)) for name in self.row.names]
        for name, there in zip(self.row.names, found, strict=True):
            if there is None and name in self.required:
                reason = f"the file has no column {name!r}{alternatives(name, names)}"
                raise MalformedRecordError(path, None, "", reason)
            if there is None:
                NOTE_ONCE.get()(missing_column(name, names))
        return found

    def _folded(self, name: str) -> str:
        return name if self.case_sensitive else name.lower()

    def _check_unique(self, names: list[str], path: str) -> None:
        counts = Counter(map(self._folded, names))
        for name in self.row.names:
            count = counts[self._folded(name)]
            if count > 1:
                raise MalformedRecordError(path, None, "", f"the file has {count} columns {name!r}; rename all but one")

    def of(self, batch: pa.RecordBatch, found: Sequence[str | None], path: str) -> pa.RecordBatch:
        """Return the declared columns of a file.

        Args:
            batch: The columns in the file's types.
            found: The result of `found_in`.
            path: The file's path, for error messages.

        Raises:
            MalformedRecordError: A column cannot be converted to its declared type.
        """
        import pyarrow as pa

        arrays = []
        for field, name in zip(self.row, found, strict=True):
            target = arrow_type(field.data_type)
            if name is None:
                arrays.append(pa.nulls(batch.num_rows, target))
                continue
            column = batch.column(name)
            try:
                arrays.append(_cast(column, target))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                declared = field.data_type.as_summary_string()
                reason = f"column {field.name!r} is {column.type}, declared is {declared}: {error}"
                raise MalformedRecordError(path, None, field.name, reason) from None
        return batch_of_columns(arrays, self.row.names, batch.num_rows)

    def by_name(self, batch: pa.RecordBatch, path: str) -> pa.RecordBatch:
        """Return the declared columns of a batch that has all that the file has of them."""
        there = batch.schema.names
        return self.of(batch, [name if name in there else None for name in self.row.names], path)


def _cast(found: pa.Array, target: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if found.type == target:
        return found
    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    if pa.types.is_timestamp(found.type) and found.type.tz is not None:
        found = found.cast(pa.timestamp(found.type.unit))
    # times and timestamps lose digits that the declared type does not have, as in Flink
    return found if found.type == target else found.cast(target, safe=not _is_time(target))


def _is_time(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_timestamp(kind) or pa.types.is_time(kind))


class BatchRows:
    """Makes the rows of record batches.

    Args:
        row: The columns of the batches.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
    """

    def __init__(self, row: RowType, utc_timestamp: bool = True) -> None:
        self._names = tuple(row.names)
        self._readers = [record_reader(each, utc_timestamp) for each in row.field_types()]

    def __call__(self, batch: pa.RecordBatch, path: str) -> ColumnRows:
        """Return the rows of a batch, which come from the file at `path`."""
        return ColumnRows(batch.columns, self._names, path, self._readers)


@dataclass(frozen=True)
class ColumnarFormat(BulkFormat):
    """Files of columns, of which the declared ones are read.

    Attributes:
        row: The columns.
        batch_size: Rows decoded at once.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
        case_sensitive: Whether column names must match exactly.
        required: Columns that a file may not lack.
        threads: Whether columns are decoded side by side, if the format can.
    """

    row: RowType
    batch_size: int = 2048
    utc_timestamp: bool = False
    case_sensitive: bool = True
    required: tuple[str, ...] = ()
    threads: bool = False

    @property
    def produced_type(self) -> TypeInformation | None:
        return to_type_info(self.row)

    @property
    def columns(self) -> DeclaredColumns:
        """The columns to read."""
        return DeclaredColumns(self.row, self.case_sensitive, self.required)

    @abstractmethod
    def batches(
        self, fs: FileSystem, path: str, start: int, end: int, size: int
    ) -> Iterator[pa.RecordBatch | MalformedRecords]:
        """Yield the declared columns of a byte range of a file; arguments and errors are those of `read`."""

    def read(self, fs: FileSystem, path: str, start: int, end: int, size: int) -> Iterator[Block]:
        rows = BatchRows(self.row, self.utc_timestamp)
        for found in self.batches(fs, path, start, end, size):
            yield found if isinstance(found, MalformedRecords) else rows(found, path)


class Tables(ABC):
    """Convert records to Arrow tables.

    Attributes:
        schema: The columns, a `pyarrow.Schema`.
    """

    schema: Any

    @abstractmethod
    def prepare(self, values: list[Any]) -> list[Any]:
        """Convert records for `table`.

        Raises:
            TypeMismatchError: A record does not fit the schema.
        """

    def rows(self, prepared: list[Any]) -> int:
        """Return the number of rows of converted records."""
        return len(prepared)

    @abstractmethod
    def table(self, prepared: list[Any]) -> pa.Table:
        """Return the table of converted records."""


class RowTables(Tables):
    """Convert rows to Arrow tables.

    Args:
        row: The type of the rows.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
        schema: The columns of the tables, if other than those of the type.
    """

    def __init__(self, row: RowType, utc_timestamp: bool = True, schema: pa.Schema | None = None) -> None:
        self._names = tuple(row.names)
        self._columns = [RecordColumn(each, utc_timestamp) for each in row.field_types()]
        self.schema = file_schema(row) if schema is None else schema

    def prepare(self, values: list[Any]) -> list[Any]:
        """Return the values of rows in the order of the columns."""
        return [values_of(value, self._names) for value in values]

    def table(self, prepared: list[Any]) -> pa.Table:
        import pyarrow as pa

        columns = zip(self._columns, zip(*prepared, strict=True), self.schema, strict=True)
        return pa.Table.from_arrays([make(each).cast(field.type) for make, each, field in columns], schema=self.schema)


def file_schema(row: RowType) -> pa.Schema:
    """Return the columns of a row type as a schema."""
    import pyarrow as pa

    return pa.schema([pa.field(field.name, arrow_type(field.data_type)) for field in row])


class BatchWriter(BulkWriter):
    """Write record batches as groups of columns, each of many rows.

    Args:
        schema: The columns.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    @abstractmethod
    def write_group(self, table: pa.Table) -> None:
        """Write a table as one group."""

    @abstractmethod
    def close(self) -> None:
        """Write the end of the file."""

    def write(self, values: list[Any]) -> None:
        import pyarrow as pa

        for batch in values:
            self._held.append(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema))
            self._rows += batch.num_rows
            self._bytes += batch.nbytes
            if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
                self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        held, self._held, self._rows, self._bytes = self._held, [], 0, 0
        self.write_group(pa.Table.from_batches(held, self._schema))

    def finish(self) -> None:
        """Write the remaining rows and the end of the file."""
        if self._rows:
            self._flush()
        self.close()


@dataclass(frozen=True)
class RowsWriterFactory(BulkWriterFactory):
    """Create writers of rows.

    Attributes:
        row: The type of the rows.
        files: Creates writers of their batches.
        utc_timestamp: Whether TIMESTAMPs are in UTC; otherwise they are in the machine's time zone.
        schema: The columns of the batches, if other than those of the type.
    """

    row: RowType
    files: BulkWriterFactory
    utc_timestamp: bool = True
    schema: pa.Schema | None = None

    def create(self, stream: BinaryIO) -> BulkWriter:
        return RecordsWriter(RowTables(self.row, self.utc_timestamp, self.schema), self.files.create(stream))


class RecordsWriter(BulkWriter):
    """Collect records, and write them as record batches.

    Args:
        tables: Converts the records to tables.
        files: Writes their batches.
    """

    def __init__(self, tables: Tables, files: BulkWriter) -> None:
        self._tables = tables
        self._files = files
        self._buffer: list[Any] = []

    def write(self, values: list[Any]) -> None:
        self._buffer += self._tables.prepare(values)
        while len(self._buffer) >= _GROUP_ROWS:
            self._flush(_GROUP_ROWS)

    def _flush(self, count: int) -> None:
        prepared = list(islice(self._buffer, count))
        del self._buffer[:count]
        self._files.write(self._tables.table(prepared).to_batches())

    def finish(self) -> None:
        """Write the remaining records and the end of the file."""
        if self._buffer:
            self._flush(len(self._buffer))
        self._files.finish()
