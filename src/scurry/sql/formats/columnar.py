"""The formats `parquet` and `orc`: files that are columns already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from scurry.common.bulk_writer import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.columnar import missing_column
from scurry.connectors.source import NOTE_ONCE
from scurry.errors import MalformedRecordError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FileReader, FormatColumn, FormatFactory, chosen_columns
from scurry.sql.types.arrow import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

_COMPRESSIONS = {
    "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd", "LZ4": "lz4", "BROTLI": "brotli", "UNCOMPRESSED": "none",
}  # fmt: skip
_ORC_COMPRESSIONS = {"NONE": "uncompressed", "ZLIB": "zlib", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd"}
_ROWS = 65_536

PARQUET_UTC = TableOption(
    "utc-timezone", boolean, False, "Timestamps are in UTC, as in a JVM whose time zone is that.", without_effect=True
)
PARQUET_COMPRESSION = TableOption("compression", str, "SNAPPY", "How pages are compressed.")
ORC_COMPRESSION = TableOption("compress", str, "LZ4", "How stripes are compressed.")


class ParquetFormat(FormatFactory):
    """Read and write Parquet files."""

    identifier = "parquet"
    options = (PARQUET_UTC, PARQUET_COMPRESSION)

    def check(self, options: Options) -> None:
        """Check the compression."""
        _known(options, PARQUET_COMPRESSION, _COMPRESSIONS)

    def file_reader(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options, time_zone: str
    ) -> FileReader:
        """Return a reader of Parquet files."""
        return _ParquetReader(chosen_columns(declared, columns))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options, time_zone: str) -> BulkWriterFactory:
        """Return a factory of writers of Parquet files."""
        return _ParquetWriterFactory(tuple(declared), _known(options, PARQUET_COMPRESSION, _COMPRESSIONS))


class OrcFormat(FormatFactory):
    """Read and write ORC files."""

    identifier = "orc"
    options = (ORC_COMPRESSION,)

    def check(self, options: Options) -> None:
        """Check the compression."""
        _known(options, ORC_COMPRESSION, _ORC_COMPRESSIONS)

    def file_reader(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], options: Options, time_zone: str
    ) -> FileReader:
        """Return a reader of ORC files."""
        return _OrcReader(chosen_columns(declared, columns))

    def file_writer(self, declared: Sequence[FormatColumn], options: Options, time_zone: str) -> BulkWriterFactory:
        """Return a factory of writers of ORC files."""
        return _OrcWriterFactory(tuple(declared), _known(options, ORC_COMPRESSION, _ORC_COMPRESSIONS))


def _known(options: Options, option: TableOption[str], names: dict[str, str]) -> str:
    value = options.get(option)
    if value.upper() not in names:
        raise ValidationError(
            f"Unsupported value '{value}' for option '{options.prefix}{option.key}'. Supported values are "
            f"[{', '.join(names)}]."
        )
    return names[value.upper()]


def _present(columns: Sequence[FormatColumn], names: list[str]) -> list[str]:
    """Return which columns a file has, and note those that it lacks."""
    there = set(names)
    for column in columns:
        if column.name not in there:
            NOTE_ONCE.get()(missing_column(column.name, names))
    return [column.name for column in columns if column.name in there]


def declared_columns(batch: pa.RecordBatch, columns: tuple[FormatColumn, ...], path: str) -> pa.RecordBatch:
    """Return the declared columns of what a file has; NULL for those it lacks."""
    import pyarrow as pa

    if not columns:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
    arrays = []
    for column in columns:
        index = batch.schema.get_field_index(column.name)
        target = arrow_type(column.type)
        if index < 0:
            arrays.append(pa.nulls(batch.num_rows, target))
            continue
        found = batch.column(index)
        try:
            arrays.append(_cast(found, target))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            reason = f"column {column.name!r} is {found.type}, declared is {column.type.as_summary_string()}: {error}"
            raise MalformedRecordError(path, None, column.name, reason) from None
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def _cast(found: pa.Array, target: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_dictionary(found.type):
        found = found.dictionary_decode()
    if pa.types.is_timestamp(found.type) and found.type.tz is not None:
        found = found.cast(pa.timestamp(found.type.unit))
    # timestamps lose digits that the declared type does not have, as in Flink
    if pa.types.is_time32(target) and pa.types.is_int32(found.type):
        return found.view(target)
    return found if found.type == target else found.cast(target, safe=not pa.types.is_timestamp(target))


@dataclass(frozen=True)
class _ParquetReader(FileReader):
    columns: tuple[FormatColumn, ...]

    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with fs.open_input(path) as stream:
            try:
                file = pq.ParquetFile(pa.PythonFile(stream, mode="r"), coerce_int96_timestamp_unit="us")
                wanted = _present(self.columns, file.schema_arrow.names)
                for batch in file.iter_batches(_ROWS, columns=wanted):
                    yield declared_columns(batch, self.columns, path)
            except pa.ArrowInvalid as error:
                raise MalformedRecordError(path, None, "", f"no Parquet file: {error}") from None


@dataclass(frozen=True)
class _OrcReader(FileReader):
    columns: tuple[FormatColumn, ...]

    def read(self, fs: FileSystem, path: str, start: int, end: int) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyarrow import orc

        with fs.open_input(path) as stream:
            try:
                file = orc.ORCFile(pa.PythonFile(stream, mode="r"))
            except pa.ArrowInvalid as error:
                raise MalformedRecordError(path, None, "", f"no ORC file: {error}") from None
            wanted = _present(self.columns, file.schema.names)
            for stripe in range(file.nstripes):
                batch = file.read_stripe(stripe, columns=wanted or None)
                yield declared_columns(batch, self.columns, path)


def _table(batch: pa.RecordBatch, columns: tuple[FormatColumn, ...]) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns])
    return pa.Table.from_arrays(batch.columns, schema=schema)


@dataclass(frozen=True)
class _ParquetWriterFactory(BulkWriterFactory):
    columns: tuple[FormatColumn, ...]
    compression: str

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _ParquetWriter(self.columns, self.compression, stream)


class _ParquetWriter(BulkWriter):
    def __init__(self, columns: tuple[FormatColumn, ...], compression: str, stream: BinaryIO) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._columns = columns
        schema = pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns])
        # Flink writes timestamps as INT96
        self._writer = pq.ParquetWriter(
            stream, schema, compression=compression, use_deprecated_int96_timestamps=True, store_schema=False
        )

    def write(self, values: list[Any]) -> None:
        for batch in values:
            self._writer.write_table(_table(batch, self._columns))

    def finish(self) -> None:
        self._writer.close()


@dataclass(frozen=True)
class _OrcWriterFactory(BulkWriterFactory):
    columns: tuple[FormatColumn, ...]
    compression: str

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _OrcWriter(self.columns, self.compression, stream)


class _OrcWriter(BulkWriter):
    def __init__(self, columns: tuple[FormatColumn, ...], compression: str, stream: BinaryIO) -> None:
        from pyarrow import orc

        self._columns = columns
        self._writer = orc.ORCWriter(stream, compression=compression)

    def write(self, values: list[Any]) -> None:
        import pyarrow as pa

        for batch in values:
            table = _table(batch, self._columns)
            for index, field in enumerate(table.schema):
                if pa.types.is_time32(field.type):  # ORC has no times: they are its numbers of milliseconds
                    table = table.set_column(index, field.name, table.column(index).cast(pa.int32()))
            self._writer.write(table)

    def finish(self) -> None:
        self._writer.close()
