"""OrcFormat and OrcWriterFactory: ORC files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from scurry._dataclasses import dataclass
from scurry.common.serialization import BulkWriter, BulkWriterFactory
from scurry.connectors.files.filesystem import FileSystem
from scurry.connectors.files.formats.columnar import BatchWriter, ColumnarFormat
from scurry.connectors.source import MalformedRecords
from scurry.errors import MalformedRecordError, RecordRejectedError

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"ORC"
#: The times that pyarrow reads from ORC, as nanoseconds: 1677-09-21 to 2262-04-11. It writes others, too.
_READABLE_SECONDS = (1 << 63) // 1_000_000_000
_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000}


@dataclass(frozen=True)
class OrcFormat(ColumnarFormat):
    """Read the declared columns, like Flink's OrcColumnarRowInputFormat.

    The positions of stripes are unknown, so a byte range owns a share of the stripes in proportion to its share of the
    file. A file that is not an ORC file is one malformed record.
    """

    def batches(
        self, fs: FileSystem, path: str, start: int, end: int, size: int
    ) -> Iterator[pa.RecordBatch | MalformedRecords]:
        import pyarrow as pa
        from pyarrow import orc

        with fs.open_input(path) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                if start == 0:  # once per file
                    yield MalformedRecords([MalformedRecordError(path, None, "", "this is no ORC file")])
                return
            stripes, columns = orc.ORCFile(file), self.columns
            found = columns.found_in(stripes.schema.names, path)
            wanted = [name for name in found if name is not None]
            for number in range(stripes.nstripes):
                if not start <= number * size // stripes.nstripes < end:
                    continue
                # without names pyarrow returns no rows: of a stripe whose rows only count, it reads all columns
                try:
                    stripe = stripes.read_stripe(number, wanted or None)
                except pa.ArrowInvalid as error:
                    if "out of range for nanosecond" not in str(error):
                        raise
                    reason = f"stripe {number} has a timestamp outside of 1677 to 2262, which cannot be read: {error}"
                    yield MalformedRecords([MalformedRecordError(path, None, "", reason)])
                    continue
                for first in range(0, stripe.num_rows, self.batch_size):
                    yield columns.of(stripe.slice(first, self.batch_size), found, path)


@dataclass(frozen=True)
class OrcWriterFactory(BulkWriterFactory):
    """Create writers of record batches to ORC files.

    Attributes:
        schema: The columns.
        compression: A compression that pyarrow supports for ORC.
        stripe_size: Size of a stripe in bytes.
    """

    schema: pa.Schema
    compression: str = "zlib"
    stripe_size: int = 64 * 1024 * 1024

    def create(self, stream: BinaryIO) -> BulkWriter:
        return _OrcWriter(self, stream)


class _OrcWriter(BatchWriter):
    def __init__(self, factory: OrcWriterFactory, stream: BinaryIO) -> None:
        from pyarrow import orc

        super().__init__(factory.schema)
        self._writer = orc.ORCWriter(stream, compression=factory.compression, stripe_size=factory.stripe_size)

    def write_group(self, table: pa.Table) -> None:
        import pyarrow as pa

        for name, column in zip(table.schema.names, table.columns, strict=True):
            for chunk in column.chunks:
                _check_readable(name, chunk)
        for index, field in enumerate(table.schema):
            if pa.types.is_time32(field.type):  # ORC has no times: they are its numbers of milliseconds
                table = table.set_column(index, field.name, table.column(index).cast(pa.int32()))
        self._writer.write(table)

    def close(self) -> None:
        self._writer.close()


def _check_readable(name: str, values: pa.Array) -> None:
    """Refuse timestamps that would be written and could not be read.

    Raises:
        RecordRejectedError: A timestamp is before 1677-09-21 or after 2262-04-11.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_struct(kind) or pa.types.is_list(kind) or pa.types.is_map(kind):
        parts = [values.keys, values.items] if pa.types.is_map(kind) else values.flatten()
        for part in parts if isinstance(parts, list) else [parts]:
            _check_readable(name, part)
    if not pa.types.is_timestamp(kind) or kind.unit == "ns":
        return
    ends = pc.min_max(values.cast(pa.int64()))
    limit = _READABLE_SECONDS * _PER_SECOND[kind.unit]
    for end in (ends["min"], ends["max"]):
        if end.is_valid and abs(end.as_py()) > limit:
            seconds = end.as_py() // _PER_SECOND[kind.unit]
            raise RecordRejectedError(
                f"column '{name}': timestamps of ORC files are from 1677-09-21 00:12:44 to 2262-04-11 23:47:16, "
                f"got one {seconds} s after 1970",
                end.as_py(),
            ).with_hint("write the format parquet or avro, which have others; or leave the row out")
